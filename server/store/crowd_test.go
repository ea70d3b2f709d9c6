package store_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// crowd makes changes of a channel that wait for the first one.
type crowd struct {
	*testing.T
	*store.Store
	channel uid.ID
	gauges  *prometheus.Registry

	mu   sync.Mutex
	runs []run
}

// run is a run of a body.
type run struct {
	id      int64
	tx      *ent.Tx
	attempt store.Attempt
}

func newCrowd(t *testing.T, s *store.Store) *crowd {
	c := &crowd{T: t, Store: s, channel: uid.New(), gauges: prometheus.NewRegistry()}
	s.ChangeQueues.Register(c.gauges)
	s.ShareLong()
	return c
}

// eachCrowd runs a test with a migrated database of each kind.
func eachCrowd(t *testing.T, test func(*crowd, *storetest.Cutter)) {
	t.Helper()
	eachCrowdWith(t, store.Options{}, test)
}

// eachCrowdWith is eachCrowd with options.
func eachCrowdWith(t *testing.T, o store.Options, test func(*crowd, *storetest.Cutter)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		migrate(t, url)
		cutter := &storetest.Cutter{}
		observed := o
		observed.Layer = cutter.Layer
		s, err := store.OpenWith(t.Context(), url, observed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		test(newCrowd(t, s), cutter)
	})
}

type changeBody = func(ctx context.Context, tx *ent.Tx, a store.Attempt) error

// create returns a body that creates a category, unless an earlier attempt did, and then
// calls others.
func (c *crowd) create(id int64, then ...changeBody) changeBody {
	return func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
		c.mu.Lock()
		c.runs = append(c.runs, run{id, tx, a})
		c.mu.Unlock()
		if a.Unknown {
			// The lock waits for the end of the earlier attempt.
			err := store.QueryRow(ctx, tx, "SELECT id FROM categories WHERE id = ?"+c.ForUpdate(), []any{id}, new(int64))
			if err == nil {
				return store.ErrCommitted
			}
		}
		if err := createCategories(id)(ctx, tx, a); err != nil {
			return err
		}
		for _, next := range then {
			if err := next(ctx, tx, a); err != nil {
				return err
			}
		}
		return nil
	}
}

// start makes a change in the background.
func (c *crowd) start(ctx context.Context, b changeBody) <-chan error {
	ended := make(chan error, 1)
	go func() {
		turn, err := c.ChangeQueues.AcquireOrJoin(ctx, c.channel)
		if err == nil {
			err = c.WriteShared(ctx, turn, b)
		}
		ended <- err
	}()
	return ended
}

// hold starts a change that waits for release after its body.
func (c *crowd) hold(id int64) (release func(), ended <-chan error) {
	c.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held) })
	ended = c.start(c.Context(), c.create(id, func(context.Context, *ent.Tx, store.Attempt) error {
		hold()
		<-released
		return nil
	}))
	<-held
	return sync.OnceFunc(func() { close(released) }), ended
}

// queue starts changes, each after the one before has queued.
func (c *crowd) queue(bodies ...changeBody) (ended []<-chan error) {
	c.Helper()
	already := c.waiting()
	for i, b := range bodies {
		ended = append(ended, c.start(c.Context(), b))
		c.waitForWaiting(already + i + 1)
	}
	return ended
}

// waitForWaiting waits until this number of changes wait for a turn.
func (c *crowd) waitForWaiting(n int) {
	c.Helper()
	c.waitFor(n, c.waiting)
}

func (c *crowd) waitFor(n int, waiting func() int) {
	c.Helper()
	for deadline := time.Now().Add(10 * time.Second); waiting() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("%d changes wait, want %d", waiting(), n)
		}
	}
}

func (c *crowd) waiting() int {
	families, err := c.gauges.Gather()
	if err != nil {
		c.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "moderato_changes_waiting" {
			return int(f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	c.Fatal("there is no metric of waiting changes")
	return 0
}

func (c *crowd) wantRows(ids ...int64) {
	c.Helper()
	got, err := c.Read.Category.Query().IDs(context.Background())
	slices.Sort(got)
	if err != nil || !slices.Equal(got, ids) {
		c.Errorf("got the rows %v (%v), want %v", got, err, ids)
	}
}

func (c *crowd) wantSuccess(ended ...<-chan error) {
	c.Helper()
	for i, e := range ended {
		if err := <-e; err != nil {
			c.Errorf("change %d: %v", i, err)
		}
	}
}

// transactions returns how many different transactions ran bodies.
func (c *crowd) transactions() int {
	distinct := map[*ent.Tx]bool{}
	for _, r := range c.runs {
		distinct[r.tx] = true
	}
	return len(distinct)
}
