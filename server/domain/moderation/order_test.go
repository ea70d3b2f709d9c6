package moderation_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// Each call here violates two rules, and must be rejected for the rule that is checked
// first: token and client, token kind, scope, form of the arguments, relation, existence,
// state. The later error would reveal too much.

func TestTokenIsCheckedFirst(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		token := func(n authn.NewToken) metadata.MD { return metadataAs(s.Token(t, n)) }
		expired := token(authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Lifetime: time.Hour})
		revoked := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard})
		if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Advance(time.Hour)
		damaged := flipTokenChar(sc.app, 20)
		credentials := []struct {
			name   string
			caller metadata.MD
			reason string
		}{
			{"no token and no client", metadata.MD{}, "TOKEN_MISSING"},
			{"no token and another client", metadata.Pairs("client-id", servertest.OtherDashboard), "TOKEN_MISSING"},
			{"damaged token and no client", withMetadata(damaged, "client-id"), "TOKEN_INVALID"},
			{"damaged token of a kind not accepted", damaged, "TOKEN_INVALID"},
			{"revoked token and another client", withMetadata(metadataAs(revoked), "client-id", servertest.OtherDashboard), "TOKEN_INVALID"},
			{"revoked token of a kind not accepted", metadataAs(revoked), "TOKEN_INVALID"},
			{"expired token and no client", withMetadata(expired, "client-id"), "TOKEN_EXPIRED"},
			{"expired token and another client", withMetadata(expired, "client-id", servertest.OtherDashboard), "TOKEN_EXPIRED"},
			{"expired token of a kind not accepted", expired, "TOKEN_EXPIRED"},
			{"no client and a kind not accepted", withMetadata(sc.app, "client-id"), "CLIENT_ID_MISSING"},
			{"another client and a kind not accepted", withMetadata(sc.app, "client-id", servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
			{"another client and no scope", withMetadata(sc.user(t, servertest.Viewer, []string{}...), "client-id", "x"), "CLIENT_ID_MISMATCH"},
			{"another client and a bad acting-user", withMetadata(sc.acting("x"), "client-id", "x"), "CLIENT_ID_MISMATCH"},
		}
		var cases []refusalCase
		for _, c := range credentials {
			for _, op := range validCalls {
				for shape, args := range map[string]callArgs{"good arguments": op.args, "bad arguments": {}} {
					cases = append(cases, refusalCase{
						op.o.name + "/" + c.name + " and " + shape, op.o, c.caller, args, refusedWith(c.reason),
					})
				}
			}
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderKindScopeArguments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		app := metadataAs(s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard}))
		unscoped := sc.user(t, servertest.Viewer, []string{}...)
		badActor := invalidArgument([2]string{"acting-user", mustBeUUID})
		var cases []refusalCase
		for _, op := range validCalls {
			wrongKind := refusal{reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "user"}}
			noScope := refusal{reason: "SCOPE_MISSING", metadata: map[string]string{"requiredScope": op.scope}}
			add := func(name string, caller metadata.MD, args callArgs, want refusal) {
				cases = append(cases, refusalCase{op.o.name + "/" + name, op.o, caller, args, want})
			}
			bad := callArgs{}
			for field := range op.args {
				bad[field] = "not-a-uuid"
			}
			add("bad acting-user and bad arguments", sc.acting("x"), bad, badActor)
			if op.scope == "channel.moderate" {
				add("wrong kind without scope", app, op.args, wrongKind)
				add("wrong kind, no scope and bad arguments", app, bad, wrongKind)
				add("wrong kind and bad arguments", sc.app, bad, wrongKind)
				add("backend alone and bad arguments", sc.service, bad, backendAlone)
				add("no scope and not the owner", unscoped, op.args, noScope)
				add("no scope and unknown channel", unscoped, changedArgs(op.args, "channelId", nobodyID), noScope)
			}
			if op.scope != "" {
				add("no scope and bad arguments", unscoped, bad, noScope)
				add("no scope and no arguments", unscoped, callArgs{}, noScope)
			}
			if op.scope == "users.read" {
				add("app without scope and without grant", app, callArgs{"userId": raiderID}, noScope)
				add("app without scope and bad arguments", app, bad, noScope)
				add("no scope and not self", unscoped, callArgs{"userId": raiderID}, noScope)
			}
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderArgumentsRelation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		badID := func(field string) refusal { return invalidArgument([2]string{field, mustBeUUID}) }
		var cases []refusalCase
		for _, caller := range []struct {
			name string
			md   metadata.MD
		}{
			{"viewer", sc.viewer},
			{"banned moderator", sc.bannedModerator},
			{"another channel's owner", sc.other},
			{"backend for a viewer", sc.acting(viewerID)},
		} {
			for _, op := range validCalls[2:] {
				for field := range op.args {
					cases = append(cases, refusalCase{
						caller.name + "/" + op.o.name + "/bad " + field, op.o, caller.md, changedArgs(op.args, field, "x"), badID(field),
					})
				}
			}
			for _, o := range []operation{operations.BanUser, operations.RemoveBan} {
				cases = append(cases, refusalCase{
					caller.name + "/" + o.name + "/bad banUsername", o, caller.md,
					callArgs{"channelId": ownerID, "banUsername": "a b"}, invalidArgument([2]string{"banUsername", mustBeName}),
				}, refusalCase{
					caller.name + "/" + o.name + "/neither id nor name", o, caller.md,
					callArgs{"channelId": ownerID}, invalidArgument([2]string{"banUserId", "is required, or banUsername instead"}),
				})
			}
			cases = append(cases, refusalCase{
				caller.name + "/bad userId that is not the caller", operations.ListModeratedChannels, caller.md,
				callArgs{"userId": raiderID + "0"}, badID("userId"),
			})
		}
		cases = append(cases, refusalCase{
			"app without a grant and bad userId", operations.ListModeratedChannels, sc.app, callArgs{"userId": "x"}, badID("userId"),
		})
		sc.run(t, cases)
	})
}

