package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/natstest"
	"github.com/moderato-live/moderato/test/storetest"
)

// runOver returns a Hub that exchanges messages over a broker, and waits until it is connected
// unless the password is wrong.
func runOver(t testing.TB, s *store.Store, url string, isWritten ...func()) *live.Hub {
	t.Helper()
	h := live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), (&messages{}).visible)
	h.UseNATS(bus.Config{URL: url}, "chat", func() {
		for _, tell := range isWritten {
			tell()
		}
	}, prometheus.NewRegistry())
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.Run(ctx) })
	all.Go(func() { outboxtest.RunJobs(ctx, s, h.Jobs()...) })
	t.Cleanup(func() { stop(); all.Wait() })
	if !strings.Contains(url, "wrong") {
		waitUp(t, h)
	}
	return h
}

// waitUp waits until hubs are connected.
func waitUp(t testing.TB, all ...*live.Hub) {
	t.Helper()
	for late := time.Now().Add(10 * time.Second); slices.ContainsFunc(all, func(h *live.Hub) bool { return !h.IsUp() }); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("a hub does not connect")
		}
	}
}

// hear returns a Listener of channels, to which other servers pass on messages.
func hear(t testing.TB, h *live.Hub, channels ...uid.ID) *live.Listener {
	t.Helper()
	return hearType(t, h, live.Type, channels...)
}

// hearType is hear for the events of one type.
func hearType(t testing.TB, h *live.Hub, kind eventtype.Type, channels ...uid.ID) *live.Listener {
	t.Helper()
	l := h.Listen(context.Background(), kind)
	t.Cleanup(l.Close)
	l.SetChannels(channels, len(channels) == 0)
	l.Wait(t.Context())
	return l
}

// post posts messages with the texts first to last.
func post(h *live.Hub, channelID uid.ID, first, last int) {
	for i := first; i <= last; i++ {
		h.Post(message(channelID, fmt.Sprint(i)))
		time.Sleep(time.Millisecond)
	}
}

// wantRising fails unless texts are rising numbers.
func wantRising(t *testing.T, texts []string) {
	t.Helper()
	last := 0
	for _, text := range texts {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || n <= last {
			t.Fatalf("got %s after %d", text, last)
		}
		last = n
	}
}

// TestChatOverNATSUsesNoTable has two servers, one with listeners of a channel and of all. Other
// channels are not sent to the first.
func TestChatOverNATSUsesNoTable(t *testing.T) {
	b, channel, other := natstest.Start(t), uid.New(), uid.New()
	s, recorder := storetest.OpenRecorded(t, storetest.SQLite(t))
	from, to, all := runOver(t, s, b.URL()), runOver(t, s, b.URL()), runOver(t, s, b.URL())
	subscriptions := b.NumSubscriptions()
	some, every := hear(t, to, channel), hear(t, all)
	atStart := len(recorder.Sent())
	post(from, channel, 1, 100)
	post(from, other, 1, 10)
	texts, missed := take(t, some, 100)
	if wantRising(t, texts); missed > 0 {
		t.Errorf("%d messages were missed", missed)
	}
	if texts, missed := take(t, every, 110); missed > 0 {
		t.Errorf("got %q, and %d messages were missed", texts, missed)
	}
	if n := b.NumSubscriptions() - subscriptions; n != 2 {
		t.Errorf("there are %d subscriptions, want one to a channel and one to all", n)
	}
	for _, statement := range slices.Concat(recorder.Sent()[atStart:], recorder.Executed()) {
		isLook := strings.HasPrefix(statement.Text, "SELECT EXISTS (SELECT 1 FROM chat_")
		if !isLook && (strings.Contains(statement.Text, "chat_batches") || strings.Contains(statement.Text, "chat_servers")) {
			t.Errorf("the exchange sends %s", statement.Text)
		}
	}
}

