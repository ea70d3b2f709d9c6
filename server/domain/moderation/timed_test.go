package moderation_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// banFor bans a user for some seconds, with a reason.
func (d *drive) banFor(as, user uid.ID, seconds int64, reason string) *moderatov1.BanUserResponse {
	d.t.Helper()
	req := &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String(), DurationSeconds: &seconds}
	if reason != "" {
		req.Reason = &reason
	}
	ban, err := d.Moderation.BanUser(d.creds[as].Context(), req)
	if err != nil {
		d.t.Fatal(err)
	}
	return ban
}

// unexpired keeps the expirers from changing Owner's channel until the test calls release.
func unexpired(t *testing.T, d *drive) (release func()) {
	t.Helper()
	turn, err := d.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner)
	if err != nil {
		t.Fatal(err)
	}
	return turn.Release
}

// isListed reports whether the list of banned users has a user.
func (d *drive) isListed(user uid.ID) bool {
	d.t.Helper()
	page, err := moderatov1.NewChannelsServiceClient(d.Conn).ListBannedUsers(d.creds[servertest.Owner].Context(), &moderatov1.ListBannedUsersRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, row := range page.GetRows() {
		if row.GetId() == user.String() {
			return true
		}
	}
	return false
}

// holds reports, for each read of bans, whether the Raider and the Moderator are banned.
func (d *drive) holds() map[string]bool {
	d.t.Helper()
	state, err := d.Moderation.GetUser(d.creds[servertest.Owner].Context(), &moderatov1.GetUserRequest{
		ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = d.Moderation.ListLog(d.creds[servertest.Moderator].Context(), &moderatov1.ListLogRequest{ChannelId: servertest.Owner.String()})
	return map[string]bool{
		"standing":                 d.standing(servertest.Raider).GetIsBanned(),
		"post":                     reason(d.post(servertest.Raider, "hello")) == "USER_BANNED",
		"list":                     d.isListed(servertest.Raider),
		"user":                     state.GetBan() != nil,
		"reads of the moderator":   reason(err) == "NOT_CHANNEL_MODERATOR",
		"standing of the channel":  !d.standing(servertest.Raider).GetCanPost(),
		"webhooks of a moderator":  reason(d.hooks()) == "NOT_CHANNEL_MODERATOR",
		"streams of the moderator": reason(d.listens()) == "NOT_CHANNEL_MODERATOR",
	}
}

// hooks creates a webhook for bans as the Moderator.
func (d *drive) hooks() error {
	_, err := moderatov1.NewWebhooksServiceClient(d.Conn).CreateWebhook(d.creds[servertest.Moderator].Context(),
		&moderatov1.CreateWebhookRequest{ChannelId: servertest.Owner.String(), Type: []string{"channel.ban"}, Url: "https://example.com/hook"})
	return err
}

// listens opens a stream of bans as the Moderator.
func (d *drive) listens() error {
	ctx, cancel := context.WithCancel(d.creds[servertest.Moderator].Context())
	defer cancel()
	stream, err := moderatov1.NewEventsServiceClient(d.Conn).WatchEvents(ctx,
		&moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String(), Type: []string{"channel.ban"}})
	if err == nil {
		_, err = stream.Recv()
	}
	return err
}

// TestTimedBanEndsEverywhereAtItsInstant checks every read in the last millisecond of two
// bans and at their end, while no expirer removes them.
func TestTimedBanEndsEverywhereAtItsInstant(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.banFor(servertest.Owner, servertest.Moderator, 60, "")
		ban := d.banFor(servertest.Owner, servertest.Raider, 60, "spam")
		end := start.Add(time.Minute)
		if got := instant.OfProto(ban.GetTerms().GetExpiresAt()); got != end {
			t.Errorf("the ban ends at %s, want %s", got, end)
		}
		release := unexpired(t, d)
		defer release()
		d.Store.Clock.Freeze(end - 1)
		for read, isBanned := range d.holds() {
			if !isBanned {
				t.Errorf("%s: not banned in the last millisecond", read)
			}
		}
		d.Store.Clock.Freeze(end)
		for read, isBanned := range d.holds() {
			if isBanned {
				t.Errorf("%s: banned at the end", read)
			}
		}
		release()
		// The rights of the moderator in changes, before or after a sweep.
		wantReason(t, d.unban(servertest.Moderator, servertest.Raider), "NOT_BANNED")
		_, err := d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "OK")
	})
}

