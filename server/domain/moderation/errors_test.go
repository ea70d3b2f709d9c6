package moderation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// refusalCase is one row of a table of refusals.
type refusalCase struct {
	name   string
	o      operation
	caller metadata.MD
	args   callArgs
	want   refusal
}

var (
	ownerID  = servertest.Owner.String()
	viewerID = servertest.Viewer.String()
	raiderID = servertest.Raider.String()
	nobodyID = servertest.Nobody.String()
)

// validCalls are calls that succeed for an authorized caller.
var validCalls = []struct {
	o     operation
	scope string
	args  callArgs
}{
	{operations.ListModeratedChannels, "users.read", callArgs{"userId": viewerID}},
	{operations.ListModerators, "", callArgs{"channelId": ownerID}},
	{operations.AddModerator, "channel.moderate", callArgs{"channelId": ownerID, "userId": viewerID}},
	{operations.RemoveModerator, "channel.moderate", callArgs{"channelId": ownerID, "userId": viewerID}},
	{operations.BanUser, "channel.moderate", callArgs{"channelId": ownerID, "banUserId": raiderID}},
	{operations.RemoveBan, "channel.moderate", callArgs{"channelId": ownerID, "banUserId": raiderID}},
	{operations.MuteUser, "channel.moderate", callArgs{"channelId": ownerID, "mutedUserId": raiderID}},
}

func invalidArgument(violations ...[2]string) refusal {
	return refusal{reason: "INVALID_ARGUMENT", violations: violations}
}

func refusedWith(reason string) refusal { return refusal{reason: reason} }

// run makes the calls of a table. None of them may change anything.
func (sc *authScene) run(t *testing.T, cases []refusalCase) {
	t.Helper()
	before := sc.changes(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, sc.Server, c.o, c.caller, c.args) })
	}
	if after := sc.changes(t); after != before {
		t.Errorf("refused calls made %d changes, want none", after-before)
	}
}

// flipTokenChar changes one character of a token to another of the same kind.
func flipTokenChar(caller metadata.MD, at int) metadata.MD {
	text := []byte(caller.Get("authorization")[0])
	at += len("Bearer ")
	if text[at] != 'a' {
		text[at] = 'a'
	} else {
		text[at] = 'b'
	}
	return withMetadata(caller, "authorization", string(text))
}

