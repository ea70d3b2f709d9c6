package webhooks

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// lookInterval is how often to look for webhooks that are due.
	lookInterval = 250 * time.Millisecond
	// claimTime is how long the claim of a server that died keeps other servers from
	// its webhooks. It is longer than an attempt takes.
	claimTime = 30 * time.Second
	// duePage is how many due webhooks are read at a time, and maxDuePages is how many
	// such pages are read in one pass.
	duePage     = 1000
	maxDuePages = 10
	// idsPerStatement bounds the number of parameters of a statement.
	idsPerStatement = 500
)

// Engine delivers events to webhooks. Every server runs one. The deliveries and the
// progress of each webhook are in the database. A webhook with something to send has a
// time at which it is due. The server that claims it then works on it until nothing is
// left to send. If a server dies, another server takes over its webhooks when their
// claims end. Attempts whose outcome the dead server did not record are made again.
type Engine struct {
	Store *store.Store
	Hub   *watch.Hub
	Log   *slog.Logger
	Options

	slots   *slots
	client  *http.Client
	look    store.Signal
	exists  store.Signal // raised while there is an enabled webhook
	metrics metrics
	live    *liveSender
	workers sync.WaitGroup
	swept   uid.ID // the last webhook that Sweep checked

	mu      sync.Mutex
	running map[uid.ID]*worker
	// wanted holds, for each webhook that wants an event, the position that the webhook
	// has to reach. An entry is kept until the webhook has reached the position, or
	// will do so when it is due, whichever server works on it.
	wanted map[uid.ID]want
	// dueAfter is where the next pass over the due webhooks continues, if the last pass
	// did not reach the end.
	dueAfter duePlace
}

// Options configures an Engine.
type Options struct {
	// Reach is the range of addresses that receivers may have.
	Reach Reach
	// Timeout bounds an attempt. It is AttemptTimeout, except in tests that use a
	// shorter one.
	Timeout time.Duration
	// MaxAttempts bounds the number of attempts in flight.
	MaxAttempts int
	// Visible returns which of some chat messages are not deleted.
	Visible func(context.Context, *store.Store, []uid.ID) (map[uid.ID]bool, error)
}

// DefaultMaxAttempts is the default maximum number of attempts that a server has in
// flight.
const DefaultMaxAttempts = 1000

// want is the position that a webhook has to reach.
type want struct {
	candidate

	position int64
}

// NewEngine returns an Engine, and registers its metrics.
func NewEngine(s *store.Store, hub *watch.Hub, log *slog.Logger, r prometheus.Registerer, o Options) *Engine {
	e := &Engine{
		Store: s, Hub: hub, Log: log, Options: o, slots: newSlots(o.MaxAttempts),
		client: newClient(o), look: store.NewSignal(), exists: store.NewSignal(), metrics: newMetrics(r),
		running: map[uid.ID]*worker{}, wanted: map[uid.ID]want{},
	}
	e.live = newLiveSender(e)
	return e
}

// Look makes the Engine look now for due webhooks, and for those that want live events.
func (e *Engine) Look() {
	e.live.index.isStale.Store(true)
	e.look.Raise()
}

// nudge makes the Engine look at a webhook now, if this server works on it, and look
// for due webhooks.
func (e *Engine) nudge(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[id]; w != nil {
		w.poke.Raise()
	}
	e.look.Raise()
}

// Jobs returns the jobs that look for work. Run must run as well.
func (e *Engine) Jobs() []jobs.Job {
	raise := func(s store.Signal) func(context.Context) (bool, error) {
		return jobs.All(func(context.Context) error { s.Raise(); return nil })
	}
	return []jobs.Job{
		{
			Name: "find due webhooks", Interval: lookInterval, Run: raise(e.look),
			Due: jobs.Lapsed(e.Store, "webhooks", "next_at", 0, "1 = 1"), IsActive: e.isAwaited,
		},
		{
			Name: "find webhooks", Interval: idleInterval, Run: raise(e.exists),
			Due: jobs.Rows("SELECT 1 FROM webhooks WHERE disabled_reason = ''"), IsUncounted: true,
		},
	}
}

// isAwaited reports whether a webhook wants an event that it has not reached.
func (e *Engine) isAwaited() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.wanted) > 0
}

