package moderation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestAfterglow posts during and after the afterglow of a sweep, as users of every kind.
func TestAfterglow(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 7)
		vip, og, follower, innocent, late, later, replier := users[0], users[1], users[2], users[3], users[4], users[5], users[6]
		d.role(vip, "vip")
		d.role(og, "og")
		d.follow(follower, 8*24*time.Hour)
		d.raid(1, "free sub")
		d.mustPost(late, "hello")
		token := d.mustPreview().GetSweepToken()
		wantReason(t, d.post(replier, "free sub"), "OK") // no afterglow yet
		r := d.mustCommit(token, glowing(60), func(r *moderatov1.CommitSweepRequest) { r.Reason, r.DurationSeconds = new("raid"), new(int64(3600)) })
		for _, id := range []uid.ID{servertest.Owner, servertest.Moderator, vip, og, follower} {
			wantReason(t, d.post(id, "free sub"), "OK")
		}
		wantReason(t, d.post(innocent, "free subscribers"), "OK")
		before := len(d.events())
		joined := start.Add(time.Minute - 1)
		d.Store.Clock.Freeze(joined)
		wantReason(t, d.post(late, "ｆrее ѕub"), "USER_BANNED")
		wantReason(t, d.post(late, "hello"), "USER_BANNED")
		events := d.events()[before:]
		if len(events) != 2 {
			t.Fatalf("there are %d events", len(events))
		}
		fields := payload(t, events[0])
		if fields["batchId"] != r.GetBatchId() || fields["cause"] != "batch" || fields["moderatorId"] != servertest.Moderator.String() ||
			fields["bannedUserId"] != late.String() || fields["reason"] != "raid" || fields["expiresAt"] != joined.Add(time.Hour).String() {
			t.Errorf("the event is %v", fields)
		}
		bot := d.As(t, servertest.Viewer)
		response := d.REST(t, bot, "POST", "/v1/chats/messages", channelBody(`"message":"FREE SUB"`))
		if response.Status != 403 || !strings.Contains(response.Body, "USER_BANNED") || !d.standing(servertest.Viewer).GetIsBanned() {
			t.Errorf("a post over REST: %d %s", response.Status, response.Body)
		}
		d.wantGlow(new(start.Add(time.Minute)))
		d.Store.Clock.Freeze(start.Add(time.Minute))
		d.wantGlow(nil)
		wantReason(t, d.post(later, "free sub"), "OK")
		undone := d.undo(r.GetBatchId(), true)
		if undone.GetCounts().GetUnbanned() != 3 || undone.GetResults()[1].GetUserId() != late.String() {
			t.Errorf("the undo returns %v", undone)
		}
	})
}

// wantGlow compares when the afterglow of the only batch ends, as the owner reads it; nil if none is
// running.
func (d *drive) wantGlow(want *instant.Instant) {
	d.t.Helper()
	list, err := d.Moderation.ListBanBatches(d.creds[servertest.Owner].Context(), &moderatov1.ListBanBatchesRequest{ChannelId: servertest.Owner.String()})
	if err != nil || len(list.GetRows()) != 1 {
		d.t.Fatalf("the list is %v (%v)", list, err)
	}
	at := list.GetRows()[0].GetAfterglowEndsAt()
	if (at == nil) != (want == nil) || at != nil && instant.OfProto(at) != *want {
		d.t.Errorf("the afterglow ends at %v, want %v", at, want)
	}
}