// A caller without the relation must not learn which channels and users exist, or who is
// banned or muted.
func TestCheckOrderRelationExistenceState(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		sc.must(t, operations.MuteUser, sc.owner, callArgs{"channelId": ownerID, "mutedUserId": raiderID})
		notOwner, notModerator := refusedWith("NOT_CHANNEL_OWNER"), refusedWith("NOT_CHANNEL_MODERATOR")
		bannedID := bannedModeratorID.String()
		targets := []struct{ name, channel, field, user string }{
			{"unknown channel", nobodyID, "id", raiderID},
			{"unknown channel and unknown user", nobodyID, "id", nobodyID},
			{"user without a channel", raiderID, "id", nobodyID},
			{"unknown user by id", ownerID, "id", nobodyID},
			{"unknown user by name", ownerID, "banUsername", "nobody.here"},
			{"the channel by id", ownerID, "id", ownerID},
			{"the channel by name", ownerID, "banUsername", "ines"},
			{"user neither banned nor muted", ownerID, "id", viewerID},
			{"banned user", ownerID, "id", bannedID},
			{"muted user", ownerID, "id", raiderID},
			{"a moderator", ownerID, "id", servertest.Moderator.String()},
		}
		callers := []struct {
			name string
			md   metadata.MD
		}{
			{"viewer", sc.user(t, servertest.Viewer)},
			{"banned moderator", sc.bannedModerator},
			{"another channel's owner", sc.other},
			{"backend for a viewer", sc.acting(viewerID)},
			{"moderator", sc.moderator},
		}
		fields := map[string]string{"BanUser": "banUserId", "RemoveBan": "banUserId", "MuteUser": "mutedUserId", "AddModerator": "userId", "RemoveModerator": "userId"}
		var cases []refusalCase
		for _, caller := range callers {
			for _, target := range targets {
				for _, op := range validCalls[2:] {
					want, field := notModerator, target.field
					if fields[op.o.name] == "userId" {
						want = notOwner
					} else if caller.name == "moderator" && target.channel == ownerID {
						continue // is authorized
					}
					if field == "id" {
						field = fields[op.o.name]
					} else if fields[op.o.name] != "banUserId" {
						continue // has no username
					}
					cases = append(cases, refusalCase{
						caller.name + "/" + op.o.name + "/" + target.name, op.o, caller.md,
						callArgs{"channelId": target.channel, field: target.user}, want,
					})
				}
			}
			cases = append(cases, refusalCase{
				caller.name + "/channels of an unknown user", operations.ListModeratedChannels, caller.md,
				callArgs{"userId": nobodyID}, refusedWith("NOT_SELF"),
			})
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderExistenceState(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		noChannel := refusedWith("CHANNEL_NOT_FOUND")
		in := func(field, user string) callArgs { return callArgs{"channelId": viewerID, field: user} }
		sc.run(t, []refusalCase{
			// Viewer names their own channel, which does not exist.
			{"add an unknown user", operations.AddModerator, sc.viewer, in("userId", nobodyID), noChannel},
			{"add themselves", operations.AddModerator, sc.viewer, in("userId", viewerID), noChannel},
			{"remove an unknown user", operations.RemoveModerator, sc.viewer, in("userId", nobodyID), noChannel},
			{"remove themselves", operations.RemoveModerator, sc.viewer, in("userId", viewerID), noChannel},
			{"ban an unknown user by id", operations.BanUser, sc.viewer, in("banUserId", nobodyID), noChannel},
			{"ban an unknown user by name", operations.BanUser, sc.viewer, in("banUsername", "nobody.here"), noChannel},
			{"ban themselves", operations.BanUser, sc.viewer, in("banUserId", viewerID), noChannel},
			{"unban an unknown user", operations.RemoveBan, sc.viewer, in("banUserId", nobodyID), noChannel},
			{"unban a user who is not banned", operations.RemoveBan, sc.viewer, in("banUserId", raiderID), noChannel},
			{"mute an unknown user", operations.MuteUser, sc.viewer, in("mutedUserId", nobodyID), noChannel},
			{"mute themselves", operations.MuteUser, sc.viewer, in("mutedUserId", viewerID), noChannel},
		})
	})
}

func TestCheckOrderRelationListLength(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.MaxResults = 1
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		args := callArgs{"userId": servertest.Moderator.String()} // moderates two channels
		o := operations.ListModeratedChannels
		refusedWith("NOT_SELF").check(t, s, o, metadataAs(s.As(t, servertest.Viewer)), args)
		notGranted := refusal{reason: "GRANT_MISSING", metadata: map[string]string{"requiredScope": "users.read"}}
		app := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: authn.Scopes()})
		notGranted.check(t, s, o, metadataAs(app), args)
		refusedWith("RESULT_TOO_LARGE").check(t, s, o, metadataAs(s.AsService(t)), args)
	})
}
