package moderation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const banPath, mutePath = "/v1/moderation/ban", "/v1/moderation/mute"

// TestBanOfBannedUser bans a user again and again over REST: with a longer ban, a shorter one,
// one that lasts as long, and with replace.
func TestBanOfBannedUser(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		user := `"banUserId":"` + servertest.Raider.String() + `"`
		second := 0
		ban := func(as uid.ID, fields string) map[string]any {
			t.Helper()
			second++
			d.Store.Clock.Freeze(start.Add(time.Duration(second) * time.Second))
			return data(t, d.REST(t, d.creds[as], "POST", banPath, channelBody(user+fields)))
		}
		if first := ban(servertest.Owner, ""); len(first) != 5 {
			t.Errorf("the first ban has the fields %v", first)
		}
		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")
		d.mustPost(servertest.Raider, "hidden")
		events := len(d.events())
		at := func(seconds int) string { return start.Add(time.Duration(seconds) * time.Second).String() }
		for _, c := range []struct {
			as                uid.ID
			fields            string
			reason, expiresAt any
			bannedAt          int
			isChange          bool
		}{
			{servertest.Moderator, `,"reason":"spam","durationSeconds":60`, "spam", at(62), 2, true},
			{servertest.Owner, "", nil, nil, 3, true}, // permanent: it outlasts the timed one
			{servertest.Moderator, `,"durationSeconds":1209600`, nil, nil, 3, false},
			{servertest.Moderator, `,"replace":false,"reason":"x"`, nil, nil, 3, false},
			{servertest.Moderator, `,"durationSeconds":100,"replace":true`, nil, at(106), 6, true},
			{servertest.Owner, `,"durationSeconds":99`, nil, at(106), 6, false}, // it ends at the same time
			{servertest.Owner, `,"durationSeconds":99,"reason":"later"`, "later", at(107), 8, true},
			{servertest.Owner, `,"reason":"for good","replace":true`, "for good", nil, 9, true},
			{servertest.Owner, "", "for good", nil, 9, false},
		} {
			got := ban(c.as, c.fields)
			want := map[string]any{
				"channelId": servertest.Owner.String(), "moderatorId": got["moderatorId"], "bannedUserId": servertest.Raider.String(),
				"bannedUserDisplayName": `Loot "Goblin" 77`, "bannedAt": at(c.bannedAt), "reason": c.reason, "expiresAt": c.expiresAt, "changed": c.isChange,
			}
			if c.isChange {
				want["moderatorId"] = c.as.String()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.fields, diff)
			}
			new := d.events()[events:]
			events += len(new)
			switch {
			case !c.isChange:
				if len(new) > 0 {
					t.Errorf("%s emits %s", c.fields, new[0].Type)
				}
			case c.bannedAt == 2:
				if len(new) != 2 || payload(t, new[0])["replaces"] != false {
					t.Errorf("%s: %d events", c.fields, len(new))
				}
			case len(new) != 1 || new[0].Type != "channel.ban":
				t.Errorf("%s: %d events, want channel.ban", c.fields, len(new))
			default:
				e := payload(t, new[0])
				if e["replaces"] != true || e["expiresAt"] != c.expiresAt || e["reason"] != c.reason || e["bannedAt"] != at(c.bannedAt) || e["moderatorId"] != c.as.String() {
					t.Errorf("%s: the event is %v", c.fields, e)
				}
			}
		}
		d.wantSound()
		// What the first of these bans hid comes back with the last one.
		d.wantVisible()
		r := d.REST(t, d.creds[servertest.Owner], "DELETE", banPath, channelBody(user+`,"restoreMessages":true`))
		if r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		d.wantVisible("hidden")
		d.Store.Clock.Freeze(start.Add(2 * time.Hour))
		wantReason(t, d.post(servertest.Raider, "after"), "OK") // no replaced ban is in force
		d.wantSound()
	})
}