// ends returns the payloads of the channel's events of the type channel.unban.
func (d *drive) ends() []map[string]any {
	d.t.Helper()
	var found []map[string]any
	for _, e := range d.events() {
		if e.Type == "channel.unban" {
			fields := payload(d.t, e)
			if (e.ClientID != "") != (fields["cause"] != "expired") || *e.ActorID != uid.MustParse(fields["moderatorId"].(string)) {
				d.t.Errorf("the event is by %v through %q: %v", e.ActorID, e.ClientID, fields)
			}
			found = append(found, fields)
		}
	}
	return found
}

// TestLapseOfBanIsAnnouncedOnce has several expirers, as of several servers that start after
// all were down, find the same lapsed ban.
func TestLapseOfBanIsAnnouncedOnce(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		release := unexpired(t, d)
		go func() { time.Sleep(50 * time.Millisecond); release() }()
		d.banFor(servertest.Moderator, servertest.Raider, 1, "spam")
		d.Store.Clock.Freeze(start.Add(time.Hour))
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if err := newExpirer(d).ExpireBans(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		want := []map[string]any{{
			"channelId": servertest.Owner.String(), "moderatorId": servertest.Moderator.String(), "clientId": "",
			"unbannedUserId": servertest.Raider.String(), "unbannedUserDisplayName": `Loot "Goblin" 77`,
			"unbannedAt": start.Add(time.Second).String(), "reason": "spam", "expiresAt": start.Add(time.Second).String(), "batchId": nil, "cause": "expired", "endReason": nil,
		}}
		if diff := cmp.Diff(want, d.ends()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestNewBanAnnouncesLapsedBanFirst(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.banFor(servertest.Moderator, servertest.Raider, 1, "")
		d.Store.Clock.Freeze(start.Add(time.Second))
		second := d.mustBan(servertest.Owner, servertest.Raider)
		if at := instant.OfProto(second.GetBannedAt()); at != start.Add(time.Second) || second.GetModeratorId() != servertest.Owner.String() {
			t.Errorf("the second ban is %v", second)
		}
		if err := newExpirer(d).ExpireBans(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.wantEvents("channel.ban", "channel.chat.clear_user_messages", "channel.unban", "channel.ban", "channel.chat.clear_user_messages")
		if cause := d.ends()[0]["cause"]; cause != "expired" {
			t.Errorf("the first ban ended by %v", cause)
		}
	})
}

// TestSweepOfManyBansOfOneChannel has more bans lapse at once than one transaction handles.
func TestSweepOfManyBansOfOneChannel(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		for range 150 {
			d.banFor(servertest.Owner, d.newUser(), 60, "")
		}
		d.Store.Clock.Freeze(start.Add(time.Minute))
		for late := time.Now().Add(10 * time.Second); len(d.ends()) < 150; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%d lapses were announced", len(d.ends()))
			}
		}
	})
}

// newUser adds a user.
func (d *drive) newUser() uid.ID {
	d.t.Helper()
	return servertest.AddUsers(d.t, d.Store, 1)[0]
}