func TestOperationsRejectInvalidCredentials(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		good := sc.owner
		token := strings.TrimPrefix(good.Get("authorization")[0], "Bearer ")
		elsewhere := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
		elsewhere.Load(t, servertest.World()...)
		expired := metadataAs(s.Token(t, authn.NewToken{
			Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour,
		}))
		revoked := s.As(t, servertest.Owner)
		if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Advance(time.Hour)

		credentials := []struct {
			name   string
			caller metadata.MD
			reason string
		}{
			{"no Authorization", withMetadata(good, "authorization"), "TOKEN_MISSING"},
			{"another scheme", withMetadata(good, "authorization", "Basic aW5lczpzZWNyZXQ="), "TOKEN_MISSING"},
			{"a token without a scheme", withMetadata(good, "authorization", token), "TOKEN_MISSING"},
			{"Bearer without a token", withMetadata(good, "authorization", "Bearer"), "TOKEN_MISSING"},
			{"Bearer and a space without a token", withMetadata(good, "authorization", "Bearer "), "TOKEN_MISSING"},
			{"an empty Authorization", withMetadata(good, "authorization", ""), "TOKEN_MISSING"},
			{"two Authorizations", withMetadata(good, "authorization", "Bearer "+token, "Bearer "+token), "TOKEN_MISSING"},
			{"a token with another prefix", flipTokenChar(good, 2), "TOKEN_INVALID"},
			{"a token with a wrong character", flipTokenChar(good, 20), "TOKEN_INVALID"},
			{"a token with a wrong checksum", flipTokenChar(good, len(token)-1), "TOKEN_INVALID"},
			{"a token that lost its end", withMetadata(good, "authorization", "Bearer "+token[:len(token)-1]), "TOKEN_INVALID"},
			{"two tokens in one Authorization", withMetadata(good, "authorization", "Bearer "+token+" "+token), "TOKEN_INVALID"},
			{"text that is not a token", withMetadata(good, "authorization", "Bearer hello"), "TOKEN_INVALID"},
			{"a token of another platform", metadataAs(elsewhere.As(t, servertest.Owner)), "TOKEN_INVALID"},
			{"a revoked token", metadataAs(revoked), "TOKEN_INVALID"},
			{"an expired token", expired, "TOKEN_EXPIRED"},
			{"no client-id", withMetadata(good, "client-id"), "CLIENT_ID_MISSING"},
			{"an empty client-id", withMetadata(good, "client-id", ""), "CLIENT_ID_MISSING"},
			{"the client-id of another client", withMetadata(good, "client-id", servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
			{"the client-id in another case", withMetadata(good, "client-id", "Dashboard"), "CLIENT_ID_MISMATCH"},
			{"two client-ids", withMetadata(good, "client-id", servertest.Dashboard, servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
		}
		var cases []refusalCase
		for _, c := range credentials {
			for _, op := range validCalls {
				cases = append(cases, refusalCase{op.o.name + "/" + c.name, op.o, c.caller, op.args, refusedWith(c.reason)})
			}
		}
		for _, bad := range []string{"ines", ownerID[:35], ownerID + "0", "{" + ownerID + "}", "00000000-0000-0000-0000-000000000000"} {
			for _, op := range validCalls {
				cases = append(cases, refusalCase{
					op.o.name + "/acting-user " + bad, op.o, sc.acting(bad), op.args,
					invalidArgument([2]string{"acting-user", mustBeUUID}),
				})
			}
		}
		sc.run(t, append(cases, refusalCase{
			"two acting-users", operations.BanUser, withMetadata(sc.service, "acting-user", ownerID, ownerID),
			validCalls[4].args, invalidArgument([2]string{"acting-user", mustBeUUID}),
		}))
	})
}

func TestOperationsRejectTokenKindsAndMissingScopes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		app := func(client string, scopes ...string) metadata.MD {
			return metadataAs(s.Token(t, authn.NewToken{Kind: authn.App, ClientID: client, Scopes: scopes}))
		}
		otherScope := map[string]string{"users.read": "channel.moderate", "channel.moderate": "users.read"}
		var cases []refusalCase
		for _, op := range validCalls {
			if op.scope == "" {
				continue
			}
			missing := refusal{reason: "SCOPE_MISSING", metadata: map[string]string{"requiredScope": op.scope}}
			without := sc.user(t, servertest.Viewer, otherScope[op.scope])
			none := sc.user(t, servertest.Viewer, []string{}...)
			cases = append(cases,
				refusalCase{op.o.name + "/a user token with the other scope", op.o, without, op.args, missing},
				refusalCase{op.o.name + "/a user token without scopes", op.o, none, op.args, missing})
			if op.scope == "users.read" {
				cases = append(cases, refusalCase{
					op.o.name + "/an app token with the other scope", op.o, app(servertest.Dashboard, "channel.moderate"), op.args, missing,
				})
				continue
			}
			wrongKind := refusal{reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "user"}}
			cases = append(cases,
				refusalCase{op.o.name + "/an app token", op.o, sc.app, op.args, wrongKind},
				refusalCase{op.o.name + "/a backend alone", op.o, sc.service, op.args, backendAlone})
		}
		channelsOf := func(user string) callArgs { return callArgs{"userId": user} }
		notGranted := refusal{reason: "GRANT_MISSING", metadata: map[string]string{"requiredScope": "users.read"}}
		o := operations.ListModeratedChannels
		sc.run(t, append(cases,
			refusalCase{"an app to which the user granted nothing", o, app(servertest.OtherDashboard, authn.Scopes()...), channelsOf(viewerID), notGranted},
			refusalCase{"an app to which the user granted another scope", o, sc.app, channelsOf(raiderID), notGranted},
			refusalCase{"an app whose grant the user took back", o, sc.app, channelsOf(servertest.Other.String()), notGranted},
			refusalCase{"an app to which only others granted", o, sc.app, channelsOf(ownerID), notGranted},
			refusalCase{"an app asks for an unknown user", o, sc.app, channelsOf(nobodyID), notGranted},
		))
	})
}