// TestBatchExtendsBans bans users in a batch who are banned for a shorter time, or for longer.
// The undo gives back the bans that would still run, and then what they hid.
func TestBatchExtendsBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		crowd := servertest.AddUsers(t, d.Store, 4)
		short, long, permanent, free := crowd[0], crowd[1], crowd[2], crowd[3]
		for _, id := range crowd {
			d.mustPost(id, nameOf(id))
		}
		d.banFor(servertest.Owner, short, 60, "short")
		d.banFor(servertest.Owner, long, 600, "long")
		d.mustBan(servertest.Owner, permanent)
		d.Store.Clock.Freeze(start.Add(time.Second))
		ban := func(seconds string, isDryRun bool) map[string]any {
			more := ""
			if isDryRun {
				more = `,"dryRun":true`
			}
			return data(t, d.REST(t, d.creds[servertest.Moderator], "POST", bansPath, channelBody(targets(short, long, permanent, free)+`,"durationSeconds":`+seconds+more)))
		}
		for _, isDryRun := range []bool{true, false} {
			got := ban("599", isDryRun)
			want := map[string]any{"banned": 1.0, "alreadyBanned": 2.0, "userNotFound": 0.0, "targetIsChannel": 0.0, "duplicate": 0.0, "extended": 1.0, "invalid": 0.0}
			if diff := cmp.Diff(want, got["counts"]); diff != "" || got["results"].([]any)[0].(map[string]any)["status"] != "EXTENDED" {
				t.Errorf("dry run %t (-want +got):\n%s\n%v", isDryRun, diff, got["results"])
			}
		}
		second := ban("1200", false) // it replaces the first batch's too
		page, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
		if err != nil || len(page.GetRows()) != 2 || page.GetRows()[0].GetBannedCount() != 3 || page.GetRows()[0].GetStillBannedCount() != 3 {
			t.Errorf("the batches are %v (%v)", page, err)
		}
		d.wantSound()
		d.Store.Clock.Freeze(start.Add(2 * time.Minute))
		before := len(d.events())
		undone := d.undo(second["batchId"].(string), true)
		var statuses []string
		for _, row := range undone.GetResults() {
			statuses = append(statuses, row.GetStatus())
		}
		if got := strings.Join(statuses, " "); got != "RESTORED RESTORED RESTORED" || undone.GetCounts().GetRestored() != 3 {
			t.Errorf("the undo returns %v", undone)
		}
		for i, want := range []struct {
			user uid.ID
			end  time.Duration
		}{{short, 600 * time.Second}, {long, 600 * time.Second}, {free, 600 * time.Second}} {
			e := d.events()[before+i]
			fields := payload(t, e)
			if e.Type != "channel.ban" || *e.TargetID != want.user || fields["replaces"] != true || fields["cause"] != "batch" ||
				fields["expiresAt"] != start.Add(want.end).String() || fields["moderatorId"] != servertest.Owner.String() {
				t.Errorf("event %d is %s %v", i, e.Type, fields)
			}
		}
		d.wantVisible()
		d.wantSound()
		// The ban of 60 s would not run any more, so the undo of the first batch frees its user.
		first := page.GetRows()[1].GetBatchId()
		undone = d.undo(first, true)
		if undone.GetCounts().GetUnbanned() != 2 || undone.GetCounts().GetChanged() != 0 {
			t.Errorf("the undo of the first batch returns %v", undone)
		}
		d.wantVisible(nameOf(short), nameOf(free))
		if st := d.standing(long); !st.GetIsBanned() {
			t.Error("the ban of the owner is not in force")
		}
		d.wantSound()
	})
}

// TestUndoneBanIsNotGivenBack replaces a ban of a batch, undoes the batch, and then what
// replaced it.
func TestUndoneBanIsNotGivenBack(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		first, err := d.Moderation.BanUsers(d.creds[servertest.Owner].Context(), &moderatov1.BanUsersRequest{
			ChannelId: servertest.Owner.String(), DurationSeconds: new(int64(60)), Users: []*moderatov1.BatchTarget{{UserId: servertest.Raider.String()}},
		})
		wantReason(t, err, "OK")
		second := d.banAll(servertest.Owner, servertest.Raider)
		if undone := d.undo(first.GetBatchId(), false); undone.GetCounts().GetChanged() != 1 {
			t.Errorf("the first undo returns %v", undone)
		}
		if undone := d.undo(second.GetBatchId(), false); undone.GetCounts().GetUnbanned() != 1 {
			t.Errorf("the second undo returns %v at %s", undone, start)
		}
		wantReason(t, d.post(servertest.Raider, "free"), "OK")
		d.wantSound()
	})
}