// TestServersTellOfWrittenEvents has the sequencers of two servers, of which the second has to tell
// the first of the events that it wrote.
func TestServersTellOfWrittenEvents(t *testing.T) {
	b, s := natstest.Start(t), open(t, storetest.SQLite(t))
	holder, other := outbox.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry()), outbox.NewSequencer(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	runOver(t, s, b.URL(), holder.Wake)
	writer := runOver(t, s, b.URL(), func() { t.Error("a server is told of its own events") })
	other.Elsewhere = writer.TellWritten
	if err := holder.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := other.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Written:
	case <-time.After(5 * time.Second):
		t.Error("the holder is not woken")
	}
}

// ofTypes makes an event of each live type, with a text that take returns.
var ofTypes = map[eventtype.Type]func(channelID uid.ID, text string) live.Message{
	live.Type: message,
	"channel.chat.flag": func(channelID uid.ID, text string) live.Message {
		return live.New("channel.chat.flag", channelID, 1, &moderatov1.ChatFlagEvent{Message: text})
	},
	"channel.chat.hold": func(channelID uid.ID, text string) live.Message {
		return live.New("channel.chat.hold", channelID, 1, &moderatov1.ChatHoldEvent{Message: text})
	},
	"channel.chat.hold.update": func(channelID uid.ID, text string) live.Message {
		return live.New("channel.chat.hold.update", channelID, 1, &moderatov1.ChatHoldUpdateEvent{MessageId: text})
	},
}

// TestLiveEventsGoOnWhileNATSIsDown stops and restarts NATS while a server posts events of each
// type. Another server gets every event once, in order, or tells that it was missed; listeners of the
// same server get all that is posted meanwhile.
func TestLiveEventsGoOnWhileNATSIsDown(t *testing.T) {
	for kind, event := range ofTypes {
		t.Run(string(kind), func(t *testing.T) {
			b, channel := natstest.Start(t), uid.New()
			s := open(t, storetest.SQLite(t))
			from, to := runOver(t, s, b.URL()), runOver(t, s, b.URL())
			l := hearType(t, to, kind, channel)
			post := func(first, last int) {
				for i := first; i <= last; i++ {
					from.Post(event(channel, fmt.Sprint(i)))
					time.Sleep(time.Millisecond)
				}
			}
			post(1, 100)
			before, _ := take(t, l, 100)
			own := hearType(t, from, kind, channel)
			b.Stop()
			began := time.Now()
			post(101, 200)
			if texts, missed := take(t, own, 100); missed > 0 {
				t.Errorf("a listener of the same server got %q, and missed %d", texts, missed)
			}
			during, missed := take(t, l, 100)
			if took := time.Since(began); took > 2*time.Second+100*time.Millisecond {
				t.Errorf("the fallback takes %s", took)
			}
			post(201, 300)
			more, alsoMissed := take(t, l, 100)
			b.Restart(t)
			waitUp(t, from, to)
			l.Wait(t.Context())
			post(301, 400)
			after, missedAfter := take(t, l, 100)
			texts := slices.Concat(before, during, more, after)
			wantRising(t, texts)
			t.Logf("missed %d, %d and %d of 400", missed, alsoMissed, missedAfter)
			if missed += alsoMissed + missedAfter; len(texts)+missed != 400 {
				t.Errorf("got %d events, and %d were missed, of 400", len(texts), missed)
			}
		})
	}
}

// TestChatGoesOnWhileNATSHangs has the connection of a server with a listener hang, which only this
// server can notice.
func TestChatGoesOnWhileNATSHangs(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s, proxy := open(t, storetest.SQLite(t)), b.Through(t)
	from, to := runOver(t, s, b.URL()), runOver(t, s, proxy.URL)
	l := hear(t, to, channel)
	post(from, channel, 1, 100)
	texts, _ := take(t, l, 100)
	goOn, began := proxy.Hang(), time.Now()
	post(from, channel, 101, 200)
	some, missed := take(t, l, 100)
	if took := time.Since(began); took > 2*time.Second+500*time.Millisecond {
		t.Errorf("the fallback takes %s", took)
	}
	goOn()
	waitUp(t, to)
	post(from, channel, 201, 300)
	more, moreMissed := take(t, l, 100)
	texts = slices.Concat(texts, some, more)
	wantRising(t, texts)
	if missed += moreMissed; len(texts)+missed != 300 {
		t.Errorf("got %d messages, and %d were missed, of 300", len(texts), missed)
	}
	t.Logf("%d were missed", missed)
}

