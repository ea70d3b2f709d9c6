// Package live delivers live events to listeners: chat messages, and what moderators hear of
// them. A live event is delivered at most once and is not kept. A Hub collects the events of its
// server and those of other servers, checks at short intervals which chat messages among them are
// still visible, and passes them on to the listeners of their channels.
package live

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
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

// Type is the event type of chat messages.
const Type = "channel.chat.message"

// Message is a live event to deliver.
type Message struct {
	// ID is the id of the event. That of a chat message is the message's.
	ID, ChannelID uid.ID
	// Event is the event as listeners receive it. It must not be modified.
	Event *moderatov1.Event

	// isForeign reports whether it was posted on another server.
	isForeign bool
}

// New returns a live event of a type, whose payload the contract declares.
func New(kind eventtype.Type, channelID uid.ID, at instant.Instant, payload proto.Message) Message {
	m := Message{ID: uid.New(), ChannelID: channelID}
	m.Event = &moderatov1.Event{Metadata: &moderatov1.EventMetadata{
		MessageId: m.ID.String(), MessageType: "notification", SubscriptionType: string(kind), SubscriptionVersion: "1",
		MessageTimestamp: at.Proto(), ChannelId: channelID.String(),
	}}
	proto.Merge(kind.MutablePayload(m.Event), payload)
	return m
}

// Kind returns the type of the event.
func (m Message) Kind() eventtype.Type {
	return eventtype.Type(m.Event.GetMetadata().GetSubscriptionType())
}

// Hub delivers messages to the listeners of a process.
type Hub struct {
	// Posted is called with each event of a live type that this server posts; nil for nothing to
	// call. It must not wait. Exactly one server calls it for an event.
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

// Post delivers a chat message that this server has just stored, or another live event. It does
// not wait.
func (h *Hub) Post(m Message) {
	h.store.Pictures.Fill(m.Event)
	h.arrive(m)
	h.exchange.post(m)
	if h.Posted != nil && m.Kind().IsLive() {
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
			h.miss(lane{m.ChannelID, m.Kind()}, 1, causeFull)
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

// Run delivers messages until ctx ends. The jobs of the Hub must run as well.
func (h *Hub) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { h.exchange.send(ctx) })
	if l := h.exchange.link; l != nil {
		loops.Go(func() { l.receive(ctx) })
		loops.Go(func() { l.follow(ctx) })
	}
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

// lane names the events of one type in one channel, which listeners receive in order. If the type is
// empty, it names the events of all types.
type lane struct {
	channelID uid.ID
	kind      eventtype.Type
}

// deliverSome adds messages to their listeners, and returns the listeners to wake. Chat messages
// go first, and what is told of them follows.
func (h *Hub) deliverSome(ctx context.Context, some []Message) (listeners []*Listener) {
	// The count is taken before the check: if a deletion is counted meanwhile, the
	// batches are checked again before they are sent.
	asOf := h.deletions.count()
	visible, err := h.check(ctx, some)
	var chat, others []lane
	byLane := map[lane][]Message{}
	for _, m := range some {
		of := lane{m.ChannelID, m.Kind()}
		if byLane[of] == nil && of.kind == Type {
			chat = append(chat, of)
		} else if byLane[of] == nil {
			others = append(others, of)
		}
		byLane[of] = append(byLane[of], m)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range append(chat, others...) {
		messages := byLane[of]
		if err != nil && of.kind == Type {
			h.miss(of, len(messages), causeCheck)
			continue
		}
		if b := newBatch(h, of, messages, visible, asOf); len(b.messages) > 0 {
			h.eachListener(of, func(l *Listener) {
				if l.add(b) {
					listeners = append(listeners, l)
				}
			})
		}
	}
	return listeners
}

// check returns which of some chat messages are visible.
func (h *Hub) check(ctx context.Context, some []Message) (map[uid.ID]bool, error) {
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	ids := make([]uid.ID, 0, len(some))
	for _, m := range some {
		if m.Kind() == Type {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	visible, err := h.visible(bounded, h.store, ids)
	if err != nil && ctx.Err() == nil {
		h.log.WarnContext(ctx, "chat messages could not be checked and are not delivered", "messages", len(ids), "error", err)
	}
	return visible, err
}

// miss tells the listeners of a lane that they miss messages. The caller must hold mu.
func (h *Hub) miss(of lane, n int, cause string) {
	h.dropped.WithLabelValues(cause).Add(float64(n))
	h.eachListener(of, func(l *Listener) { l.miss(n) })
}

// eachListener calls each for the listeners of a lane. The caller must hold mu.
func (h *Hub) eachListener(of lane, each func(*Listener)) {
	for _, listeners := range []map[*Listener]struct{}{h.byChannel[of.channelID], h.everywhere} {
		for l := range listeners {
			if of.kind == "" || slices.Contains(l.kinds, of.kind) {
				each(l)
			}
		}
	}
}
