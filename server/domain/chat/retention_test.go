package chat_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const keep = 40 * 24 * time.Hour

// retain removes old messages until the round has ended, and returns the number of batches.
func retain(t *testing.T, s *store.Store) (batches int) {
	t.Helper()
	r := newRetention(t, s)
	for more := true; more; batches++ {
		var err error
		if more, err = r.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return batches
}

func newRetention(t *testing.T, s *store.Store) *chat.Retention {
	t.Helper()
	r := chat.NewRetention(s, slog.New(slog.DiscardHandler), keep)
	t.Cleanup(func() { r.Job().Stop(context.WithoutCancel(t.Context())) })
	return r
}

// release ends the leases, so that another server need not wait for their end.
func release(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.DB().Exec("UPDATE retentions SET expires_at = 0"); err != nil {
		t.Fatal(err)
	}
}

func sent(channel, user uid.ID, at instant.Instant) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
		Id: uid.New().String(), ChannelId: channel.String(), UserId: user.String(), Text: "old", SentAt: at.Proto(),
	}}}
}

// first returns when a user first posted in the channel.
func first(t *testing.T, s *store.Store, user uid.ID) string {
	t.Helper()
	at := storetest.Must(chat.FirstOf(t.Context(), s, servertest.Owner, user))
	if at == nil {
		return "never"
	}
	return at.String()
}

// TestRetentionRemovesOldMessages removes more than a batch of the messages of one channel, and
// some of another. A message that is as old as messages are kept stays.
func TestRetentionRemovesOldMessages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		start := now(t, s.Store)
		s.Store.Clock.Freeze(start)
		old := start.Add(-keep - time.Second)
		var records []*platformv1.Record
		for i := range 450 {
			records = append(records, sent(servertest.Owner, servertest.Viewer, old.Add(-time.Duration(i)*time.Minute)))
		}
		records = append(records, sent(servertest.Owner, servertest.Viewer, start.Add(-keep)), sent(servertest.Other, servertest.Raider, old))
		servertest.Import(t, s.Store, records...)
		if batches := retain(t, s.Store); batches != 3 {
			t.Errorf("%d batches, want 3", batches)
		}
		if viewer, raider := rows(t, s.Store, servertest.Viewer), rows(t, s.Store, servertest.Raider); viewer != 1 || raider != 0 {
			t.Errorf("%d and %d messages are left, want 1 and 0", viewer, raider)
		}
		if got, want := first(t, s.Store, servertest.Viewer), old.Add(-449*time.Minute).String(); got != want {
			t.Errorf("the first message was posted at %s, want %s", got, want)
		}

		s.Store.Clock.Freeze(start.Add(59 * time.Minute))
		earlier := old.Add(-1000 * time.Hour)
		servertest.Import(t, s.Store, sent(servertest.Owner, servertest.Viewer, earlier))
		if retain(t, s.Store); rows(t, s.Store, servertest.Viewer) != 2 {
			t.Error("a round began within an hour of another")
		}
		s.Store.Clock.Freeze(start.Add(time.Hour))
		if retain(t, s.Store); rows(t, s.Store, servertest.Viewer) != 0 {
			t.Error("the next round left old messages")
		}
		if got := first(t, s.Store, servertest.Viewer); got != earlier.String() {
			t.Errorf("after an import of an earlier message the first is that of %s, want %s", got, earlier)
		}
	})
}

// TestRetentionGoesOnWhereItStopped ends a round after each batch, as the end of a server does. The
// next round continues.
func TestRetentionGoesOnWhereItStopped(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		start := now(t, s.Store)
		s.Store.Clock.Freeze(start)
		var records []*platformv1.Record
		for i := range 500 {
			records = append(records, sent([]uid.ID{servertest.Owner, servertest.Other}[i%2], servertest.Viewer, start.Add(-keep-time.Minute)))
		}
		servertest.Import(t, s.Store, records...)
		left := []int{}
		for more := true; more; left = append(left, rows(t, s.Store, servertest.Viewer)) {
			var err error
			if more, err = newRetention(t, s.Store).Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if other, err := newRetention(t, s.Store).Remove(t.Context()); other || err != nil {
				t.Fatalf("a second server removed messages at the same time: %v", err)
			}
			release(t, s.Store)
			s.Store.Clock.Advance(time.Second)
		}
		if fmt.Sprint(left) != "[300 100 0]" {
			t.Errorf("%v messages are left after each run", left)
		}
		if state := storetest.Must(s.Store.Read.Retention.Get(t.Context(), "messages")); state.DoneBefore != start.Add(-keep) || state.RoundAfter != nil {
			t.Errorf("the state is %v", state)
		}
	})
}

// TestRetentionKeepsThePinnedMessage has an old message that is pinned, and one to which another
// replies.
func TestRetentionKeepsThePinnedMessage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		moderator, viewer := s.As(t, servertest.Moderator), s.As(t, servertest.Viewer)
		kept, gone := data(t, post(t, s, viewer, ""))["messageId"], data(t, post(t, s, viewer, ""))["messageId"]
		if r := pin(t, s, moderator, kept); r.Status != 200 {
			t.Fatal(r.Body)
		}
		s.Store.Clock.Advance(keep - time.Hour)
		reply := data(t, post(t, s, viewer, fmt.Sprintf(`,"replyToMessageId":%q`, gone)))["messageId"]
		s.Store.Clock.Advance(2 * time.Hour)
		retain(t, s.Store)
		if got := listed(t, s, ""); fmt.Sprint(got) != fmt.Sprint([]any{reply, kept}) {
			t.Errorf("the messages are %v, want %v and %v", got, reply, kept)
		}
		if got, _ := pinned(t, s).(map[string]any); got["id"] != kept {
			t.Errorf("the pinned message is %v", got)
		}
		want(t, "a reply to it", post(t, s, viewer, fmt.Sprintf(`,"replyToMessageId":%q`, gone)), 400, "INVALID_ARGUMENT")
		want(t, "its deletion", remove(t, s, moderator, gone), 404, "MESSAGE_NOT_FOUND")
		want(t, "its pin", pin(t, s, moderator, gone), 404, "MESSAGE_NOT_FOUND")
	})
}

// TestPinDuringRetention has retention remove old messages after a call to pin one has found it.
func TestPinDuringRetention(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		var gate storetest.Gate
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		moderator, viewer := s.As(t, servertest.Moderator), s.As(t, servertest.Viewer)
		post(t, s, viewer, "")
		id := data(t, post(t, s, viewer, ""))["messageId"]
		s.Store.Clock.Advance(keep + time.Hour)
		held := gate.Shut("`pinned_messages`")
		answer, removed := make(chan int, 1), make(chan error, 1)
		go func() { answer <- pin(t, s, moderator, id).Status }()
		<-held
		r := newRetention(t, s.Store)
		go func() { _, err := r.Remove(context.WithoutCancel(t.Context())); removed <- err }()
		select {
		case err := <-removed:
			t.Errorf("retention does not wait for the pin: %v", err)
		case <-time.After(200 * time.Millisecond): // it waits for the lock, at least soon
		}
		gate.Open()
		if status := <-answer; status != 200 {
			t.Errorf("the pin is answered with %d", status)
		}
		if !t.Failed() {
			if err := <-removed; err != nil {
				t.Error(err)
			}
		}
		if got, _ := pinned(t, s).(map[string]any); got["id"] != id {
			t.Errorf("the pinned message is %v", got)
		}
		if left := rows(t, s.Store, servertest.Viewer); left != 1 {
			t.Errorf("%d messages are left, want the pinned one", left)
		}
	})
}