// TestRevertGivesBackReplacedBans reverts a moderator who replaced the bans of others, and own
// ones, more often than are kept.
func TestRevertGivesBackReplacedBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		crowd := servertest.AddUsers(t, d.Store, 3)
		ofOwner, own, early := crowd[0], crowd[1], crowd[2]
		d.banFor(servertest.Owner, ofOwner, 3600, "of the owner")
		d.banFor(servertest.Moderator, early, 60, "early")
		since := start.Add(time.Second)
		d.Store.Clock.Freeze(since)
		for range 15 {
			for _, id := range crowd {
				d.replaceBan(servertest.Moderator, id, 30)
			}
		}
		if n := storetest.Must(d.Store.Read.ReplacedBan.Query().Count(t.Context())); n != 30 {
			t.Errorf("%d replaced bans of three users are kept", n)
		}
		dry := d.revert(servertest.Moderator, since, true)
		wantReverted(t, dry, ofOwner.String()+" RESTORED", own.String()+" UNBANNED", early.String()+" RESTORED")
		before := len(d.events())
		wantReverted(t, d.revert(servertest.Moderator, since, false), ofOwner.String()+" RESTORED", own.String()+" UNBANNED", early.String()+" RESTORED")
		e := payload(t, d.events()[before])
		if e["cause"] != "revert" || e["replaces"] != true || e["reason"] != "of the owner" || e["expiresAt"] != start.Add(time.Hour).String() || e["bannedAt"] != start.String() {
			t.Errorf("the event is %v", e)
		}
		got := d.banFor(servertest.Moderator, ofOwner, 1, "")
		if got.GetModeratorId() != servertest.Owner.String() || instant.OfProto(got.GetBannedAt()) != start {
			t.Errorf("the ban in force is %v", got)
		}
		wantReason(t, d.post(own, "free"), "OK")
		d.wantSound()
	})
}

// replaceBan replaces the ban of a user, or bans the user, for some seconds.
func (d *drive) replaceBan(as, user uid.ID, seconds int64) {
	d.t.Helper()
	_, err := d.Moderation.BanUser(d.creds[as].Context(), &moderatov1.BanUserRequest{
		ChannelId: servertest.Owner.String(), BanUserId: user.String(), DurationSeconds: &seconds, Replace: new(true),
	})
	wantReason(d.t, err, "OK")
}

// TestSweepExtendsBans commits a sweep whose users were banned for a shorter time since its
// preview.
func TestSweepExtendsBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		frozen(t, d)
		users := d.raid(2, "free sub")
		token := d.mustPreview().GetSweepToken()
		d.banFor(servertest.Owner, users[0], 60, "")
		r := d.mustCommit(token)
		if counts := r.GetCounts(); counts.GetBanned() != 1 || counts.GetExtended() != 1 || counts.GetAlreadyBanned() != 0 {
			t.Errorf("the commit returns %v", r)
		}
		if counts := d.undo(r.GetBatchId(), true).GetCounts(); counts.GetRestored() != 1 || counts.GetUnbanned() != 1 {
			t.Errorf("the undo returns %v", counts)
		}
		d.wantVisible("free sub")
		d.wantSound()
	})
}

// TestReplacedBanExpires lets a ban expire that replaced a longer one: the user is free.
func TestReplacedBanExpires(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustBan(servertest.Owner, servertest.Raider)
		d.replaceBan(servertest.Owner, servertest.Raider, 10)
		d.Store.Clock.Freeze(start.Add(10 * time.Second))
		if err := newExpirer(d).ExpireBans(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReason(t, d.post(servertest.Raider, "free"), "OK")
		d.wantEvents("channel.ban", "channel.chat.clear_user_messages", "channel.ban", "channel.unban")
		d.wantSound()
	})
}

// TestMuteOfMutedUser mutes a user again, without and with replace, and unmutes the user.
func TestMuteOfMutedUser(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustPost(servertest.Raider, "before")
		user := `"mutedUserId":"` + servertest.Raider.String() + `"`
		d.mustMute(servertest.Owner, servertest.Raider)
		_, err := d.mute(servertest.Owner, servertest.Raider)
		wantReason(t, err, "MUTE_ACTIVE")
		got := data(t, d.REST(t, d.creds[servertest.Moderator], "POST", mutePath, channelBody(user+`,"durationSeconds":60,"reason":"less","replace":true`)))
		want := map[string]any{
			"channelId": servertest.Owner.String(), "moderatorId": servertest.Moderator.String(), "mutedUserId": servertest.Raider.String(),
			"mutedUserDisplayName": `Loot "Goblin" 77`, "muteExpiresAt": start.Add(time.Minute).String(), "reason": "less", "expiresAt": start.Add(time.Minute).String(),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("replace (-want +got):\n%s", diff)
		}
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages", "channel.mute")
		if e := payload(t, d.events()[2]); e["replaces"] != true || e["reason"] != "less" {
			t.Errorf("the event is %v", e)
		}
		r := d.REST(t, d.creds[servertest.Moderator], "DELETE", mutePath, channelBody(user+`,"reason":"enough","restoreMessages":true`))
		if r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		d.wantVisible("before")
	})
}