// TestTermsInResponses requests bans and mutes over REST. Only a request with a reason or a
// duration has them in its response.
func TestTermsInResponses(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		at := func(after time.Duration) string { return start.Add(after).String() }
		users := servertest.AddUsers(t, d.Store, 8)
		for i, c := range []struct {
			path, user, fields string
			want               map[string]any
		}{
			{"ban", users[0].String(), ``, map[string]any{}},
			{"ban", users[1].String(), `,"reason":" a \u0301 "`, map[string]any{"reason": "a \u0301", "expiresAt": nil}},
			{"ban", users[2].String(), `,"durationSeconds":1209600`, map[string]any{"reason": nil, "expiresAt": at(14 * 24 * time.Hour)}},
			{"ban", users[2].String(), `,"durationSeconds":1,"reason":"again"`, map[string]any{"reason": nil, "expiresAt": at(14 * 24 * time.Hour)}},
			{"ban", users[2].String(), `,"durationSeconds":60`, map[string]any{"reason": nil, "expiresAt": at(14 * 24 * time.Hour)}},
			{"ban", users[0].String(), ``, map[string]any{"reason": nil, "expiresAt": nil}},
			{"ban", users[0].String(), `,"durationSeconds":1`, map[string]any{"reason": nil, "expiresAt": nil}},
			{"mute", users[3].String(), ``, map[string]any{"muteExpiresAt": at(10 * time.Minute)}},
			{"mute", users[4].String(), `,"durationSeconds":1`, map[string]any{"muteExpiresAt": at(time.Second), "reason": nil, "expiresAt": at(time.Second)}},
			{"mute", users[5].String(), `,"reason":"` + strings.Repeat("é", 500) + `"`,
				map[string]any{"muteExpiresAt": at(10 * time.Minute), "reason": strings.Repeat("é", 500), "expiresAt": at(10 * time.Minute)}},
		} {
			field := map[string]string{"ban": "banUserId", "mute": "mutedUserId"}[c.path]
			r := d.REST(t, d.creds[servertest.Moderator], "POST", "/v1/moderation/"+c.path, channelBody(`"`+field+`":"`+c.user+`"`+c.fields))
			var body struct{ Data map[string]any }
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != 200 {
				t.Fatalf("%d: %d %s", i, r.Status, r.Body)
			}
			got := map[string]any{}
			for _, name := range []string{"reason", "expiresAt", "muteExpiresAt"} {
				if value, has := body.Data[name]; has {
					got[name] = value
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%d (-want +got):\n%s", i, diff)
			}
		}
		for _, c := range []struct{ fields, field string }{
			{`"reason":""`, "reason"}, {`"reason":" "`, "reason"}, {`"reason":"a\u0007"`, "reason"}, {`"reason":"` + strings.Repeat("é", 501) + `"`, "reason"},
			{`"durationSeconds":0`, "durationSeconds"}, {`"durationSeconds":1209601`, "durationSeconds"}, {`"durationSeconds":-1`, "durationSeconds"},
			{`"durationSeconds":1.5`, "durationSeconds"}, {`"durationSeconds":"1"`, "durationSeconds"},
		} {
			for path, field := range map[string]string{"ban": "banUserId", "mute": "mutedUserId"} {
				r := d.REST(t, d.creds[servertest.Moderator], "POST", "/v1/moderation/"+path, channelBody(`"`+field+`":"`+users[7].String()+`",`+c.fields))
				if r.Status != 400 || !strings.Contains(r.Body, `"violations":[{"field":"`+c.field+`"`) {
					t.Errorf("%s with %.40s: got %d %s", path, c.fields, r.Status, r.Body)
				}
			}
		}
		if d.standing(users[7]).GetIsBanned() || !d.standing(users[7]).GetCanPost() {
			t.Error("an invalid request changed something")
		}
	})
}