// TestAfterglowOfFullBatchBansNobody posts when the batch of a sweep lacks one user, and when
// it is full: the post is refused, and its sender is not banned.
func TestAfterglowOfFullBatchBansNobody(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 2)
		last, further := users[0], users[1]
		d.raid(1, "free sub")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(60))
		batch := uid.MustParse(r.GetBatchId())
		d.write(func(tx *ent.Tx) error {
			return tx.BanBatch.UpdateOneID(batch).SetBannedCount(moderation.MaxAfterglowBatch - 1).Exec(t.Context())
		})
		wantReason(t, d.post(last, "free sub"), "USER_BANNED")
		before := len(d.events())
		wantReason(t, d.post(further, "free sub"), "USER_BANNED")
		if !d.standing(last).GetIsBanned() || d.standing(further).GetIsBanned() || len(d.events()) != before {
			t.Errorf("the last user is banned: %t; a further one: %t, with %d events", d.standing(last).GetIsBanned(),
				d.standing(further).GetIsBanned(), len(d.events())-before)
		}
		if n := storetest.Must(d.Store.Read.BanBatch.Get(t.Context(), batch)).BannedCount; n != moderation.MaxAfterglowBatch {
			t.Errorf("the batch has %d users", n)
		}
		d.Store.Clock.Freeze(start.Add(time.Minute))
		wantReason(t, d.post(further, "free sub"), "OK")
	})
}

// TestAfterglowOutlastsBans has an afterglow that is longer than the bans of its sweep: a ban
// that joins the batch begins with the post, and lasts as long as the others.
func TestAfterglowOutlastsBans(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		late := servertest.AddUsers(t, d.Store, 1)[0]
		d.raid(1, "free sub")
		d.mustPost(late, "hello")
		r := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(60), func(r *moderatov1.CommitSweepRequest) { r.DurationSeconds = new(int64(10)) })
		joined := start.Add(30 * time.Second)
		d.Store.Clock.Freeze(joined)
		wantReason(t, d.post(late, "free sub"), "USER_BANNED")
		d.Store.Clock.Freeze(joined.Add(10*time.Second - time.Millisecond))
		wantReason(t, d.post(late, "why"), "USER_BANNED")
		d.wantGlow(new(start.Add(time.Minute)))
		if undone := d.undo(r.GetBatchId(), true); undone.GetCounts().GetUnbanned() != 1 {
			t.Errorf("the undo returns %v", undone)
		}
		d.wantGlow(nil)
		d.wantVisible("hello")
	})
}

// TestAfterglowOnAnotherServer posts to a server whose index of afterglows is older than the
// sweep, and younger.
func TestAfterglowOnAnotherServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first, second := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		a, other := newDrive(t, first), newDrive(t, second)
		a.raid(1, "free sub")
		users := servertest.AddUsers(t, a.Store, 2)
		r := a.mustCommit(a.mustPreview().GetSweepToken(), glowing(600))
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if reason(other.post(users[0], "free sub")) == "USER_BANNED" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the other server does not know of the afterglow")
			}
		}
		a.undo(r.GetBatchId(), false)
		// The other server may not know of the undo yet, but the database does.
		wantReason(t, other.post(users[1], "free sub"), "OK")
	})
}

// TestExemptPostsDoNotWaitForTheChannel posts as a user who is exempt from an afterglow while
// another transaction holds the channel.
func TestExemptPostsDoNotWaitForTheChannel(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		follower := servertest.AddUsers(t, d.Store, 1)[0]
		d.follow(follower, 8*24*time.Hour)
		d.raid(1, "free sub")
		d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
		release := d.lockChannel(t)
		posted := make(chan error, 1)
		go func() { posted <- d.post(follower, "free sub") }()
		select {
		case err := <-posted:
			wantReason(t, err, "OK")
		case <-time.After(5 * time.Second):
			t.Error("the post waits for the channel")
			release()
			wantReason(t, <-posted, "OK")
		}
	})
}

