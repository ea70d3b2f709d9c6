package importer

import (
	"cmp"
	"context"
	"time"
)

const (
	// maxTransaction is how long a transaction should take at most, because it blocks every
	// other change of an SQLite database. The weights aim at half of it.
	maxTransaction = 100 * time.Millisecond
	// firstWeight is the weight of the first transaction, whose duration nobody knows.
	firstWeight = 500
	// minWeight is the weight of a transaction at least.
	minWeight = 50
	// gap is the time between two transactions. Another process that waits for the file looks
	// every 25 ms at first, so it finds the gap.
	gap = 25 * time.Millisecond
)

// Pace keeps the transactions of an import short, and leaves time for others between them. It
// is for a database that has one writer at a time and is used by other processes.
type Pace struct {
	next int // the weight of the next transaction; 0 before the first
	// now and sleep replace the clock in tests.
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// NewPace returns a Pace.
func NewPace() *Pace { return &Pace{now: time.Now, sleep: sleep} }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// weight returns the weight of the next transaction.
func (p *Pace) weight() int { return cmp.Or(p.next, firstWeight) }

// during stores records in a transaction, after a gap, and learns from its duration.
func (p *Pace) during(ctx context.Context, part []record, store func() error) error {
	if p == nil {
		return store()
	}
	if p.next != 0 {
		if err := p.sleep(ctx, gap); err != nil {
			return err
		}
	}
	weight := 0
	for _, rec := range part {
		weight += weightOf(rec)
	}
	begun := p.now()
	err := store()
	p.next = nextWeight(weight, p.now().Sub(begun))
	return err
}

// nextWeight returns the weight that takes half of maxTransaction, if weight took a duration.
// It is at most twice as much, because a part of the duration does not grow with the weight.
func nextWeight(weight int, took time.Duration) int {
	fitting := 2 * weight
	if took > 0 {
		fitting = min(fitting, int(float64(weight)*float64(maxTransaction/2)/float64(took)))
	}
	return min(max(fitting, minWeight), transactionWeight)
}