func TestOperationsRejectCallersWithoutRelation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		callers := []struct {
			name        string
			caller      metadata.MD
			isModerator bool
		}{
			{"a moderator", sc.moderator, true},
			{"a banned moderator", sc.bannedModerator, false},
			{"a viewer", sc.viewer, false},
			{"the owner of another channel", sc.other, false},
			{"a backend that acts for a viewer", sc.acting(viewerID), false},
			{"backend that acts for an unknown user", sc.acting(nobodyID), false},
		}
		var cases []refusalCase
		for _, c := range callers {
			cases = append(cases, refusalCase{
				c.name + " reads another's channels", operations.ListModeratedChannels, c.caller,
				callArgs{"userId": raiderID}, refusedWith("NOT_SELF"),
			})
			for i, op := range validCalls[2:] {
				reason := "NOT_CHANNEL_OWNER"
				if i >= 2 {
					reason = "NOT_CHANNEL_MODERATOR"
				}
				if i < 2 || !c.isModerator {
					cases = append(cases, refusalCase{op.o.name + " by " + c.name, op.o, c.caller, op.args, refusedWith(reason)})
				}
			}
		}
		sc.run(t, cases)
	})
}

// invalidUUIDs returns spellings of a UUID that other programs accept.
func invalidUUIDs(id string) map[string]string {
	return map[string]string{
		"35 characters":    id[:35],
		"37 characters":    id + "0",
		"braces":           "{" + id + "}",
		"a URN":            "urn:uuid:" + id,
		"no hyphens":       strings.ReplaceAll(id, "-", ""),
		"no hexadecimal":   "g" + id[1:],
		"a moved hyphen":   id[:7] + "-" + id[7:8] + id[9:],
		"a hyphen more":    id[:10] + "-" + id[11:],
		"a space before":   " " + id[:35],
		"a space after":    id + " ",
		"a wide character": id[:33] + "１",
		"a username":       "Ines",
		"the nil UUID":     "00000000-0000-0000-0000-000000000000",
	}
}

