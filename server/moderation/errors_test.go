package moderation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// bothFacesCase is one row of a table of refusals.
type bothFacesCase struct {
	name   string
	o      bothFacesOperation
	caller metadata.MD
	args   bothFacesArgs
	want   bothFacesWant
}

var (
	ownerID  = servertest.Owner.String()
	viewerID = servertest.Viewer.String()
	raiderID = servertest.Raider.String()
	nobodyID = servertest.Nobody.String()
)

// bothFacesGood are calls that succeed for whoever may make them.
var bothFacesGood = []struct {
	o     bothFacesOperation
	scope string
	args  bothFacesArgs
}{
	{bothFaces.ListModeratedChannels, "users.read", bothFacesArgs{"userId": viewerID}},
	{bothFaces.ListModerators, "", bothFacesArgs{"channelId": ownerID}},
	{bothFaces.AddModerator, "channel.moderate", bothFacesArgs{"channelId": ownerID, "userId": viewerID}},
	{bothFaces.RemoveModerator, "channel.moderate", bothFacesArgs{"channelId": ownerID, "userId": viewerID}},
	{bothFaces.BanUser, "channel.moderate", bothFacesArgs{"channelId": ownerID, "banUserId": raiderID}},
	{bothFaces.RemoveBan, "channel.moderate", bothFacesArgs{"channelId": ownerID, "banUserId": raiderID}},
	{bothFaces.MuteUser, "channel.moderate", bothFacesArgs{"channelId": ownerID, "mutedUserId": raiderID}},
}

func bothFacesInvalid(violations ...[2]string) bothFacesWant {
	return bothFacesWant{reason: "INVALID_ARGUMENT", violations: violations}
}

func bothFacesRefused(reason string) bothFacesWant { return bothFacesWant{reason: reason} }

// run makes the calls of a table, none of which may change anything.
func (sc *bothFacesScene) run(t *testing.T, cases []bothFacesCase) {
	t.Helper()
	before := sc.changes(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, sc.Server, c.o, c.caller, c.args) })
	}
	if after := sc.changes(t); after != before {
		t.Errorf("refused calls made %d changes, want none", after-before)
	}
}

// bothFacesFlip changes one character of a token to another of the same kind.
func bothFacesFlip(caller metadata.MD, at int) metadata.MD {
	text := []byte(caller.Get("authorization")[0])
	at += len("Bearer ")
	if text[at] != 'a' {
		text[at] = 'a'
	} else {
		text[at] = 'b'
	}
	return bothFacesWith(caller, "authorization", string(text))
}

