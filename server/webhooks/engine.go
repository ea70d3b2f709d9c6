package webhooks

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// lookInterval is how often to look for webhooks that are due.
	lookInterval = 250 * time.Millisecond
	// claimTime is how long a server that died keeps others from its webhooks: longer
	// than an attempt takes.
	claimTime = 30 * time.Second
	// maxWorkers bounds how many webhooks a server works on at once. Receivers that
	// do not answer hold one each, for as long as an attempt takes.
	maxWorkers = 1000
	// askedAtOnce bounds the parameters of a statement.
	askedAtOnce = 500
)

// Engine delivers events to webhooks. Every server runs one. What is delivered,
// and how far each webhook is, is in the database: a webhook with something to
// send has a time at which to look at it, and whoever claims it then works on it
// until there is nothing left. So a server that dies is replaced at that time, and
// what it sent without having noted it is sent again.
type Engine struct {
	Store *store.Store
	Hub   *events.Hub
	Log   *slog.Logger
	// Timeout is AttemptTimeout, unless a test has it shorter.
	Timeout time.Duration

	client  *http.Client
	look    store.Signal
	metrics metrics
	workers sync.WaitGroup
	swept   uid.ID // up to where Sweep has come

	mu      sync.Mutex
	running map[uid.ID]*worker
	// wanted is what events showed: the webhook has to get to this position. It is
	// kept until it does, whoever works on it.
	wanted map[uid.ID]int64
}

// NewEngine makes an Engine, with its metrics.
func NewEngine(s *store.Store, hub *events.Hub, log *slog.Logger, r prometheus.Registerer, reach Reach) *Engine {
	return &Engine{
		Store: s, Hub: hub, Log: log, Timeout: AttemptTimeout,
		client: newClient(reach), look: store.NewSignal(), metrics: newMetrics(r),
		running: map[uid.ID]*worker{}, wanted: map[uid.ID]int64{},
	}
}

// Look has the Engine look for webhooks that are due now.
func (e *Engine) Look() { e.look.Raise() }

// nudge has a webhook looked at now, by this server if it works on it.
func (e *Engine) nudge(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[id]; w != nil {
		w.poke.Raise()
	}
	e.look.Raise()
}

// Run delivers until ctx ends, and lets attempts that are under way end.
func (e *Engine) Run(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() { e.follow(ctx) })
	defer e.client.CloseIdleConnections()
	defer e.workers.Wait()
	defer following.Wait()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if err := e.startDue(ctx); err != nil && ctx.Err() == nil {
			e.Log.WarnContext(ctx, "looking for webhooks that are due failed; it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.look:
		case <-ticker.C:
		}
	}
}

// startDue starts work on every webhook that is due.
func (e *Engine) startDue(ctx context.Context) error {
	if err := e.startWanted(ctx); err != nil {
		return err
	}
	now, err := e.Store.Clock.Now(ctx, e.Store.Read)
	if err != nil {
		return err
	}
	var due []uid.ID
	err = store.QueryEach(ctx, e.Store.Read, "SELECT id FROM webhooks WHERE next_at <= ? ORDER BY next_at LIMIT ?", []any{now, maxWorkers},
		func(scan func(...any) error) error {
			var id uid.ID
			err := scan(&id)
			due = append(due, id)
			return err
		})
	for _, id := range due {
		e.start(ctx, id)
	}
	return err
}

// startWanted starts work on the webhooks to which events came while another
// server, or a worker that was about to end, had them.
func (e *Engine) startWanted(ctx context.Context) error {
	e.mu.Lock()
	var ids []any
	for id := range e.wanted {
		if e.running[id] == nil && len(ids) < askedAtOnce {
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
			e.start(ctx, id)
		case !s.isClaimed: // it is due at a time, and gets there then
			e.forget(id)
		}
	}
	return nil
}

// hasReached tells whether a webhook is where events want it.
func (e *Engine) hasReached(s state) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.position >= e.wanted[s.id]
}

func (e *Engine) forget(id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.wanted, id)
}

// start begins to work on a webhook, unless that is done already.
func (e *Engine) start(ctx context.Context, id uid.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.running[id]; w != nil {
		w.poke.Raise()
		return
	}
	if len(e.running) >= maxWorkers || ctx.Err() != nil {
		return
	}
	w := newWorker(e, id)
	e.running[id] = w
	e.workers.Go(func() {
		defer e.ended(w)
		w.run(ctx)
	})
}

func (e *Engine) ended(w *worker) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, w.id)
	if e.wanted[w.id] <= w.position || w.isBlocked {
		delete(e.wanted, w.id)
	} else {
		e.look.Raise() // an event came while it ended
	}
}

// host is what the logs say of a receiver: the rest of its address may be secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