// TestTermsInListsAndEvents bans and mutes with terms, and reads them where they are shown.
func TestTermsInListsAndEvents(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		end := start.Add(time.Minute).String()
		d.banFor(servertest.Moderator, servertest.Raider, 60, "spam")
		_, err := d.Moderation.MuteUser(d.creds[servertest.Owner].Context(), &moderatov1.MuteUserRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: servertest.Viewer.String(), DurationSeconds: new(int64(60)), Reason: new("caps"),
		})
		wantReason(t, err, "OK")
		wantReason(t, d.unmute(servertest.Moderator, servertest.Viewer), "OK")
		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")
		want := map[string]map[string]any{
			"channel.ban":    {"reason": "spam", "expiresAt": end, "batchId": nil, "cause": "moderator"},
			"channel.mute":   {"reason": "caps", "expiresAt": end, "batchId": nil, "cause": "moderator"},
			"channel.unmute": {"reason": "caps", "expiresAt": end, "batchId": nil, "cause": "moderator"},
			"channel.unban":  {"reason": "spam", "expiresAt": end, "batchId": nil, "cause": "moderator"},
		}
		for _, e := range d.events() {
			for name, value := range want[e.Type] {
				if got := payload(t, e)[name]; got != value {
					t.Errorf("%s: %s is %v, want %v", e.Type, name, got, value)
				}
			}
			delete(want, e.Type)
		}
		if len(want) > 0 {
			t.Errorf("no events %v", want)
		}
		r := d.REST(t, d.creds[servertest.Owner], "GET", "/v1/moderation/log?channelId="+servertest.Owner.String(), "")
		var body struct {
			Data struct{ Rows []map[string]any }
		}
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatal(err)
		}
		for _, row := range body.Data.Rows {
			reason, has := row["reason"]
			isSanction := row["type"] == "channel.ban" || row["type"] == "channel.mute"
			if has != isSanction || (has && (reason != row["payload"].(map[string]any)["reason"] || row["expiresAt"] != end || row["batchId"] != nil)) {
				t.Errorf("the log has %v", row)
			}
		}
		d.banFor(servertest.Moderator, servertest.Raider, 60, "spam")
		r = d.REST(t, d.creds[servertest.Owner], "GET", "/v1/channels/banned-users", "")
		if !strings.Contains(r.Body, `"bannedBy":{"id":"`+servertest.Moderator.String()) || !strings.Contains(r.Body, `"reason":"spam","expiresAt":"`+end+`"`) {
			t.Errorf("the list is %s", r.Body)
		}
	})
}

func (d *drive) unmute(as, user uid.ID) error {
	_, err := d.Moderation.RemoveMute(d.creds[as].Context(), &moderatov1.RemoveMuteRequest{
		ChannelId: servertest.Owner.String(), MutedUserId: user.String(),
	})
	return err
}

func TestRemoveMute(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		wantReason(t, d.unmute(servertest.Moderator, servertest.Raider), "NOT_MUTED")
		wantReason(t, d.unmute(servertest.Moderator, servertest.Nobody), "NOT_MUTED")
		wantReason(t, d.unmute(servertest.Viewer, servertest.Raider), "NOT_CHANNEL_MODERATOR")
		d.mustPost(servertest.Raider, "before")
		d.mustMute(servertest.Moderator, servertest.Raider)
		wantReason(t, d.unmute(servertest.Owner, servertest.Raider), "OK")
		wantReason(t, d.unmute(servertest.Owner, servertest.Raider), "NOT_MUTED")
		d.mustPost(servertest.Raider, "after")
		d.wantVisible("after")
		d.mustMute(servertest.Moderator, servertest.Raider)
		d.Store.Clock.Freeze(start.Add(10 * time.Minute))
		wantReason(t, d.unmute(servertest.Owner, servertest.Raider), "NOT_MUTED")
		if err := newExpirer(d).ExpireMutes(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.wantEvents("channel.mute", "channel.chat.clear_user_messages", "channel.unmute",
			"channel.mute", "channel.chat.clear_user_messages", "channel.mute.expire")
	})
}

// TestTimedBanAndUnmuteSurviveLostCommit loses the connection in COMMIT. The retry must
// neither repeat the change nor report it as impossible.
func TestTimedBanAndUnmuteSurviveLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.mustMute(servertest.Owner, servertest.Viewer)
		for _, cut := range []storetest.Cut{storetest.BeforeCommit, storetest.AfterCommit} {
			cutter.CutNext("server/change.", cut)
			user := d.newUser()
			if ban := d.banFor(servertest.Owner, user, 60, "spam"); ban.GetTerms().GetReason() != "spam" {
				t.Errorf("the ban is %v", ban)
			}
			d.Store.Clock.Advance(time.Minute)
			cutter.CutNext("server/change.", cut)
			for late := time.Now().Add(10 * time.Second); cutter.Made() == 0 && time.Now().Before(late); {
				time.Sleep(10 * time.Millisecond)
			}
		}
		cutter.CutNext("server/change.", storetest.AfterCommit)
		d.mustMute(servertest.Owner, servertest.Raider)
		cutter.CutNext("server/change.", storetest.AfterCommit)
		wantReason(t, d.unmute(servertest.Owner, servertest.Raider), "OK")
		if err := newExpirer(d).ExpireBans(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(d.ends()); n != 2 {
			t.Errorf("%d ends of 2 bans were announced", n)
		}
	})
}