func TestOperationsReportAllInvalidArguments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		var cases []refusalCase
		for _, op := range validCalls {
			caller := sc.owner
			for field, value := range op.args {
				for spelling, text := range invalidUUIDs(value) {
					cases = append(cases, refusalCase{
						op.o.name + "/" + field + "/" + spelling, op.o, caller, changedArgs(op.args, field, text),
						invalidArgument([2]string{field, mustBeUUID}),
					})
				}
				missing := [2]string{field, "is required"}
				if field == "banUserId" {
					missing[1] = "is required, or banUsername instead"
				}
				cases = append(cases,
					refusalCase{op.o.name + "/" + field + "/empty", op.o, caller, changedArgs(op.args, field, ""), invalidArgument(missing)},
					refusalCase{op.o.name + "/" + field + "/left out", op.o, caller, changedArgs(op.args, field), invalidArgument(missing)})
			}
		}
		channel, id, name := [2]string{"channelId", mustBeUUID}, [2]string{"banUserId", mustBeUUID}, [2]string{"banUsername", mustBeName}
		notWithName := [2]string{"banUserId", "must not be given together with banUsername"}
		notWithID := [2]string{"banUsername", "must not be given together with banUserId"}
		for _, o := range []operation{operations.BanUser, operations.RemoveBan} {
			add := func(what string, args callArgs, violations ...[2]string) {
				cases = append(cases, refusalCase{o.name + "/" + what, o, sc.owner, args, invalidArgument(violations...)})
			}
			add("id and name", callArgs{"channelId": ownerID, "banUserId": raiderID, "banUsername": "LootGoblin77"}, notWithName, notWithID)
			add("bad channel, id and name", callArgs{"channelId": "x", "banUserId": raiderID, "banUsername": "LootGoblin77"}, channel, notWithName, notWithID)
			add("bad channel and bad id", callArgs{"channelId": "x", "banUserId": "y"}, channel, id)
			add("bad channel and bad name", callArgs{"channelId": "x", "banUsername": "y z"}, channel, name)
			add("nothing at all", callArgs{}, [2]string{"channelId", "is required"}, [2]string{"banUserId", "is required, or banUsername instead"})
			for what, text := range map[string]string{
				"a space": "loot goblin", "a slash": "loot/goblin", "a letter with an accent": "inês", "41 characters": strings.Repeat("a", 41),
				"a zero byte": "loot\x00goblin", "a line feed": "Loot\nGoblin77", "a percent sign": "%", "two at signs": "@@LootGoblin77",
				"letters of another script": "Іnеs",
			} {
				add("a name with "+what, callArgs{"channelId": ownerID, "banUsername": text}, name)
			}
		}
		two := func(o operation, field string) {
			cases = append(cases,
				refusalCase{o.name + "/two bad ids", o, sc.owner, callArgs{"channelId": "x", field: "y"}, invalidArgument(channel, [2]string{field, mustBeUUID})},
				refusalCase{o.name + "/nothing at all", o, sc.owner, callArgs{}, invalidArgument([2]string{"channelId", "is required"}, [2]string{field, "is required"})})
		}
		two(operations.AddModerator, "userId")
		two(operations.RemoveModerator, "userId")
		two(operations.MuteUser, "mutedUserId")
		sc.run(t, cases)
	})
}

// changedArgs returns a copy of args with one argument replaced, or removed if there is
// no value.
func changedArgs(args callArgs, name string, value ...string) callArgs {
	changed := callArgs{}
	for n, v := range args {
		if n != name {
			changed[n] = v
		}
	}
	if len(value) > 0 {
		changed[name] = value[0]
	}
	return changed
}