// TestAfterglowNeedsTheCallersToken posts a message that an afterglow forbids, with a token that
// was revoked and that the server may still have in its memory. The sender is not banned.
func TestAfterglowNeedsTheCallersToken(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		first, second := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		first.Load(t, servertest.World()...)
		d := newDrive(t, first)
		d.raid(1, "free sub")
		d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
		viewer := d.As(t, servertest.Viewer)
		d.REST(t, viewer, "GET", "/v1/users/profile", "")
		if _, err := second.Access.RevokeToken(second.AsService(t).Context(), &platformv1.RevokeTokenRequest{Token: viewer.Token}); err != nil {
			t.Fatal(err)
		}
		if r := d.REST(t, viewer, "POST", "/v1/chats/messages", channelBody(`"message":"free sub"`)); r.Status != 401 || d.standing(servertest.Viewer).GetIsBanned() {
			t.Errorf("got %d %s, and the sender is banned: %t", r.Status, r.Body, d.standing(servertest.Viewer).GetIsBanned())
		}
	})
}

// TestAfterglowsOfChannelAreLimited begins more afterglows in a channel than a server handles.
// The one that ends first has no effect.
func TestAfterglowsOfChannelAreLimited(t *testing.T) {
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	d := newDrive(t, s)
	const limit = 20
	phrase := func(i int) string { return "offer " + string(rune('a'+i)) }
	for i := range limit + 1 {
		token := d.mustPreview(func(r *moderatov1.PreviewSweepRequest) { r.Phrase = new(phrase(i)) }).GetSweepToken()
		d.mustCommit(token, glowing(int64(500+i)))
	}
	for i, user := range servertest.AddUsers(t, d.Store, limit+1) {
		want := "USER_BANNED"
		if i == 0 {
			want = "OK"
		}
		wantReason(t, d.post(user, phrase(i)), want)
	}
}

// TestRefreshesOfAfterglowsEnd refreshes the afterglows while an earlier refresh hangs. Both
// end: the later one with its context.
func TestRefreshesOfAfterglowsEnd(t *testing.T) {
	t.Parallel()
	url, gate := storetest.SQLite(t), &storetest.Gate{}
	storetest.Migrate(t, url)
	s, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	defer gate.Open()
	a := moderation.NewAfterglows(s, moderation.NewSweeps())
	held, first, second := gate.Shut("afterglow_until"), make(chan error, 1), make(chan error, 1)
	go func() { first <- a.Refresh(context.Background()) }()
	<-held
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		second <- a.Refresh(ctx)
	}()
	for _, c := range []struct {
		name   string
		ended  chan error
		within time.Duration
	}{{"the second refresh", second, 4 * time.Second}, {"the first refresh", first, 15 * time.Second}} {
		select {
		case err := <-c.ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v", c.name, err)
			}
		case <-time.After(c.within):
			t.Errorf("%s hangs", c.name)
		}
	}
}

// TestBannedPostsSayUntilWhen posts over REST as users with a permanent ban, with a timed one,
// and as one whom an afterglow bans.
func TestBannedPostsSayUntilWhen(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.creds[servertest.Raider] = d.As(t, servertest.Raider)
		post := func(as uid.ID, expiresAt, text string) {
			t.Helper()
			r := d.REST(t, d.creds[as], "POST", "/v1/chats/messages", channelBody(`"message":"free sub"`))
			if r.Status != 403 || !strings.Contains(r.Body, `"code":"USER_BANNED"`) || !strings.Contains(r.Body, `"expiresAt":`+expiresAt) || !strings.Contains(r.Body, text) {
				t.Errorf("%d %s, want %s", r.Status, r.Body, expiresAt)
			}
		}
		d.mustBan(servertest.Owner, servertest.Raider)
		post(servertest.Raider, "null", "can remove the ban")
		hour := start.Add(time.Hour).String()
		d.replaceBan(servertest.Owner, servertest.Raider, 3600)
		post(servertest.Raider, `"`+hour+`"`, "until "+hour)
		d.raid(1, "free sub")
		d.mustCommit(d.mustPreview().GetSweepToken(), glowing(60), func(r *moderatov1.CommitSweepRequest) { r.DurationSeconds = new(int64(3600)) })
		post(servertest.Viewer, `"`+hour+`"`, "until "+hour)
		post(servertest.Viewer, `"`+hour+`"`, "until "+hour)
	})
}