func TestOperationsRejectInvalidCredentials(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		good := sc.owner
		token := strings.TrimPrefix(good.Get("authorization")[0], "Bearer ")
		elsewhere := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
		elsewhere.Load(t, servertest.World()...)
		expired := bothFacesAs(s.Token(t, authn.NewToken{
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
			{"no Authorization", bothFacesWith(good, "authorization"), "TOKEN_MISSING"},
			{"another scheme", bothFacesWith(good, "authorization", "Basic aW5lczpzZWNyZXQ="), "TOKEN_MISSING"},
			{"a token without a scheme", bothFacesWith(good, "authorization", token), "TOKEN_MISSING"},
			{"Bearer without a token", bothFacesWith(good, "authorization", "Bearer"), "TOKEN_MISSING"},
			{"Bearer and a space without a token", bothFacesWith(good, "authorization", "Bearer "), "TOKEN_MISSING"},
			{"an empty Authorization", bothFacesWith(good, "authorization", ""), "TOKEN_MISSING"},
			{"two Authorizations", bothFacesWith(good, "authorization", "Bearer "+token, "Bearer "+token), "TOKEN_MISSING"},
			{"a token with another prefix", bothFacesFlip(good, 2), "TOKEN_INVALID"},
			{"a token with a wrong character", bothFacesFlip(good, 20), "TOKEN_INVALID"},
			{"a token with a wrong checksum", bothFacesFlip(good, len(token)-1), "TOKEN_INVALID"},
			{"a token that lost its end", bothFacesWith(good, "authorization", "Bearer "+token[:len(token)-1]), "TOKEN_INVALID"},
			{"two tokens in one Authorization", bothFacesWith(good, "authorization", "Bearer "+token+" "+token), "TOKEN_INVALID"},
			{"a text that is no token", bothFacesWith(good, "authorization", "Bearer hello"), "TOKEN_INVALID"},
			{"a token of another platform", bothFacesAs(elsewhere.As(t, servertest.Owner)), "TOKEN_INVALID"},
			{"a revoked token", bothFacesAs(revoked), "TOKEN_INVALID"},
			{"an expired token", expired, "TOKEN_EXPIRED"},
			{"no client-id", bothFacesWith(good, "client-id"), "CLIENT_ID_MISSING"},
			{"an empty client-id", bothFacesWith(good, "client-id", ""), "CLIENT_ID_MISSING"},
			{"the client-id of another client", bothFacesWith(good, "client-id", servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
			{"the client-id in another case", bothFacesWith(good, "client-id", "Dashboard"), "CLIENT_ID_MISMATCH"},
			{"two client-ids", bothFacesWith(good, "client-id", servertest.Dashboard, servertest.OtherDashboard), "CLIENT_ID_MISMATCH"},
		}
		var cases []bothFacesCase
		for _, c := range credentials {
			for _, op := range bothFacesGood {
				cases = append(cases, bothFacesCase{op.o.name + "/" + c.name, op.o, c.caller, op.args, bothFacesRefused(c.reason)})
			}
		}
		for _, bad := range []string{"ines", ownerID[:35], ownerID + "0", "{" + ownerID + "}", "00000000-0000-0000-0000-000000000000"} {
			for _, op := range bothFacesGood {
				cases = append(cases, bothFacesCase{
					op.o.name + "/acting-user " + bad, op.o, sc.acting(bad), op.args,
					bothFacesInvalid([2]string{"acting-user", bothFacesNotUUID}),
				})
			}
		}
		sc.run(t, append(cases, bothFacesCase{
			"two acting-users", bothFaces.BanUser, bothFacesWith(sc.service, "acting-user", ownerID, ownerID),
			bothFacesGood[4].args, bothFacesInvalid([2]string{"acting-user", bothFacesNotUUID}),
		}))
	})
}

func TestOperationsRejectTokenKindsAndMissingScopes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
		app := func(client string, scopes ...string) metadata.MD {
			return bothFacesAs(s.Token(t, authn.NewToken{Kind: authn.App, ClientID: client, Scopes: scopes}))
		}
		otherScope := map[string]string{"users.read": "channel.moderate", "channel.moderate": "users.read"}
		var cases []bothFacesCase
		for _, op := range bothFacesGood {
			if op.scope == "" {
				continue
			}
			missing := bothFacesWant{reason: "SCOPE_MISSING", metadata: map[string]string{"requiredScope": op.scope}}
			without := sc.user(t, servertest.Viewer, otherScope[op.scope])
			none := sc.user(t, servertest.Viewer, []string{}...)
			cases = append(cases,
				bothFacesCase{op.o.name + "/a user token with the other scope", op.o, without, op.args, missing},
				bothFacesCase{op.o.name + "/a user token without scopes", op.o, none, op.args, missing})
			if op.scope == "users.read" {
				cases = append(cases, bothFacesCase{
					op.o.name + "/an app token with the other scope", op.o, app(servertest.Dashboard, "channel.moderate"), op.args, missing,
				})
				continue
			}
			wrongKind := bothFacesWant{reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "user"}}
			cases = append(cases,
				bothFacesCase{op.o.name + "/an app token", op.o, sc.app, op.args, wrongKind},
				bothFacesCase{op.o.name + "/a backend alone", op.o, sc.service, op.args, wrongKind})
		}
		channelsOf := func(user string) bothFacesArgs { return bothFacesArgs{"userId": user} }
		notGranted := bothFacesWant{reason: "GRANT_MISSING", metadata: map[string]string{"requiredScope": "users.read"}}
		o := bothFaces.ListModeratedChannels
		sc.run(t, append(cases,
			bothFacesCase{"an app to which the user granted nothing", o, app(servertest.OtherDashboard, authn.Scopes()...), channelsOf(viewerID), notGranted},
			bothFacesCase{"an app to which the user granted another scope", o, sc.app, channelsOf(raiderID), notGranted},
			bothFacesCase{"an app whose grant the user took back", o, sc.app, channelsOf(servertest.Other.String()), notGranted},
			bothFacesCase{"an app to which only others granted", o, sc.app, channelsOf(ownerID), notGranted},
			bothFacesCase{"an app asks for an unknown user", o, sc.app, channelsOf(nobodyID), notGranted},
		))
	})
}

