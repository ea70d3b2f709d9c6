package moderation_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// matrixRow is a caller, the caller's own channels, and the result of each call. A caller
// that acts for no user has the channels of Viewer, who granted users.read to the app.
type matrixRow struct {
	caller string
	md     metadata.MD
	user   uid.ID
	want   [8]string
}

// matrixCalls are the columns of the matrix; all of them concern Owner's channel.
var matrixCalls = [8]struct {
	name string
	o    operation
	args callArgs
}{
	{"own moderated channels", operations.ListModeratedChannels, nil},
	{"another's moderated channels", operations.ListModeratedChannels, callArgs{"userId": raiderID}},
	{"list moderators", operations.ListModerators, callArgs{"channelId": ownerID}},
	{"add moderator", operations.AddModerator, callArgs{"channelId": ownerID, "userId": viewerID}},
	{"remove moderator", operations.RemoveModerator, callArgs{"channelId": ownerID, "userId": viewerID}},
	{"ban", operations.BanUser, callArgs{"channelId": ownerID, "banUsername": "lootgoblin77"}},
	{"remove ban", operations.RemoveBan, callArgs{"channelId": ownerID, "banUserId": raiderID}},
	{"mute", operations.MuteUser, callArgs{"channelId": ownerID, "mutedUserId": raiderID}},
}

// matrix is section 5 of docs/interface.md with the additions of docs/decisions.md,
// written out: token kind, scopes and relation by operation.
func (sc *authScene) matrix(t *testing.T) []matrixRow {
	t.Helper()
	const (
		fine  = "OK"
		scope = "SCOPE_MISSING"
		kind  = "TOKEN_KIND_NOT_ACCEPTED"
		owns  = "NOT_CHANNEL_OWNER"
		mods  = "NOT_CHANNEL_MODERATOR"
		self  = "NOT_SELF"
		grant = "GRANT_MISSING"
	)
	var (
		owner, moderator, viewer, other = servertest.Owner, servertest.Moderator, servertest.Viewer, servertest.Other
		banned                          = bannedModeratorID
		none                            = []string{}
		read, moderate                  = []string{"users.read"}, []string{"channel.moderate"}
		both                            = []string{"users.read", "channel.moderate"}
	)
	user := func(user uid.ID, scopes []string) metadata.MD { return sc.user(t, user, scopes...) }
	app := func(scopes []string) metadata.MD {
		return metadataAs(sc.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: scopes}))
	}
	acting := func(user uid.ID) metadata.MD { return sc.acting(user.String()) }
	claiming := func(md metadata.MD, user string) metadata.MD { return withMetadata(md, "acting-user", user) }
	return []matrixRow{
		// Columns: own channels, another's channels, moderators, add, remove, ban, remove ban, mute.
		{"owner, both scopes", user(owner, both), owner, [8]string{fine, self, fine, fine, fine, fine, fine, fine}},
		{"owner, users.read", user(owner, read), owner, [8]string{fine, self, fine, scope, scope, scope, scope, scope}},
		{"owner, channel.moderate", user(owner, moderate), owner, [8]string{scope, scope, fine, fine, fine, fine, fine, fine}},
		{"owner, no scope", user(owner, none), owner, [8]string{scope, scope, fine, scope, scope, scope, scope, scope}},

		{"moderator, both scopes", user(moderator, both), moderator, [8]string{fine, self, fine, owns, owns, fine, fine, fine}},
		{"moderator, users.read", user(moderator, read), moderator, [8]string{fine, self, fine, scope, scope, scope, scope, scope}},
		{"moderator, channel.moderate", user(moderator, moderate), moderator, [8]string{scope, scope, fine, owns, owns, fine, fine, fine}},
		{"moderator, no scope", user(moderator, none), moderator, [8]string{scope, scope, fine, scope, scope, scope, scope, scope}},

		{"banned moderator, both scopes", user(banned, both), banned, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"banned moderator, users.read", user(banned, read), banned, [8]string{fine, self, fine, scope, scope, scope, scope, scope}},
		{"banned moderator, channel.moderate", user(banned, moderate), banned, [8]string{scope, scope, fine, owns, owns, mods, mods, mods}},
		{"banned moderator, no scope", user(banned, none), banned, [8]string{scope, scope, fine, scope, scope, scope, scope, scope}},

		{"viewer, both scopes", user(viewer, both), viewer, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"viewer, users.read", user(viewer, read), viewer, [8]string{fine, self, fine, scope, scope, scope, scope, scope}},
		{"viewer, channel.moderate", user(viewer, moderate), viewer, [8]string{scope, scope, fine, owns, owns, mods, mods, mods}},
		{"viewer, no scope", user(viewer, none), viewer, [8]string{scope, scope, fine, scope, scope, scope, scope, scope}},

		{"another channel's owner, both scopes", user(other, both), other, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"another channel's owner, users.read", user(other, read), other, [8]string{fine, self, fine, scope, scope, scope, scope, scope}},
		{"another channel's owner, channel.moderate", user(other, moderate), other, [8]string{scope, scope, fine, owns, owns, mods, mods, mods}},
		{"another channel's owner, no scope", user(other, none), other, [8]string{scope, scope, fine, scope, scope, scope, scope, scope}},

		{"app, both scopes", app(both), viewer, [8]string{fine, grant, fine, kind, kind, kind, kind, kind}},
		{"app, users.read", app(read), viewer, [8]string{fine, grant, fine, kind, kind, kind, kind, kind}},
		{"app, channel.moderate", app(moderate), viewer, [8]string{scope, scope, fine, kind, kind, kind, kind, kind}},
		{"app, no scope", app(none), viewer, [8]string{scope, scope, fine, kind, kind, kind, kind, kind}},

		{"backend without acting user", sc.service, viewer, [8]string{fine, fine, fine, kind, kind, kind, kind, kind}},
		{"backend for the owner", acting(owner), owner, [8]string{fine, self, fine, fine, fine, fine, fine, fine}},
		{"backend for a moderator", acting(moderator), moderator, [8]string{fine, self, fine, owns, owns, fine, fine, fine}},
		{"backend for a banned moderator", acting(banned), banned, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"backend for a viewer", acting(viewer), viewer, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"backend for another channel's owner", acting(other), other, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"backend for a user in upper case", claiming(sc.service, "0B6F0001-0000-4000-8000-00000000000A"), owner, [8]string{fine, self, fine, fine, fine, fine, fine, fine}},

		// acting-user is ignored unless the caller is a backend, even if it is malformed.
		{"viewer with acting-user owner", claiming(sc.viewer, owner.String()), viewer, [8]string{fine, self, fine, owns, owns, mods, mods, mods}},
		{"moderator with invalid acting-user", claiming(sc.moderator, "x"), moderator, [8]string{fine, self, fine, owns, owns, fine, fine, fine}},
		{"app that claims to act for the owner", claiming(sc.app, owner.String()), viewer, [8]string{fine, grant, fine, kind, kind, kind, kind, kind}},
		{"app with invalid acting-user", claiming(sc.app, "x"), viewer, [8]string{fine, grant, fine, kind, kind, kind, kind, kind}},
	}
}

