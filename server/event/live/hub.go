// Package live delivers chat messages to listeners while they are new. A message is
// delivered at most once and is not kept. A Hub collects the messages that its server
// posts and those that other servers posted, checks at short intervals which of them are
// still visible, and passes them on to the listeners of their channels.
package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// flushInterval is the minimum time from one delivery to the next, plus intervalPerWake
	// for each listener of the delivery and at most maxInterval. Messages that are posted
	// meanwhile form a batch, so many listeners cost few writes.
	flushInterval   = 20 * time.Millisecond
	intervalPerWake = 20 * time.Microsecond
	maxInterval     = 100 * time.Millisecond
	// takingAtOnce is how many listeners take their messages at once: calls, such as bans,
	// must not wait for a processor until all listeners have written. Whenever these
	// listeners need longer than maxTaking, twice as many may take theirs at once, so slow
	// listeners hardly delay the others.
	takingAtOnce = 4
	maxTaking    = time.Millisecond
	// maxPosted is how many messages wait for the next delivery at most.
	maxPosted = 10_000
	// checkedAtOnce is how many messages one statement checks.
	checkedAtOnce = 500
	// checkTimeout bounds a check. If it fails, its messages are not delivered.
	checkTimeout = 250 * time.Millisecond
	// maxDeletions is how many channels a Hub remembers for their latest deletion.
	maxDeletions = 4096
)

// Type is the event type of the messages.
const Type = "channel.chat.message"

// Message is a chat message to deliver.
type Message struct {
	ID, ChannelID uid.ID
	// Event is the event as listeners receive it. It must not be modified.
	Event *moderatov1.Event
}

// Hub delivers messages to the listeners of a process.
type Hub struct {
	// Posted is called with each message that this server posts; nil for nothing to call.
	// It must not wait. Exactly one server calls it for a message.
	Posted func(Message)

	store   *store.Store
	log     *slog.Logger
	visible func(context.Context, *store.Store, []uid.ID) (map[uid.ID]bool, error)
	dropped *prometheus.CounterVec

	// posted wakes the goroutine that delivers messages.
	posted store.Signal
	// taken receives a value when a woken listener has taken all its messages.
	taken chan struct{}

	mu         sync.Mutex
	arrived    []Message // for the listeners of this process
	byChannel  map[uid.ID]map[*Listener]struct{}
	everywhere map[*Listener]struct{}

	deletions deletions
	exchange  exchange
}

// NewHub returns a Hub. The function visible returns which of some messages are not
// deleted.
func NewHub(s *store.Store, log *slog.Logger, registry prometheus.Registerer, visible func(context.Context, *store.Store, []uid.ID) (map[uid.ID]bool, error)) *Hub {
	h := &Hub{
		store: s, log: log, visible: visible, posted: store.NewSignal(), taken: make(chan struct{}, takingAtOnce),
		byChannel: map[uid.ID]map[*Listener]struct{}{}, everywhere: map[*Listener]struct{}{},
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moderato_chat_dropped_total",
			Help: "Chat messages that were not delivered, by cause.",
		}, []string{"cause"}),
	}
	h.exchange = newExchange(h)
	for _, cause := range []string{causeSlow, causeFull, causeCheck, causeSend} {
		h.dropped.WithLabelValues(cause) // 0 until the first
	}
	registry.MustRegister(h.dropped)
	return h
}

// Causes of messages that are not delivered.
const (
	causeFull  = "full"  // too many messages were waiting
	causeCheck = "check" // the database could not be asked whether they are visible
	causeSlow  = "slow"  // a listener was too slow
	causeSend  = "send"  // they could not be passed on to other servers
)

// Post delivers a message that this server has just stored. It does not wait.
func (h *Hub) Post(m Message) {
	h.store.Pictures.Fill(m.Event)
	h.arrive(m)
	h.exchange.post(m)
	if h.Posted != nil {
		h.Posted(m)
	}
}