func TestOperationsRejectCallersWithoutRelation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := bothFacesSetScene(t, s)
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
			{"a backend that acts for nobody known", sc.acting(nobodyID), false},
		}
		var cases []bothFacesCase
		for _, c := range callers {
			cases = append(cases, bothFacesCase{
				c.name + " reads another's channels", bothFaces.ListModeratedChannels, c.caller,
				bothFacesArgs{"userId": raiderID}, bothFacesRefused("NOT_SELF"),
			})
			for i, op := range bothFacesGood[2:] {
				reason := "NOT_CHANNEL_OWNER"
				if i >= 2 {
					reason = "NOT_CHANNEL_MODERATOR"
				}
				if i < 2 || !c.isModerator {
					cases = append(cases, bothFacesCase{op.o.name + " by " + c.name, op.o, c.caller, op.args, bothFacesRefused(reason)})
				}
			}
		}
		sc.run(t, cases)
	})
}

// bothFacesNotUUIDs are spellings of a UUID that other programs take.
func bothFacesNotUUIDs(id string) map[string]string {
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
		sc := bothFacesSetScene(t, s)
		var cases []bothFacesCase
		for _, op := range bothFacesGood {
			caller := sc.owner
			for field, value := range op.args {
				for spelling, text := range bothFacesNotUUIDs(value) {
					cases = append(cases, bothFacesCase{
						op.o.name + "/" + field + "/" + spelling, op.o, caller, bothFacesChanged(op.args, field, text),
						bothFacesInvalid([2]string{field, bothFacesNotUUID}),
					})
				}
				missing := [2]string{field, "is required"}
				if field == "banUserId" {
					missing[1] = "is required, or banUsername instead"
				}
				cases = append(cases,
					bothFacesCase{op.o.name + "/" + field + "/empty", op.o, caller, bothFacesChanged(op.args, field, ""), bothFacesInvalid(missing)},
					bothFacesCase{op.o.name + "/" + field + "/left out", op.o, caller, bothFacesChanged(op.args, field), bothFacesInvalid(missing)})
			}
		}
		channel, id, name := [2]string{"channelId", bothFacesNotUUID}, [2]string{"banUserId", bothFacesNotUUID}, [2]string{"banUsername", bothFacesNotName}
		notWithName := [2]string{"banUserId", "must not be given together with banUsername"}
		notWithID := [2]string{"banUsername", "must not be given together with banUserId"}
		for _, o := range []bothFacesOperation{bothFaces.BanUser, bothFaces.RemoveBan} {
			add := func(what string, args bothFacesArgs, violations ...[2]string) {
				cases = append(cases, bothFacesCase{o.name + "/" + what, o, sc.owner, args, bothFacesInvalid(violations...)})
			}
			add("id and name", bothFacesArgs{"channelId": ownerID, "banUserId": raiderID, "banUsername": "LootGoblin77"}, notWithName, notWithID)
			add("bad channel, id and name", bothFacesArgs{"channelId": "x", "banUserId": raiderID, "banUsername": "LootGoblin77"}, channel, notWithName, notWithID)
			add("bad channel and bad id", bothFacesArgs{"channelId": "x", "banUserId": "y"}, channel, id)
			add("bad channel and bad name", bothFacesArgs{"channelId": "x", "banUsername": "y z"}, channel, name)
			add("nothing at all", bothFacesArgs{}, [2]string{"channelId", "is required"}, [2]string{"banUserId", "is required, or banUsername instead"})
			for what, text := range map[string]string{
				"a space": "loot goblin", "a slash": "loot/goblin", "a letter with an accent": "inês", "41 characters": strings.Repeat("a", 41),
				"a zero byte": "loot\x00goblin", "a line feed": "Loot\nGoblin77", "a percent sign": "%", "two at signs": "@@LootGoblin77",
				"letters of another script": "Іnеs",
			} {
				add("a name with "+what, bothFacesArgs{"channelId": ownerID, "banUsername": text}, name)
			}
		}
		two := func(o bothFacesOperation, field string) {
			cases = append(cases,
				bothFacesCase{o.name + "/two bad ids", o, sc.owner, bothFacesArgs{"channelId": "x", field: "y"}, bothFacesInvalid(channel, [2]string{field, bothFacesNotUUID})},
				bothFacesCase{o.name + "/nothing at all", o, sc.owner, bothFacesArgs{}, bothFacesInvalid([2]string{"channelId", "is required"}, [2]string{field, "is required"})})
		}
		two(bothFaces.AddModerator, "userId")
		two(bothFaces.RemoveModerator, "userId")
		two(bothFaces.MuteUser, "mutedUserId")
		sc.run(t, cases)
	})
}