func TestModerationAuthorization(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		for _, row := range sc.matrix(t) {
			for i, call := range matrixCalls {
				if call.args == nil {
					call.args = callArgs{"userId": row.user.String()}
				}
				t.Run(row.caller+"/"+call.name, func(t *testing.T) {
					for _, rest := range []bool{true, false} {
						sc.prepare(t, call.o, row.want[i] == "OK")
						before := sc.changes(t)
						if got := call.o.outcome(t, s, row.md, call.args, rest); got != row.want[i] {
							t.Errorf("over %s: got %s, want %s", transportName(rest), got, row.want[i])
						}
						if after := sc.changes(t); row.want[i] != "OK" && after != before {
							t.Errorf("over %s: a refused call made %d changes, want none", transportName(rest), after-before)
						}
					}
				})
			}
		}
	})
}

// prepare makes an authorized call possible: a user is banned, and nobody is muted.
func (sc *authScene) prepare(t *testing.T, o operation, admitted bool) {
	t.Helper()
	switch {
	case !admitted:
	case o.name == operations.RemoveBan.name:
		sc.must(t, operations.BanUser, sc.owner, callArgs{"channelId": ownerID, "banUserId": raiderID})
	case o.name == operations.MuteUser.name:
		sc.Store.Clock.Advance(10 * time.Minute)
	}
}

func TestModeratorHasNoRightsInOtherChannels(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sc := newAuthScene(t, s)
		banned := sc.bannedModerator // moderates only Owner's channel
		elsewhere := servertest.Other.String()
		for _, call := range matrixCalls[5:] {
			args := changedArgs(call.args, "channelId", elsewhere)
			refusedWith("NOT_CHANNEL_MODERATOR").check(t, s, call.o, banned, args)
		}
		sc.must(t, operations.BanUser, sc.moderator, callArgs{"channelId": elsewhere, "banUserId": raiderID})
		// A ban in one channel removes no right in another channel.
		sc.must(t, operations.AddModerator, sc.other, callArgs{"channelId": elsewhere, "userId": bannedModeratorID.String()})
		sc.must(t, operations.RemoveBan, banned, callArgs{"channelId": elsewhere, "banUserId": raiderID})
	})
}
