package moderation_test

import (
	"errors"

	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/apierr"

	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// wantMatched fails unless a preview matches exactly these users.
func (d *drive) wantMatched(what string, r *moderatov1.PreviewSweepResponse, want ...uid.ID) {
	d.t.Helper()
	got := map[string]bool{}
	for _, row := range r.GetSample() {
		got[row.GetUserId()] = true
	}
	missing := len(got) != len(want) || int(r.GetMatched()) != len(want)
	for _, id := range want {
		missing = missing || !got[id.String()]
	}
	if missing {
		d.t.Errorf("%s: matched %d users %v, want %v", what, r.GetMatched(), r.GetSample(), want)
	}
}

// TestSweepConditions previews a sweep for each condition, and for all of them.
func TestSweepConditions(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 6)
		old, regular, disguised, innocent, follower, deleted := users[0], users[1], users[2], users[3], users[4], users[5]
		d.mustPost(old, "free sub")       // too long ago
		d.mustPost(regular, "hello")      // the first message
		d.mustPost(deleted, "free sub !") // becomes invisible
		d.Store.Clock.Freeze(start.Add(2 * time.Minute))
		d.mustPost(regular, "a free sub")
		d.mustPost(disguised, "ｆrее ѕub")
		d.mustPost(innocent, "free subscribers")
		d.mustPost(deleted, "free sub")
		d.mustMute(servertest.Owner, deleted)
		d.follow(follower, 30*time.Second)
		d.follow(disguised, 30*time.Second)
		d.follow(regular, time.Hour)
		pattern := func(text string) func(*moderatov1.PreviewSweepRequest) {
			return func(r *moderatov1.PreviewSweepRequest) { r.Phrase, r.Pattern = nil, &text }
		}
		first := func(r *moderatov1.PreviewSweepRequest) { r.FirstMessageWithinSeconds = new(int64(60)) }
		before := len(d.events())
		d.wantMatched("phrase", d.mustPreview(), regular, disguised)
		d.wantMatched("pattern", d.mustPreview(pattern(`free sub\w+`)), innocent)
		d.wantMatched("phrase and window", d.mustPreview(func(r *moderatov1.PreviewSweepRequest) { r.WithinSeconds = new(int64(120)) }), old, regular, disguised)
		d.wantMatched("follow", d.mustPreview(noText, followed(60)), follower, disguised)
		d.wantMatched("first message", d.mustPreview(noText, first), disguised, innocent)
		d.wantMatched("phrase and follow", d.mustPreview(followed(60)), disguised)
		d.wantMatched("phrase and first message", d.mustPreview(first), disguised)
		d.wantMatched("all", d.mustPreview(first, followed(29)))
		r := d.mustPreview(followed(60))
		want := &moderatov1.SweepMatch{
			UserId: disguised.String(), Username: "u" + strings.ReplaceAll(disguised.String(), "-", ""), DisplayName: r.GetSample()[0].GetDisplayName(),
			Message: &moderatov1.UserMessage{MessageId: r.GetSample()[0].GetMessage().GetMessageId(), Message: "ｆrее ѕub", CreatedAt: start.Add(2 * time.Minute).Proto()},
		}
		if diff := cmp.Diff(want, r.GetSample()[0], protocmp.Transform()); diff != "" {
			t.Errorf("the sample (-want +got):\n%s", diff)
		}
		if want := start.Add(7 * time.Minute).Proto(); !cmp.Equal(want, r.GetExpiresAt(), protocmp.Transform()) {
			t.Errorf("the token expires at %v, want %v", r.GetExpiresAt(), want)
		}
		if d.mustPreview(noText, followed(60)).GetSample()[0].GetMessage() != nil {
			t.Error("a sweep without a condition about messages shows one")
		}
		if len(d.events()) != before {
			t.Error("a preview emitted events")
		}
	})
}