// bothFacesChanged is arguments with one replaced; without a value, left out.
func bothFacesChanged(args bothFacesArgs, name string, value ...string) bothFacesArgs {
	changed := bothFacesArgs{}
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
		sc := bothFacesSetScene(t, s)
		now, err := s.Store.Clock.Now(context.Background(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		defer s.Store.Clock.Freeze(0)
		sc.must(t, bothFaces.MuteUser, sc.owner, bothFacesGood[6].args)
		s.Store.Clock.Freeze(now.Add(9*time.Minute + 58*time.Second + time.Millisecond))

		noChannel, noUser := bothFacesRefused("CHANNEL_NOT_FOUND"), bothFacesRefused("USER_NOT_FOUND")
		notBanned, isChannel := bothFacesRefused("NOT_BANNED"), bothFacesRefused("TARGET_IS_CHANNEL")
		muted := bothFacesWant{
			reason: "MUTE_ACTIVE", metadata: map[string]string{"muteExpiresAt": now.Add(10 * time.Minute).String()}, retryAfter: 1999 * time.Millisecond,
		}
		in := func(channel, field, user string) bothFacesArgs {
			return bothFacesArgs{"channelId": channel, field: user}
		}
		add, remove, ban, unban, mute := bothFaces.AddModerator, bothFaces.RemoveModerator, bothFaces.BanUser, bothFaces.RemoveBan, bothFaces.MuteUser
		list := bothFaces.ListModerators
		sc.run(t, []bothFacesCase{
			{"moderators of an unknown channel", list, sc.viewer, bothFacesArgs{"channelId": nobodyID}, noChannel},
			{"moderators of a user without a channel", list, sc.viewer, bothFacesArgs{"channelId": raiderID}, noChannel},
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
			{"unban who is not banned", unban, sc.moderator, in(ownerID, "banUserId", raiderID), notBanned},
			{"unban who is not banned by name", unban, sc.owner, in(ownerID, "banUsername", "lootgoblin77"), notBanned},
			{"unban an unknown user by id", unban, sc.owner, in(ownerID, "banUserId", nobodyID), notBanned},
			{"unban an unknown user by name", unban, sc.owner, in(ownerID, "banUsername", "nobody.here"), notBanned},
			{"unban the channel", unban, sc.owner, in(ownerID, "banUserId", ownerID), notBanned},
			{"unban who is banned elsewhere", unban, sc.other, in(servertest.Other.String(), "banUserId", bothFacesBannedModerator.String()), notBanned},
			{"mute who is muted", mute, sc.moderator, in(ownerID, "mutedUserId", raiderID), muted},
		})
	})
}

func TestListsOverLimitAreRejected(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		config := servertest.Config(url)
		config.MaxResults = 1
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		exact := bothFacesAs(s.As(t, servertest.Moderator))
		for _, rest := range []bool{true, false} {
			if got := bothFaces.ListModerators.outcome(t, s, exact, bothFacesArgs{"channelId": ownerID}, rest); got != "OK" {
				t.Errorf("as many moderators as the cap: got %s, want OK", got)
			}
		}
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: ownerID, UserId: viewerID, Role: "moderator",
		}}})
		tooLarge := bothFacesRefused("RESULT_TOO_LARGE")
		tooLarge.check(t, s, bothFaces.ListModerators, exact, bothFacesArgs{"channelId": ownerID})
		tooLarge.check(t, s, bothFaces.ListModeratedChannels, exact, bothFacesArgs{"userId": servertest.Moderator.String()})
	})
}