// TestServerWithWrongCredentialsUsesTheTable has one server that NATS refuses. Chat goes both
// ways, and its job says what is wrong.
func TestServerWithWrongCredentialsUsesTheTable(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s := open(t, storetest.SQLite(t))
	right, wrong := runOver(t, s, b.URL()), runOver(t, s, b.URLWith("wrong"))
	one, two := hear(t, right, channel), hear(t, wrong, channel)
	post(right, channel, 1, 50)
	for name, l := range map[string]*live.Listener{"which posts": one, "that NATS refuses": two} {
		texts, missed := take(t, l, 50)
		if wantRising(t, texts); missed > 0 {
			t.Errorf("the server %s misses %d messages", name, missed)
		}
	}
	post(wrong, channel, 51, 100)
	texts, missed := take(t, one, 50)
	if wantRising(t, texts); missed > 0 {
		t.Errorf("%d messages of the server that NATS refuses were missed", missed)
	}
	jobs := wrong.Jobs()
	if _, err := jobs[len(jobs)-1].Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Authorization Violation") {
		t.Errorf("the job that connects returns %v", err)
	}
}

// TestServerWithoutPermissionsUsesTheTable runs two servers, of which NATS forbids one to publish or to subscribe.
// Chat goes both ways, and the server returns to NATS when it may.
func TestServerWithoutPermissionsUsesTheTable(t *testing.T) {
	for user, says := range map[string]string{"mute": "Permissions Violation for Publish", "deaf": "Permissions Violation for Subscription"} {
		t.Run(user, func(t *testing.T) {
			b, channel := natstest.Start(t), uid.New()
			s := open(t, storetest.SQLite(t))
			right, wrong := runOver(t, s, b.URL()), runOver(t, s, b.URLOf(user))
			one, two := hear(t, right, channel), hear(t, wrong, channel)
			both := func(first int) {
				t.Helper()
				post(right, channel, first, first+9)
				post(wrong, channel, first+10, first+19)
				for _, l := range []*live.Listener{one, two} {
					if texts, missed := take(t, l, 20); len(texts) != 20 || missed > 0 {
						t.Errorf("got %q, and missed %d", texts, missed)
					}
				}
			}
			both(1)
			both(21)
			if wrong.IsUp() {
				t.Error("the server is said to exchange chat over NATS")
			}
			jobs := wrong.Jobs()
			if _, err := jobs[len(jobs)-1].Run(t.Context()); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "subscribe to chat and chat.*") {
				t.Errorf("the job that connects returns %v", err)
			}
			b.Grant(t)
			wrong.AskAgain()
			waitUp(t, wrong)
			both(41)
			if !wrong.IsUp() {
				t.Error("the server does not return to NATS")
			}
		})
	}
}

// TestFailedSubscriptionIsRetried has a listener come while subscriptions fail.
func TestFailedSubscriptionIsRetried(t *testing.T) {
	b := natstest.Start(t)
	h := runOver(t, open(t, storetest.SQLite(t)), b.URL())
	repair, subscriptions := h.BreakLink(), b.NumSubscriptions()
	hear(t, h, uid.New())
	repair()
	for late := time.Now().Add(5 * time.Second); b.NumSubscriptions() == subscriptions; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the server does not subscribe")
		}
	}
}

// TestNumbersShowWhatIsMissed passes numbers of a server through a gate.
func TestNumbersShowWhatIsMissed(t *testing.T) {
	for _, c := range []struct {
		what    string
		numbers [][2]uint64 // first and value
		passed  []bool
		missed  int
	}{
		{"in order", [][2]uint64{{5, 7}, {5, 8}}, []bool{true, true}, 0},
		{"twice", [][2]uint64{{5, 7}, {5, 7}, {5, 8}}, []bool{true, false, true}, 0},
		{"late", [][2]uint64{{5, 7}, {5, 9}, {5, 8}}, []bool{true, true, false}, 1},
		{"a channel that was forgotten", [][2]uint64{{5, 7}, {90, 90}, {90, 92}}, []bool{true, true, true}, 1},
	} {
		if passed, missed := live.Pass(c.numbers); !slices.Equal(passed, c.passed) || missed != c.missed {
			t.Errorf("%s: passed %v, missed %d; want %v, %d", c.what, passed, missed, c.passed, c.missed)
		}
	}
}

