package moderation_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestQueuedBans queues changes, of which the bans are made together. Each change must see those
// before it, and a change that fails must take no other one with it.
func TestQueuedBans(t *testing.T) {
	const (
		owner, mod = "owner", "moderator"
		made       = "channel.ban"
		cleared    = "channel.chat.clear_user_messages"
		lifted     = "channel.unban"
	)
	each(t, func(t *testing.T, d *drive) {
		as := map[string]*moderatov1.BanUserRequest{
			"by id":       {ChannelId: servertest.Owner.String(), BanUserId: servertest.Raider.String()},
			"by username": {ChannelId: servertest.Owner.String(), BanUsername: "lootgoblin77"},
			"other":       {ChannelId: servertest.Owner.String(), BanUserId: servertest.Viewer.String()},
			mod:           {ChannelId: servertest.Owner.String(), BanUserId: servertest.Moderator.String()},
		}
		callers := map[string]servertest.Credentials{owner: d.creds[servertest.Owner], mod: d.creds[servertest.Moderator]}
		ban := func(caller, whom string) func() error {
			return func() error { _, err := d.Moderation.BanUser(callers[caller].Context(), as[whom]); return err }
		}
		unban := func(caller, whom string) func() error {
			return func() error {
				_, err := d.Moderation.RemoveBan(callers[caller].Context(), &moderatov1.RemoveBanRequest{
					ChannelId: as[whom].GetChannelId(), BanUserId: as[whom].GetBanUserId(), BanUsername: as[whom].GetBanUsername(),
				})
				return err
			}
		}
		mute := func() error { _, err := d.mute(servertest.Owner, servertest.Raider); return err }
		demote := func() error {
			_, err := d.Moderation.RemoveModerator(callers[owner].Context(), &moderatov1.RemoveModeratorRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String(),
			})
			return err
		}
		clearChat := func() error {
			_, err := moderatov1.NewChatServiceClient(d.Conn).ClearChat(callers[owner].Context(), &moderatov1.ClearChatRequest{ChannelId: servertest.Owner.String()})
			return err
		}
		type step struct {
			call func() error
			want string
		}
		for _, test := range []struct {
			name       string
			steps      []step
			wantEvents []string
		}{
			{"the same user twice", []step{{ban(mod, "by id"), "OK"}, {ban(mod, "by username"), "OK"}, {ban(mod, "other"), "OK"}},
				[]string{made, cleared, made, cleared}},
			{"a ban that is lifted and made again", []step{{ban(mod, "by username"), "OK"}, {unban(mod, "by id"), "OK"}, {ban(mod, "by username"), "OK"}},
				[]string{made, cleared, lifted, made, cleared}},
			{"a ban that is lifted twice", []step{{ban(mod, "by id"), "OK"}, {unban(mod, "by username"), "OK"}, {unban(mod, "by id"), "NOT_BANNED"}},
				[]string{made, cleared, lifted}},
			{"bans by a moderator who is banned", []step{{ban(owner, mod), "OK"}, {ban(mod, "by id"), "NOT_CHANNEL_MODERATOR"}, {ban(owner, "other"), "OK"}},
				[]string{made, cleared, made, cleared}},
			{"bans by a moderator who has lost the role", []step{{ban(mod, "other"), "OK"}, {demote, "OK"}, {ban(mod, "by id"), "NOT_CHANNEL_MODERATOR"}},
				[]string{made, cleared, "channel.moderator.remove"}},
			{"a mute of a user who is banned", []step{{ban(owner, "by id"), "OK"}, {mute, "OK"}, {ban(owner, "other"), "OK"}},
				[]string{made, cleared, "channel.mute", cleared, made, cleared}},
			{"a ban before the chat is cleared", []step{{ban(owner, "other"), "OK"}, {clearChat, "OK"}, {ban(owner, "by id"), "OK"}},
				[]string{made, cleared, "channel.chat.clear", made, cleared}},
			{"a failure after bans", []step{{ban(mod, "by id"), "OK"}, {func() error { return d.unmute(servertest.Moderator, servertest.Raider) }, "NOT_MUTED"}, {ban(mod, "other"), "OK"}},
				[]string{made, cleared, made, cleared}},
		} {
			for _, user := range []string{"by id", "other", mod} {
				_ = unban(owner, user)()
			}
			_ = d.unmute(servertest.Owner, servertest.Raider)
			_ = d.setModerator(servertest.Moderator, true)
			d.say(servertest.Owner, servertest.Raider, "of the raider")
			d.say(servertest.Owner, servertest.Viewer, "of the viewer")
			before := len(d.eventTypes())
			release := d.lockChannel(t)
			var all sync.WaitGroup
			// One call has its turn already. It is either the first step, or this one, which
			// has no priority over the steps and changes nothing.
			all.Go(func() {
				wantReason(t, func() error { _, err := d.ban(servertest.Other, servertest.Raider); return err }(), "NOT_CHANNEL_MODERATOR")
			})
			for i, step := range test.steps {
				all.Go(func() { wantReason(t, step.call(), step.want) })
				d.waitForWaiting(t, i+1)
			}
			release()
			all.Wait()
			if diff := cmp.Diff(test.wantEvents, d.eventTypes()[before:]); diff != "" {
				t.Errorf("%s: events (-want +got):\n%s", test.name, diff)
			}
			if d.standing(servertest.Viewer).GetIsBanned() {
				if got := d.evidence(made, servertest.Viewer); !slices.Contains(got, "of the viewer") || slices.Contains(got, "of the raider") {
					t.Errorf("%s: the evidence is %q", test.name, got)
				}
			}
			if slices.Contains(test.wantEvents, "channel.mute") && len(d.evidence("channel.mute", servertest.Raider)) > 0 {
				t.Errorf("%s: the evidence of the mute has messages that the ban had deleted", test.name)
			}
		}
		if strings.Contains(d.Metrics(t), "\nmoderato_changes_joined_total 0\n") {
			t.Error("no ban joined another one")
		}
	})
}