// Run delivers events until ctx ends, and then lets the attempts in flight end.
func (e *Engine) Run(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() { e.follow(ctx) })
	following.Go(func() { e.live.run(ctx) })
	defer e.client.CloseIdleConnections()
	defer e.workers.Wait()
	defer following.Wait()
	for {
		if err := e.startDue(ctx); err != nil && ctx.Err() == nil {
			e.Log.WarnContext(ctx, "finding due webhooks failed; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.look:
		}
	}
}

// startDue starts work on the webhooks that are due.
func (e *Engine) startDue(ctx context.Context) error {
	if err := e.startWanted(ctx); err != nil {
		return err
	}
	now, err := e.Store.Clock.Now(ctx, e.Store.Read)
	if err != nil {
		return err
	}
	for range maxDuePages {
		isLast, err := e.startPage(ctx, now)
		if err != nil || isLast {
			e.dueAfter = duePlace{}
			return err
		}
		if e.slots.isFull() {
			break
		}
	}
	return nil
}

// duePlace is the place of a webhook in the order of the due webhooks.
type duePlace struct {
	at instant.Instant
	id uid.ID
}

// startPage starts work on one page of due webhooks, as far as slots are free for their
// owners. It reports whether the page was the last one.
func (e *Engine) startPage(ctx context.Context, now instant.Instant) (isLast bool, err error) {
	var due []candidate
	after := e.dueAfter
	err = store.QueryEach(ctx, e.Store.Read, "SELECT next_at, "+candidateColumns+" FROM webhooks"+
		" WHERE next_at >= ? AND next_at <= ? AND (next_at > ? OR id > ?) ORDER BY next_at, id LIMIT ?",
		[]any{after.at, now, after.at, after.id, duePage},
		func(scan func(...any) error) error {
			var c candidate
			err := c.scan(func(into ...any) error { return scan(append([]any{&e.dueAfter.at}, into...)...) })
			e.dueAfter.id = c.id
			due = append(due, c)
			return err
		})
	for _, c := range due {
		e.start(ctx, c)
	}
	return len(due) < duePage, err
}

// startWanted starts work on the webhooks that received events while another server or
// a worker that was about to end held them, or while no slot was free.
func (e *Engine) startWanted(ctx context.Context) error {
	e.mu.Lock()
	var ids []any
	for id, want := range e.wanted {
		if len(ids) == idsPerStatement {
			break
		}
		if e.running[id] == nil && e.slots.mayGrant(want.candidate) {
			ids = append(ids, id)
		}
	}
	e.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	there := map[uid.ID]state{}
	err := e.states(ctx, "id IN ("+store.Placeholders(len(ids))+")", ids, func(s state) { there[s.id] = s })
	if err != nil {
		return err
	}
	for _, arg := range ids {
		id, _ := arg.(uid.ID)
		s, ok := there[id]
		switch {
		case !ok || e.hasReached(s):
			e.forget(id)
		case s.isFree():
			e.start(ctx, s.candidate)
		case !s.isClaimed: // the webhook gets there when it is due
			e.forget(id)
		}
	}
	return nil
}

// hasReached reports whether a webhook has processed the events that it wants. If it
// has not, the entry in wanted is updated with its current state.
func (e *Engine) hasReached(s state) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	wanted, ok := e.wanted[s.id]
	if ok {
		e.wanted[s.id] = want{s.candidate, wanted.position}
	}
	return s.position >= wanted.position
}

func (e *Engine) forget(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.wanted, id)
}

// start starts a worker for a webhook, unless one runs already or no slot is free for
// its owner. A worker that runs already is woken.
func (e *Engine) start(ctx context.Context, c candidate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[c.id]; w != nil {
		w.poke.Raise()
		return
	}
	if ctx.Err() != nil {
		return
	}
	slot := e.slots.acquire(c)
	if slot == nil {
		return
	}
	w := newWorker(e, c.id, slot)
	e.running[c.id] = w
	e.workers.Go(func() {
		defer e.ended(w)
		w.run(ctx)
	})
}

func (e *Engine) ended(w *worker) {
	w.slot.release()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, w.id)
	if e.wanted[w.id].position <= w.position || w.isBlocked {
		delete(e.wanted, w.id)
	} else {
		e.look.Raise() // an event arrived while the worker ended
	}
}

// host returns the part of a receiver's URL that is logged. The rest may be secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
