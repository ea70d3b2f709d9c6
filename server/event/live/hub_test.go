package live_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// messages stands for the rows of messages: which of them are deleted, and whether the
// database responds.
type messages struct {
	mu      sync.Mutex
	deleted map[uid.ID]bool
	checks  int
	err     error
}

func (m *messages) visible(_ context.Context, _ *store.Store, ids []uid.ID) (map[uid.ID]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks++
	visible := map[uid.ID]bool{}
	for _, id := range ids {
		visible[id] = !m.deleted[id]
	}
	return visible, m.err
}

func (m *messages) set(change func(*messages)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// open opens a migrated store.
func open(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	storetest.Migrate(t, url)
	s, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// run returns a Hub that runs until the test ends.
func run(t *testing.T, s *store.Store, m *messages) *live.Hub {
	t.Helper()
	h := live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), m.visible)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var all sync.WaitGroup
		all.Go(func() { h.Run(ctx) })
		all.Go(func() { outboxtest.RunJobs(ctx, s, h.Jobs()...) })
		all.Wait()
	}()
	t.Cleanup(func() { stop(); <-ended })
	return h
}

// listen returns a Listener of a channel.
func listen(t *testing.T, h *live.Hub, channelID uid.ID) *live.Listener {
	t.Helper()
	l := h.Listen(context.Background(), live.Type)
	t.Cleanup(l.Close)
	l.SetChannels([]uid.ID{channelID}, false)
	return l
}

func message(channelID uid.ID, text string) live.Message {
	id := uid.New()
	return live.Message{ID: id, ChannelID: channelID, Event: &moderatov1.Event{
		Metadata: &moderatov1.EventMetadata{MessageId: id.String(), SubscriptionType: live.Type},
		Payload:  &moderatov1.Event_ChatMessage{ChatMessage: &moderatov1.ChatMessageEvent{Message: text}},
	}}
}

// take waits for n messages, sent or missed, and returns the texts of those that are sent.
func take(t *testing.T, l *live.Listener, n int) (texts []string, missed int) {
	t.Helper()
	for late := time.After(10 * time.Second); len(texts)+missed < n; {
		b, m := l.Take()
		missed += int(m)
		if m > 0 && b == nil {
			continue
		}
		if b != nil {
			events, lost := b.Events(context.Background())
			missed += lost
			for _, e := range events {
				texts = append(texts, cmp.Or(e.GetChatMessage().GetMessage(), e.GetChatFlag().GetMessage(),
					e.GetChatHold().GetMessage(), e.GetChatHoldUpdate().GetMessageId()))
			}
			continue
		}
		select {
		case <-l.Wake:
		case <-late:
			t.Fatalf("got %q and missed %d, want %d in all", texts, missed, n)
		}
	}
	return texts, missed
}

// waitForBatch waits until a Listener has something to take.
func waitForBatch(t *testing.T, l *live.Listener) {
	t.Helper()
	select {
	case <-l.Wake:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing arrives")
	}
}

// TestBatchesAreCheckedAgainAfterADeletion deletes a message that a listener has not taken.
func TestBatchesAreCheckedAgainAfterADeletion(t *testing.T) {
	rows, channel, other := &messages{deleted: map[uid.ID]bool{}}, uid.New(), uid.New()
	h := run(t, open(t, storetest.SQLite(t)), rows)
	one, two := listen(t, h, channel), listen(t, h, channel)
	m := message(channel, "deleted")
	h.Post(m)
	waitForBatch(t, one)
	waitForBatch(t, two)
	rows.set(func(r *messages) { r.deleted[m.ID] = true })
	h.Deleted(channel, 1)
	h.Deleted(channel, 1) // as another listener reads it
	h.Deleted(other, 2)
	h.Post(message(channel, "next"))
	for _, l := range []*live.Listener{one, two} {
		if texts, _ := take(t, l, 1); !slices.Equal(texts, []string{"next"}) {
			t.Errorf("got %q", texts)
		}
	}
	if rows.checks != 3 {
		t.Errorf("%d checks, want one for each batch and one for both listeners", rows.checks)
	}
}

// TestSlowListenersLoseMessages has a listener take nothing while another takes all.
func TestSlowListenersLoseMessages(t *testing.T) {
	rows, channel := &messages{}, uid.New()
	h := run(t, open(t, storetest.SQLite(t)), rows)
	slow, fast := listen(t, h, channel), listen(t, h, channel)
	const n = 5000
	for i := range n {
		h.Post(message(channel, fmt.Sprint(i)))
		if i%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	texts, missed := take(t, fast, n)
	if fast := len(texts); fast > 0 && (missed > 0 || texts[fast-1] != fmt.Sprint(n-1)) {
		t.Logf("the fast listener got %d and missed %d", fast, missed) // on a busy machine
	}
	texts, missed = take(t, slow, n)
	if len(texts) > 2000 || len(texts)+missed != n {
		t.Errorf("the slow listener got %d and missed %d of %d", len(texts), missed, n)
	}
	for i, text := range texts {
		if text != fmt.Sprint(n-len(texts)+i) {
			t.Fatalf("got %s as message %d of the latest %d", text, i, len(texts))
		}
	}
}

// TestUncheckedMessagesAreLost has the database not respond.
func TestUncheckedMessagesAreLost(t *testing.T) {
	rows, channel := &messages{err: errors.New("gone")}, uid.New()
	h := run(t, open(t, storetest.SQLite(t)), rows)
	l := listen(t, h, channel)
	h.Post(message(channel, "unchecked"))
	if texts, missed := take(t, l, 1); missed != 1 {
		t.Errorf("got %q, missed %d", texts, missed)
	}
	rows.set(func(r *messages) { r.err = nil })
	h.Post(message(channel, "checked once"))
	waitForBatch(t, l)
	rows.set(func(r *messages) { r.err = errors.New("gone") })
	h.Deleted(channel, 1)
	if texts, missed := take(t, l, 1); missed != 1 {
		t.Errorf("got %q, missed %d", texts, missed)
	}
}

// TestServersPassMessagesOn has three servers, one of which stops and one of which starts
// late.
func TestServersPassMessagesOn(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		rows, channel, other := &messages{}, uid.New(), uid.New()
		s := open(t, url)
		one, two := run(t, s, rows), run(t, s, rows)
		l := listen(t, one, channel)
		for i := range 500 {
			two.Post(message(other, "not wanted"))
			two.Post(message(channel, fmt.Sprint(i)))
			if i%100 == 0 {
				time.Sleep(30 * time.Millisecond)
			}
		}
		texts, _ := take(t, l, 500)
		for i, text := range texts {
			if text != fmt.Sprint(i) {
				t.Fatalf("message %d is %q", i, text)
			}
		}
		late := listen(t, run(t, s, rows), channel)
		two.Post(message(channel, "now"))
		for _, l := range []*live.Listener{l, late} {
			if texts, _ := take(t, l, 1); texts[0] != "now" {
				t.Errorf("got %q", texts)
			}
		}
		// The rows of servers that were killed stay until they expire.
		s.Clock.Advance(5 * time.Minute)
		for _, table := range live.Tables {
			if _, err := table.Expire(tables.Env{Store: s}).Run(context.Background()); err != nil {
				t.Error(err)
			}
		}
		batches, err := s.Read.ChatBatch.Query().Count(context.Background())
		if err != nil || batches != 0 {
			t.Errorf("%d batches are left (%v)", batches, err)
		}
		servers, err := s.Read.ChatServer.Query().Count(context.Background())
		if err != nil || servers != 0 {
			t.Errorf("%d servers are left (%v)", servers, err)
		}
	})
}