func TestOperationsRejectMissingOrInvalidTargets(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		defer s.Store.Clock.Freeze(0)
		sc.must(t, operations.MuteUser, sc.owner, validCalls[6].args)
		s.Store.Clock.Freeze(now.Add(9*time.Minute + 58*time.Second + time.Millisecond))

		noChannel, noUser := refusedWith("CHANNEL_NOT_FOUND"), refusedWith("USER_NOT_FOUND")
		notBanned, isChannel := refusedWith("NOT_BANNED"), refusedWith("TARGET_IS_CHANNEL")
		muted := refusal{
			reason: "MUTE_ACTIVE", metadata: map[string]string{"muteExpiresAt": now.Add(10 * time.Minute).String()}, retryAfter: 1999 * time.Millisecond,
		}
		in := func(channel, field, user string) callArgs {
			return callArgs{"channelId": channel, field: user}
		}
		add, remove, ban, unban, mute := operations.AddModerator, operations.RemoveModerator, operations.BanUser, operations.RemoveBan, operations.MuteUser
		list := operations.ListModerators
		sc.run(t, []refusalCase{
			{"moderators of an unknown channel", list, sc.viewer, callArgs{"channelId": nobodyID}, noChannel},
			{"moderators of a user without a channel", list, sc.viewer, callArgs{"channelId": raiderID}, noChannel},
			{"add in a channel that the caller never opened", add, sc.viewer, in(viewerID, "userId", raiderID), noChannel},
			{"remove in a channel that the caller never opened", remove, sc.viewer, in(viewerID, "userId", raiderID), noChannel},
			{"ban in a channel that the caller never opened", ban, sc.viewer, in(viewerID, "banUserId", raiderID), noChannel},
			{"unban in a channel that the caller never opened", unban, sc.viewer, in(viewerID, "banUserId", raiderID), noChannel},
			{"mute in a channel that the caller never opened", mute, sc.viewer, in(viewerID, "mutedUserId", raiderID), noChannel},
			{"add an unknown user", add, sc.owner, in(ownerID, "userId", nobodyID), noUser},
			{"remove an unknown user", remove, sc.owner, in(ownerID, "userId", nobodyID), noUser},
			{"ban an unknown user by id", ban, sc.moderator, in(ownerID, "banUserId", nobodyID), noUser},
			{"ban an unknown user by name", ban, sc.moderator, in(ownerID, "banUsername", "nobody.here"), noUser},
			{"ban by the beginning of a name", ban, sc.moderator, in(ownerID, "banUsername", "LootGoblin7"), noUser},
			{"ban by a name with a wildcard", ban, sc.moderator, in(ownerID, "banUsername", "LootGoblin7_"), noUser},
			{"ban by a display name", ban, sc.moderator, in(ownerID, "banUsername", "Tomasz"), noUser},
			{"mute an unknown user", mute, sc.moderator, in(ownerID, "mutedUserId", nobodyID), noUser},
			{"add the owner", add, sc.owner, in(ownerID, "userId", ownerID), isChannel},
			{"remove the owner", remove, sc.owner, in(ownerID, "userId", ownerID), isChannel},
			{"add the owner in upper case", add, sc.owner, in(ownerID, "userId", strings.ToUpper(ownerID)), isChannel},
			{"ban the channel by id", ban, sc.owner, in(ownerID, "banUserId", ownerID), isChannel},
			{"ban the channel by id in upper case", ban, sc.moderator, in(ownerID, "banUserId", strings.ToUpper(ownerID)), isChannel},
			{"ban the channel by name", ban, sc.moderator, in(ownerID, "banUsername", "Ines"), isChannel},
			{"ban the channel by name in lower case", ban, sc.moderator, in(ownerID, "banUsername", "ines"), isChannel},
			{"ban the channel by name in upper case", ban, sc.owner, in(ownerID, "banUsername", "INES"), isChannel},
			{"mute the channel", mute, sc.moderator, in(ownerID, "mutedUserId", ownerID), isChannel},
			{"mute the channel in upper case", mute, sc.owner, in(strings.ToUpper(ownerID), "mutedUserId", ownerID), isChannel},
			{"unban a user who is not banned", unban, sc.moderator, in(ownerID, "banUserId", raiderID), notBanned},
			{"unban a user who is not banned by name", unban, sc.owner, in(ownerID, "banUsername", "lootgoblin77"), notBanned},
			{"unban an unknown user by id", unban, sc.owner, in(ownerID, "banUserId", nobodyID), notBanned},
			{"unban an unknown user by name", unban, sc.owner, in(ownerID, "banUsername", "nobody.here"), notBanned},
			{"unban the channel", unban, sc.owner, in(ownerID, "banUserId", ownerID), notBanned},
			{"unban a user who is banned in another channel", unban, sc.other, in(servertest.Other.String(), "banUserId", bannedModeratorID.String()), notBanned},
			{"mute a muted user", mute, sc.moderator, in(ownerID, "mutedUserId", raiderID), muted},
		})
	})
}

func TestListsOverLimitAreRejected(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.MaxResults = 1
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		exact := metadataAs(s.As(t, servertest.Moderator))
		for _, rest := range []bool{true, false} {
			if got := operations.ListModerators.outcome(t, s, exact, callArgs{"channelId": ownerID}, rest); got != "OK" {
				t.Errorf("as many moderators as the cap: got %s, want OK", got)
			}
		}
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: ownerID, UserId: viewerID, Role: "moderator",
		}}})
		tooLarge := refusedWith("RESULT_TOO_LARGE")
		tooLarge.check(t, s, operations.ListModerators, exact, callArgs{"channelId": ownerID})
		tooLarge.check(t, s, operations.ListModeratedChannels, exact, callArgs{"userId": servertest.Moderator.String()})
	})
}