// TestSlowServerTellsWhatItMissed has a server take nothing while more messages arrive than may
// wait.
func TestSlowServerTellsWhatItMissed(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s := open(t, storetest.SQLite(t))
	from, to := runOver(t, s, b.URL()), runOver(t, s, b.URL())
	l := hear(t, to, channel)
	const first, n = 10, 6000
	post(from, channel, 1, first)
	take(t, l, first)
	goOn := to.TakeNothing()
	for i := range n {
		from.Post(message(channel, fmt.Sprint(first+1+i)))
	}
	time.Sleep(500 * time.Millisecond) // until they have arrived
	goOn()
	time.Sleep(500 * time.Millisecond)
	from.Post(message(channel, fmt.Sprint(first+n+1)))
	texts, missed := take(t, l, n+1)
	wantRising(t, texts)
	if len(texts)+missed != n+1 || missed < n-4096-1 || texts[len(texts)-1] != fmt.Sprint(first+n+1) {
		t.Errorf("got %d messages, and %d were missed, of %d", len(texts), missed, n+1)
	}
}

// TestServerThatStartsSendsNoOldChat starts a server while another one exchanges chat through the
// table, because NATS refuses it.
func TestServerThatStartsSendsNoOldChat(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s := open(t, storetest.SQLite(t))
	wrong, witness := runOver(t, s, b.URLWith("wrong")), runOver(t, s, b.URL())
	seen := hear(t, witness, channel)
	post(wrong, channel, 1, 20)
	take(t, seen, 20)
	l := hear(t, runOver(t, s, b.URL()), channel)
	post(wrong, channel, 21, 21)
	if texts, missed := take(t, l, 1); !slices.Equal(texts, []string{"21"}) || missed > 0 {
		t.Errorf("got %q, and %d were missed", texts, missed)
	}
}

// TestNoMessageIsLostBetweenSubscriptions has a listener of all channels leave, while another one
// hears a channel in which a server posts.
func TestNoMessageIsLostBetweenSubscriptions(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s := open(t, storetest.SQLite(t))
	from, to := runOver(t, s, b.URL()), runOver(t, s, b.URL())
	every := hear(t, to)
	l := hear(t, to, channel)
	var posting sync.WaitGroup
	posting.Go(func() { post(from, channel, 1, 200) })
	time.Sleep(50 * time.Millisecond)
	every.Close()
	texts, missed := take(t, l, 200)
	posting.Wait()
	if wantRising(t, texts); missed > 0 {
		t.Errorf("%d messages were missed", missed)
	}
}

// TestOtherTypesGoOverNATS has listeners of two types on another server. What is no chat message is
// not checked.
func TestOtherTypesGoOverNATS(t *testing.T) {
	b, channel := natstest.Start(t), uid.New()
	s := open(t, storetest.SQLite(t))
	from, to := runOver(t, s, b.URL()), runOver(t, s, b.URL())
	chat := hear(t, to, channel)
	flags := hearType(t, to, "channel.chat.flag", channel)
	from.Post(live.New("channel.chat.flag", channel, 1, &moderatov1.ChatFlagEvent{Message: "buy"}))
	post(from, channel, 1, 1)
	if texts, missed := take(t, chat, 1); texts[0] != "1" || missed > 0 {
		t.Errorf("the listener of chat got %q, and missed %d", texts, missed)
	}
	waitForBatch(t, flags)
	flag, missed := flags.Take()
	if events, lost := flag.Events(t.Context()); missed > 0 || lost > 0 || len(events) != 1 || events[0].GetChatFlag().GetMessage() != "buy" {
		t.Errorf("the other listener got %v, and missed %d", events, missed)
	}
}
