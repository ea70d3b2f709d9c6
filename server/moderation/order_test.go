package moderation_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// Each call here is wrong in two ways, and must be refused for the earlier one
// in the order: token and client, token kind, scope, shape of the arguments,
// relation, existence, state. What comes later would tell too much.

func TestTokenIsCheckedFirst(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		token := func(n authn.NewToken) metadata.MD { return bothFacesAs(s.Token(t, n)) }
		expired := token(authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Lifetime: time.Hour})
		revoked := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard})
		if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Advance(time.Hour)
		damaged := bothFacesFlip(sc.app, 20)
		credentials := []struct {
			name   string
			caller metadata.MD
			reason string
		}{
			{"no token and no client", metadata.MD{}, "TOKEN_MISSING"},
			{"no token and another client", metadata.Pairs("client-id", servertest.OtherDashboard), "TOKEN_MISSING"},
			{"damaged token and no client", bothFacesWith(damaged, "client-id"), "TOKEN_INVALID"},
			{"damaged token of a kind not accepted", damaged, "TOKEN_INVALID"},
			{"revoked token and another client", bothFacesWith(bothFacesAs(revoked), "client-id", servertest.OtherDashboard), "TOKEN_INVALID"},
			{"revoked token of a kind not accepted", bothFacesAs(revoked), "TOKEN_INVALID"},
			{"expired token and no client", bothFacesWith(expired, "client-id"), "TOKEN_EXPIRED"},
			{"expired token and another client", bothFacesWith(expired, "client-id", servertest.OtherDashboard), "TOKEN_EXPIRED"},
			{"expired token of a kind not accepted", expired, "TOKEN_EXPIRED"},
			{"no client and a kind not accepted", bothFacesWith(sc.app, "client-id"), "CLIENT_ID_MISSING"},
			{"another client and a kind not accepted", bothFacesWith(sc.app, "client-id", servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
			{"another client and no scope", bothFacesWith(sc.user(t, servertest.Viewer, []string{}...), "client-id", "x"), "CLIENT_ID_MISMATCH"},
			{"another client and a bad acting-user", bothFacesWith(sc.acting("x"), "client-id", "x"), "CLIENT_ID_MISMATCH"},
		}
		var cases []bothFacesCase
		for _, c := range credentials {
			for _, op := range bothFacesGood {
				for shape, args := range map[string]bothFacesArgs{"good arguments": op.args, "bad arguments": {}} {
					cases = append(cases, bothFacesCase{
						op.o.name + "/" + c.name + " and " + shape, op.o, c.caller, args, bothFacesRefused(c.reason),
					})
				}
			}
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderKindScopeArguments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		app := bothFacesAs(s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard}))
		unscoped := sc.user(t, servertest.Viewer, []string{}...)
		badActor := bothFacesInvalid([2]string{"acting-user", bothFacesNotUUID})
		var cases []bothFacesCase
		for _, op := range bothFacesGood {
			wrongKind := bothFacesWant{reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "user"}}
			noScope := bothFacesWant{reason: "SCOPE_MISSING", metadata: map[string]string{"requiredScope": op.scope}}
			add := func(name string, caller metadata.MD, args bothFacesArgs, want bothFacesWant) {
				cases = append(cases, bothFacesCase{op.o.name + "/" + name, op.o, caller, args, want})
			}
			bad := bothFacesArgs{}
			for field := range op.args {
				bad[field] = "not-a-uuid"
			}
			add("bad acting-user and bad arguments", sc.acting("x"), bad, badActor)
			if op.scope == "channel.moderate" {
				add("wrong kind without scope", app, op.args, wrongKind)
				add("wrong kind, no scope and bad arguments", app, bad, wrongKind)
				add("wrong kind and bad arguments", sc.app, bad, wrongKind)
				add("backend alone and bad arguments", sc.service, bad, wrongKind)
				add("no scope and not the owner", unscoped, op.args, noScope)
				add("no scope and unknown channel", unscoped, bothFacesChanged(op.args, "channelId", nobodyID), noScope)
			}
			if op.scope != "" {
				add("no scope and bad arguments", unscoped, bad, noScope)
				add("no scope and no arguments", unscoped, bothFacesArgs{}, noScope)
			}
			if op.scope == "users.read" {
				add("app without scope and without grant", app, bothFacesArgs{"userId": raiderID}, noScope)
				add("app without scope and bad arguments", app, bad, noScope)
				add("no scope and not self", unscoped, bothFacesArgs{"userId": raiderID}, noScope)
			}
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderArgumentsRelation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		badID := func(field string) bothFacesWant { return bothFacesInvalid([2]string{field, bothFacesNotUUID}) }
		var cases []bothFacesCase
		for _, caller := range []struct {
			name string
			md   metadata.MD
		}{
			{"viewer", sc.viewer},
			{"banned moderator", sc.bannedModerator},
			{"another channel's owner", sc.other},
			{"backend for a viewer", sc.acting(viewerID)},
		} {
			for _, op := range bothFacesGood[2:] {
				for field := range op.args {
					cases = append(cases, bothFacesCase{
						caller.name + "/" + op.o.name + "/bad " + field, op.o, caller.md, bothFacesChanged(op.args, field, "x"), badID(field),
					})
				}
			}
			for _, o := range []bothFacesOperation{bothFaces.BanUser, bothFaces.RemoveBan} {
				cases = append(cases, bothFacesCase{
					caller.name + "/" + o.name + "/bad banUsername", o, caller.md,
					bothFacesArgs{"channelId": ownerID, "banUsername": "a b"}, bothFacesInvalid([2]string{"banUsername", bothFacesNotName}),
				}, bothFacesCase{
					caller.name + "/" + o.name + "/neither id nor name", o, caller.md,
					bothFacesArgs{"channelId": ownerID}, bothFacesInvalid([2]string{"banUserId", "is required, or banUsername instead"}),
				})
			}
			cases = append(cases, bothFacesCase{
				caller.name + "/bad userId that is not the caller", bothFaces.ListModeratedChannels, caller.md,
				bothFacesArgs{"userId": raiderID + "0"}, badID("userId"),
			})
		}
		cases = append(cases, bothFacesCase{
			"app without a grant and bad userId", bothFaces.ListModeratedChannels, sc.app, bothFacesArgs{"userId": "x"}, badID("userId"),
		})
		sc.run(t, cases)
	})
}