// TestSweepExemptions previews a sweep that meets users with every exemption.
func TestSweepExemptions(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 8)
		raider, vip, og, subscriber, former, longAgo, recent, banned := users[0], users[1], users[2], users[3], users[4], users[5], users[6], users[7]
		d.role(vip, "vip")
		d.role(og, "og")
		d.role(vip, "og") // counts as a VIP
		for _, id := range append(users, servertest.Owner, servertest.Moderator) {
			d.mustPost(id, "free sub")
		}
		d.mustBan(servertest.Owner, banned)
		d.follow(longAgo, 8*24*time.Hour)
		d.follow(recent, 6*24*time.Hour)
		now, _ := d.Store.Clock.Now(t.Context(), d.Store.Read)
		for id, ends := range map[uid.ID]time.Duration{subscriber: time.Hour, former: -time.Second} {
			d.write(func(tx *ent.Tx) error {
				return tx.Subscription.Create().SetChannelID(servertest.Owner).SetUserID(id).SetSubscribedAt(now.Add(-time.Hour)).
					SetExpiresAt(now.Add(ends)).SetIsActive(true).SetRenewCount(1).SetStreakCount(1).Exec(t.Context())
			})
		}
		r := d.mustPreview()
		d.wantMatched("default", r, raider, former, recent)
		want := &moderatov1.SweepExemptions{Owner: 1, Moderators: 1, Vips: 1, Ogs: 1, Subscribers: 1, Followers: 1}
		if diff := cmp.Diff(want, r.GetExempted(), protocmp.Transform()); diff != "" {
			t.Errorf("exempted (-want +got):\n%s", diff)
		}
		r = d.mustPreview(func(r *moderatov1.PreviewSweepRequest) {
			r.ExemptSubscribers, r.ExemptFollowersOlderThanSeconds = new(false), new(int64(5*24*3600))
		})
		d.wantMatched("changed", r, raider, former, subscriber)
		if e := r.GetExempted(); e.GetSubscribers() != 0 || e.GetFollowers() != 2 {
			t.Errorf("exempted %v", e)
		}
	})
}

// TestInvalidSweeps sends previews and commits that are refused and change nothing.
func TestInvalidSweeps(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := d.raid(2, "free sub")
		token := d.mustPreview().GetSweepToken()
		byFollow := d.mustPreview(noText, followed(60)).GetSweepToken()
		used := d.mustPreview(followed(60)).GetSweepToken() // matches nobody
		if _, err := d.commit(servertest.Owner, used); err != nil {
			t.Fatal(err)
		}
		before := servertest.Dump(t, d.Store, "channel_counts", "channel_count_deltas")
		field := func(name string) string { return `"field":"` + name + `"` }
		for _, c := range []struct {
			path, fields string
			status       int
			want         string
		}{
			{sweepsPath, `"withinSeconds":60`, 400, field("phrase")},
			{sweepsPath, `"phrase":"x"`, 400, field("withinSeconds")},
			{sweepsPath, `"phrase":"x","withinSeconds":0`, 400, field("withinSeconds")},
			{sweepsPath, `"phrase":"x","withinSeconds":3601`, 400, field("withinSeconds")},
			{sweepsPath, `"phrase":"","withinSeconds":60`, 400, field("phrase")},
			{sweepsPath, `"phrase":"` + strings.Repeat("x", 501) + `","withinSeconds":60`, 400, field("phrase")},
			{sweepsPath, `"phrase":"x","pattern":"x","withinSeconds":60`, 400, field("pattern")},
			{sweepsPath, `"pattern":"(free","withinSeconds":60`, 400, field("pattern") + `,"description":"does not compile`},
			{sweepsPath, `"pattern":"` + strings.Repeat("x", 501) + `","withinSeconds":60`, 400, field("pattern")},
			{sweepsPath, `"pattern":".*","withinSeconds":60`, 400, field("pattern")},
			{sweepsPath, `"followedWithinSeconds":0,"withinSeconds":60`, 400, field("followedWithinSeconds")},
			{sweepsPath, `"firstMessageWithinSeconds":1209601,"withinSeconds":60`, 400, field("firstMessageWithinSeconds")},
			{sweepsPath, `"phrase":"x","withinSeconds":60,"exemptFollowersOlderThanSeconds":-1`, 400, field("exemptFollowersOlderThanSeconds")},
			{commitPath, `"reason":"x"`, 400, field("sweepToken")},
			{commitPath, `"sweepToken":"` + token + `","reason":"` + strings.Repeat("x", 501) + `"`, 400, field("reason")},
			{commitPath, `"sweepToken":"` + token + `","durationSeconds":0`, 400, field("durationSeconds")},
			{commitPath, `"sweepToken":"` + token + `","durationSeconds":1209601`, 400, field("durationSeconds")},
			{commitPath, `"sweepToken":"` + token + `","afterglowSeconds":601`, 400, field("afterglowSeconds")},
			{commitPath, `"sweepToken":"` + byFollow + `","afterglowSeconds":1`, 400, field("afterglowSeconds")},
			{commitPath, `"sweepToken":"unknown"`, 404, `"code":"SWEEP_NOT_FOUND"`},
			{commitPath, `"sweepToken":"` + used + `"`, 409, `"code":"SWEEP_EXPIRED"`}, // by another user
		} {
			r := d.REST(t, d.creds[servertest.Moderator], "POST", c.path, channelBody(c.fields))
			if r.Status != c.status || !strings.Contains(r.Body, c.want) {
				t.Errorf("%.120s: got %d %.300s, want %d %s", c.fields, r.Status, r.Body, c.status, c.want)
			}
		}
		_, err := d.Moderation.CommitSweep(d.creds[servertest.Other].Context(),
			&moderatov1.CommitSweepRequest{ChannelId: servertest.Other.String(), SweepToken: token})
		wantReason(t, err, "SWEEP_NOT_FOUND") // of another channel
		_, err = d.preview(servertest.Viewer)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		_, err = d.commit(servertest.Viewer, token)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		d.Store.Clock.Freeze(start.Add(5 * time.Minute))
		_, err = d.commit(servertest.Moderator, token)
		wantReason(t, err, "SWEEP_EXPIRED")
		if diff := cmp.Diff(before, servertest.Dump(t, d.Store, "channel_counts", "channel_count_deltas")); diff != "" {
			t.Errorf("a refused call changed rows (-before +after):\n%s", diff)
		}
		if d.standing(users[0]).GetIsBanned() {
			t.Error("a user is banned")
		}
	})
}