// TestEndsHaveReasons removes a ban and a mute, with and without a reason.
func TestEndsHaveReasons(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		frozen(t, d)
		ban, mute := `"banUserId":"`+servertest.Raider.String()+`"`, `"mutedUserId":"`+servertest.Raider.String()+`"`
		for _, c := range []struct {
			path, user, field string
			want              any
		}{
			{banPath, ban, `,"reason":"appeal"`, "appeal"}, {banPath, ban, "", nil},
			{mutePath, mute, `,"reason":"enough"`, "enough"}, {mutePath, mute, "", nil},
		} {
			data(t, d.REST(t, d.creds[servertest.Owner], "POST", c.path, channelBody(c.user+`,"reason":"spam"`)))
			r := d.REST(t, d.creds[servertest.Owner], "DELETE", c.path, channelBody(c.user+c.field))
			events := d.events()
			if e := payload(t, events[len(events)-1]); r.Status != 200 || e["endReason"] != c.want || e["reason"] != "spam" {
				t.Errorf("%s%s: %d %s, the event is %v", c.path, c.field, r.Status, r.Body, e)
			}
			log := data(t, d.REST(t, d.creds[servertest.Owner], "GET", "/v1/moderation/log?limit=1&channelId="+servertest.Owner.String(), ""))
			if got, has := log["rows"].([]any)[0].(map[string]any)["endReason"]; !has || got != c.want {
				t.Errorf("%s%s: the log has %v", c.path, c.field, got)
			}
		}
		for _, c := range []struct{ path, fields, want string }{
			{banPath, ban + `,"reason":"` + strings.Repeat("x", 501) + `"`, `"field":"reason"`},
			{banPath, ban + `,"reason":" "`, `"field":"reason"`},
			{banPath, ban + `,"restoreMessage":true`, "did you mean restoreMessages?"},
			{mutePath, mute + `,"restore_messages":true`, "did you mean restoreMessages?"},
		} {
			r := d.REST(t, d.creds[servertest.Owner], "DELETE", c.path, channelBody(c.fields))
			if r.Status != 400 || !strings.Contains(r.Body, c.want) {
				t.Errorf("%s %.80s: %d %s", c.path, c.fields, r.Status, r.Body)
			}
		}
	})
}

// TestUnbanRestoresOnlyWhatTheBanHid unbans and unmutes users some of whose messages something
// else deleted too, and after a day.
func TestUnbanRestoresOnlyWhatTheBanHid(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		unban := func(restores *bool) {
			t.Helper()
			_, err := d.Moderation.RemoveBan(d.creds[servertest.Owner].Context(), &moderatov1.RemoveBanRequest{
				ChannelId: servertest.Owner.String(), BanUserId: servertest.Raider.String(), RestoreMessages: restores,
			})
			wantReason(t, err, "OK")
		}
		d.mustPost(servertest.Raider, "kept")
		deleted := d.say(servertest.Owner, servertest.Raider, "deleted alone")[0]
		_, err := moderatov1.NewChatServiceClient(d.Conn).DeleteMessage(d.creds[servertest.Owner].Context(), &moderatov1.DeleteMessageRequest{
			ChannelId: servertest.Owner.String(), MessageId: deleted,
		})
		wantReason(t, err, "OK")
		d.mustBan(servertest.Owner, servertest.Raider)
		unban(new(true))
		d.wantVisible("kept")
		d.mustMute(servertest.Owner, servertest.Raider)
		d.mustBan(servertest.Owner, servertest.Raider)
		unban(new(true))
		d.wantVisible() // the mute hides them too
		_, err = d.Moderation.RemoveMute(d.creds[servertest.Owner].Context(), &moderatov1.RemoveMuteRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: servertest.Raider.String(), RestoreMessages: new(true),
		})
		wantReason(t, err, "OK")
		d.wantVisible("kept")
		d.mustBan(servertest.Owner, servertest.Raider)
		d.Store.Clock.Freeze(start.Add(25 * time.Hour))
		unban(new(true))
		d.wantVisible()
		d.mustPost(servertest.Raider, "again")
		d.mustBan(servertest.Owner, servertest.Raider)
		unban(new(false))
		d.wantVisible()
	})
}