// Whoever may not ask learns neither which channels and users there are, nor
// who is banned or muted.
func TestCheckOrderRelationExistenceState(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		sc.must(t, bothFaces.MuteUser, sc.owner, bothFacesArgs{"channelId": ownerID, "mutedUserId": raiderID})
		notOwner, notModerator := bothFacesRefused("NOT_CHANNEL_OWNER"), bothFacesRefused("NOT_CHANNEL_MODERATOR")
		bannedID := bothFacesBannedModerator.String()
		targets := []struct{ name, channel, field, user string }{
			{"unknown channel", nobodyID, "id", raiderID},
			{"unknown channel and unknown user", nobodyID, "id", nobodyID},
			{"user without a channel", raiderID, "id", nobodyID},
			{"unknown user by id", ownerID, "id", nobodyID},
			{"unknown user by name", ownerID, "banUsername", "nobody.here"},
			{"the channel by id", ownerID, "id", ownerID},
			{"the channel by name", ownerID, "banUsername", "ines"},
			{"who is neither banned nor muted", ownerID, "id", viewerID},
			{"who is banned", ownerID, "id", bannedID},
			{"who is muted", ownerID, "id", raiderID},
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
		var cases []bothFacesCase
		for _, caller := range callers {
			for _, target := range targets {
				for _, op := range bothFacesGood[2:] {
					want, field := notModerator, target.field
					if fields[op.o.name] == "userId" {
						want = notOwner
					} else if caller.name == "moderator" && target.channel == ownerID {
						continue // may ask
					}
					if field == "id" {
						field = fields[op.o.name]
					} else if fields[op.o.name] != "banUserId" {
						continue // has no name
					}
					cases = append(cases, bothFacesCase{
						caller.name + "/" + op.o.name + "/" + target.name, op.o, caller.md,
						bothFacesArgs{"channelId": target.channel, field: target.user}, want,
					})
				}
			}
			cases = append(cases, bothFacesCase{
				caller.name + "/channels of an unknown user", bothFaces.ListModeratedChannels, caller.md,
				bothFacesArgs{"userId": nobodyID}, bothFacesRefused("NOT_SELF"),
			})
		}
		sc.run(t, cases)
	})
}

func TestCheckOrderExistenceState(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		noChannel := bothFacesRefused("CHANNEL_NOT_FOUND")
		in := func(field, user string) bothFacesArgs { return bothFacesArgs{"channelId": viewerID, field: user} }
		sc.run(t, []bothFacesCase{
			// Viewer asks about their own channel, which is not there.
			{"add an unknown user", bothFaces.AddModerator, sc.viewer, in("userId", nobodyID), noChannel},
			{"add themselves", bothFaces.AddModerator, sc.viewer, in("userId", viewerID), noChannel},
			{"remove an unknown user", bothFaces.RemoveModerator, sc.viewer, in("userId", nobodyID), noChannel},
			{"remove themselves", bothFaces.RemoveModerator, sc.viewer, in("userId", viewerID), noChannel},
			{"ban an unknown user by id", bothFaces.BanUser, sc.viewer, in("banUserId", nobodyID), noChannel},
			{"ban an unknown user by name", bothFaces.BanUser, sc.viewer, in("banUsername", "nobody.here"), noChannel},
			{"ban themselves", bothFaces.BanUser, sc.viewer, in("banUserId", viewerID), noChannel},
			{"unban an unknown user", bothFaces.RemoveBan, sc.viewer, in("banUserId", nobodyID), noChannel},
			{"unban who is not banned", bothFaces.RemoveBan, sc.viewer, in("banUserId", raiderID), noChannel},
			{"mute an unknown user", bothFaces.MuteUser, sc.viewer, in("mutedUserId", nobodyID), noChannel},
			{"mute themselves", bothFaces.MuteUser, sc.viewer, in("mutedUserId", viewerID), noChannel},
		})
	})
}

func TestCheckOrderRelationListLength(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.MaxResults = 1
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		args := bothFacesArgs{"userId": servertest.Moderator.String()} // moderates two channels
		o := bothFaces.ListModeratedChannels
		bothFacesRefused("NOT_SELF").check(t, s, o, bothFacesAs(s.As(t, servertest.Viewer)), args)
		notGranted := bothFacesWant{reason: "GRANT_MISSING", metadata: map[string]string{"requiredScope": "users.read"}}
		app := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.OtherDashboard, Scopes: authn.Scopes()})
		notGranted.check(t, s, o, bothFacesAs(app), args)
		bothFacesRefused("RESULT_TOO_LARGE").check(t, s, o, bothFacesAs(s.AsService(t)), args)
	})
}
