package moderation_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestBanIsEffectiveOnceAcknowledged(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		for _, text := range []string{"first", "second"} {
			d.mustPost(servertest.Raider, text)
		}
		d.mustPost(servertest.Viewer, "calm")
		d.wantVisible("first", "second", "calm")

		ban := d.mustBan(servertest.Moderator, servertest.Raider)

		d.wantVisible("calm")
		wantReason(t, d.post(servertest.Raider, "third"), "USER_BANNED")
		st := d.standing(servertest.Raider)
		if !st.GetIsBanned() || st.GetCanPost() || !st.GetBannedAt().AsTime().Equal(ban.GetBannedAt().AsTime()) {
			t.Errorf("standing after the ban: %v", st)
		}
	})
}

func TestBanEmitsEventsInOneTransaction(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		// Both events are emitted even without messages.
		ban := d.mustBan(servertest.Moderator, servertest.Raider)
		d.wantEvents("channel.ban", "channel.chat.clear_user_messages")
		events := d.events()
		at := instant.OfProto(ban.GetBannedAt()).String()
		who := map[string]any{
			"channelId": servertest.Owner.String(), "moderatorId": servertest.Moderator.String(), "clientId": servertest.Dashboard,
		}
		want := []map[string]any{
			{"bannedUserId": servertest.Raider.String(), "bannedUserDisplayName": `Loot "Goblin" 77`, "bannedAt": at,
				"reason": nil, "expiresAt": nil, "batchId": nil, "cause": "moderator", "replaces": false},
			{"targetUserId": servertest.Raider.String(), "clearedAt": at},
		}
		for i, e := range events {
			for k, v := range who {
				want[i][k] = v
			}
			if diff := cmp.Diff(want[i], payload(t, e)); diff != "" {
				t.Errorf("payload of %s (-want +got):\n%s", e.Type, diff)
			}
			if *e.ActorID != servertest.Moderator || *e.TargetID != servertest.Raider || e.ClientID != servertest.Dashboard || e.RequestID == "" {
				t.Errorf("%s does not name the actor and the target: %v", e.Type, e)
			}
			if e.OperationID != events[0].OperationID {
				t.Errorf("%s is of another operation", e.Type)
			}
		}
	})
}

func TestBanByUsernameIgnoresCase(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		for _, name := range []string{"LootGoblin77", "lootgoblin77", "LOOTGOBLIN77"} {
			r := d.REST(t, d.creds[servertest.Owner], http.MethodPost, "/v1/moderation/ban", channelBody(`"banUsername":"`+name+`"`))
			var body struct{ Data map[string]string }
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusOK {
				t.Fatalf("%s: %d %s", name, r.Status, r.Body)
			}
			if got, want := body.Data["bannedUserId"], servertest.Raider.String(); got != want {
				t.Errorf("%s banned %s, want %s", name, got, want)
			}
			wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")
		}
	})
}

func TestRemoveBan(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustPost(servertest.Raider, "before")
		d.mustBan(servertest.Moderator, servertest.Raider)
		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")

		if st := d.standing(servertest.Raider); st.GetIsBanned() || !st.GetCanPost() || st.GetBannedAt() != nil {
			t.Errorf("standing after the unban: %v", st)
		}
		d.wantVisible() // messages that the ban deleted remain deleted
		d.mustPost(servertest.Raider, "after")
		d.wantVisible("after")
		d.wantEvents("channel.ban", "channel.chat.clear_user_messages", "channel.unban")
		got := payload(t, d.events()[2])
		if got["unbannedUserId"] != servertest.Raider.String() || got["moderatorId"] != servertest.Owner.String() {
			t.Errorf("payload of channel.unban: %v", got)
		}

		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "NOT_BANNED")
		if got := len(d.events()); got != 3 {
			t.Errorf("%d events after removing no ban, want 3", got)
		}
	})
}

func TestBanKeepsRolesAndMute(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		muted := d.mustMute(servertest.Owner, servertest.Moderator)
		d.mustBan(servertest.Owner, servertest.Moderator)
		st := d.standing(servertest.Moderator)
		if !st.GetMuteExpiresAt().AsTime().Equal(muted.GetMuteExpiresAt().AsTime()) || len(st.GetRoles()) != 1 {
			t.Errorf("standing of a banned, muted moderator: %v", st)
		}
	})
}

func TestBannedModeratorHasNoModerationRights(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustBan(servertest.Owner, servertest.Moderator)
		wantReason(t, d.unban(servertest.Moderator, servertest.Moderator), "NOT_CHANNEL_MODERATOR")
		_, err := d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		_, err = d.mute(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		// The ban does not affect their rights in other channels.
		_, err = d.Moderation.BanUser(d.creds[servertest.Moderator].Context(), &moderatov1.BanUserRequest{
			ChannelId: servertest.Other.String(), BanUserId: servertest.Raider.String(),
		})
		wantReason(t, err, "OK")

		wantReason(t, d.unban(servertest.Owner, servertest.Moderator), "OK")
		_, err = d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "OK")
	})
}

func TestModeratorCanBanModerator(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		_, err := d.Moderation.AddModerator(d.creds[servertest.Owner].Context(), &moderatov1.AddModeratorRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(),
		})
		wantReason(t, err, "OK")
		_, err = d.ban(servertest.Viewer, servertest.Moderator)
		wantReason(t, err, "OK")
		wantReason(t, d.unban(servertest.Owner, servertest.Moderator), "OK")
	})
}

func TestRemovedModeratorCannotBan(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		_, err := d.Moderation.RemoveModerator(d.creds[servertest.Owner].Context(), &moderatov1.RemoveModeratorRequest{
			ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String(),
		})
		wantReason(t, err, "OK")
		_, err = d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
	})
}

// TestBansAreScopedToChannel bans one user and mutes another in one channel: neither may lose
// a message or the right to post in another.
func TestBansAreScopedToChannel(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.mustPost(servertest.Raider, "first")
		d.mustPost(servertest.Viewer, "second")
		elsewhere, as := servertest.Other.String(), d.creds[servertest.Other].Context()
		_, err := d.Moderation.BanUser(as, &moderatov1.BanUserRequest{ChannelId: elsewhere, BanUserId: servertest.Raider.String()})
		wantReason(t, err, "OK")
		_, err = d.Moderation.MuteUser(as, &moderatov1.MuteUserRequest{ChannelId: elsewhere, MutedUserId: servertest.Viewer.String()})
		wantReason(t, err, "OK")
		d.mustPost(servertest.Raider, "third")
		d.mustPost(servertest.Viewer, "fourth")
		d.wantVisible("first", "second", "third", "fourth")

		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "NOT_BANNED")
	})
}