// TestPreviewsOfUserAreBounded makes more previews than a user can commit, beside one of
// another moderator.
func TestPreviewsOfUserAreBounded(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.raid(2, "free sub")
		start := frozen(t, d)
		of := func(i int, user uid.ID) string {
			d.Store.Clock.Freeze(start.Add(time.Duration(i) * time.Second))
			r, err := d.preview(user)
			if err != nil {
				t.Fatal(err)
			}
			return r.GetSweepToken()
		}
		other := of(0, servertest.Owner)
		var tokens []string
		for i := range 7 {
			tokens = append(tokens, of(i+1, servertest.Moderator))
		}
		d.wantChunks(6)
		for _, ended := range tokens[:2] {
			_, err := d.commit(servertest.Moderator, ended)
			wantReason(t, err, "SWEEP_EXPIRED")
		}
		if got := d.mustCommit(tokens[2]).GetCounts().GetBanned(); got != 2 {
			t.Errorf("the earliest that is left bans %d users, want 2", got)
		}
		d.mustCommit(other)
	})
}

// TestSweepLimits examines as much as a sweep may, and more.
func TestSweepLimits(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		for _, id := range d.raid(10, "free sub") {
			d.follow(id, time.Second)
		}
		d.raid(2, "hello")
		messages := &moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), Phrase: new("free sub"), WithinSeconds: new(int64(60))}
		follows := &moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), FollowedWithinSeconds: new(int64(60)), WithinSeconds: new(int64(60))}
		for _, c := range []struct {
			what        string
			req         *moderatov1.PreviewSweepRequest
			rows, users int
			time        time.Duration
			isTooLarge  bool
		}{
			{"messages at the limits", messages, 12, 10, time.Minute, false},
			{"too many messages", messages, 11, 10, time.Minute, true},
			{"too many users", messages, 12, 9, time.Minute, true},
			{"too slow", messages, 12, 10, time.Nanosecond, true},
			{"follows at the limits", follows, 10, 10, time.Minute, false},
			{"too many follows", follows, 9, 10, time.Minute, true},
		} {
			n, err := moderation.FindSweep(t.Context(), d.Store, c.req, c.rows, c.users, c.time)
			if isTooLarge := errors.Is(err, apierr.New(moderatov1.Reason_REASON_SWEEP_TOO_LARGE)); isTooLarge != c.isTooLarge || (err == nil && n != 10) {
				t.Errorf("%s: got %d users and %v", c.what, n, err)
			}
		}
	})
}