// arrive adds a message to the next delivery to the listeners of this process.
func (h *Hub) arrive(all ...Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range all {
		switch {
		case len(h.everywhere) == 0 && h.byChannel[m.ChannelID] == nil:
		case len(h.arrived) >= maxPosted:
			h.miss(m.ChannelID, 1, causeFull)
		default:
			h.arrived = append(h.arrived, m)
		}
	}
	if len(h.arrived) > 0 {
		h.posted.Raise()
	}
}

// hasListeners reports whether this process has a listener for a channel.
func (h *Hub) hasListeners(channelID uid.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.everywhere) > 0 || h.byChannel[channelID] != nil
}

// Run delivers messages until ctx ends. The job of the Hub must run as well.
func (h *Hub) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { h.exchange.send(ctx) })
	loops.Go(func() { h.exchange.receive(ctx) })
	defer loops.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.posted:
		}
		began := time.Now()
		woken := h.deliver(ctx)
		pause(ctx, min(flushInterval+time.Duration(woken)*intervalPerWake, maxInterval)-time.Since(began))
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// deliver passes the messages that have arrived on to their listeners, and returns how
// many it woke.
func (h *Hub) deliver(ctx context.Context) (woken int) {
	h.mu.Lock()
	arrived := h.arrived
	h.arrived = nil
	h.mu.Unlock()
	for len(arrived) > 0 {
		some := arrived[:min(len(arrived), checkedAtOnce)]
		arrived = arrived[len(some):]
		woken += h.wake(ctx, h.deliverSome(ctx, some))
	}
	return woken
}

// wake wakes listeners, a few at a time. It returns their number.
func (h *Hub) wake(ctx context.Context, listeners []*Listener) int {
	slow := time.NewTimer(maxTaking)
	defer slow.Stop()
	taking, atOnce := 0, takingAtOnce
	for _, l := range listeners {
		if taking == atOnce {
			slow.Reset(maxTaking)
			select {
			case <-h.taken:
				taking--
			case <-slow.C:
				atOnce *= 2
			case <-ctx.Done():
				return 0
			}
		}
		l.wake()
		taking++
	}
	return len(listeners)
}

// deliverSome adds messages to their listeners, and returns the listeners to wake.
func (h *Hub) deliverSome(ctx context.Context, some []Message) (listeners []*Listener) {
	// The count is taken before the check: if a deletion is counted meanwhile, the
	// batches are checked again before they are sent.
	asOf := h.deletions.count()
	visible, err := h.check(ctx, some)
	var order []uid.ID
	byChannel := map[uid.ID][]Message{}
	for _, m := range some {
		if byChannel[m.ChannelID] == nil {
			order = append(order, m.ChannelID)
		}
		byChannel[m.ChannelID] = append(byChannel[m.ChannelID], m)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, channelID := range order {
		messages := byChannel[channelID]
		if err != nil {
			h.miss(channelID, len(messages), causeCheck)
			continue
		}
		if b := newBatch(h, channelID, messages, visible, asOf); len(b.messages) > 0 {
			h.eachListener(channelID, func(l *Listener) {
				if l.add(b) {
					listeners = append(listeners, l)
				}
			})
		}
	}
	return listeners
}

// check returns which of some messages are visible.
func (h *Hub) check(ctx context.Context, some []Message) (map[uid.ID]bool, error) {
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	ids := make([]uid.ID, len(some))
	for i, m := range some {
		ids[i] = m.ID
	}
	visible, err := h.visible(bounded, h.store, ids)
	if err != nil && ctx.Err() == nil {
		h.log.WarnContext(ctx, "chat messages could not be checked and are not delivered", "messages", len(some), "error", err)
	}
	return visible, err
}

// miss tells the listeners of a channel that they miss messages. The caller must hold mu.
func (h *Hub) miss(channelID uid.ID, n int, cause string) {
	h.dropped.WithLabelValues(cause).Add(float64(n))
	h.eachListener(channelID, func(l *Listener) { l.miss(n) })
}

// eachListener calls each for the listeners of a channel. The caller must hold mu.
func (h *Hub) eachListener(channelID uid.ID, each func(*Listener)) {
	for l := range h.byChannel[channelID] {
		each(l)
	}
	for l := range h.everywhere {
		each(l)
	}
}
