package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// zipfBound is the longest time that one of a hundred calls may take, from the moment
	// when it was due.
	zipfBound = 500 * time.Millisecond
	// zipfCallers is how many calls are under way at most.
	zipfCallers = 256
	// unpopular is the first of the channels that are compared with the busiest one.
	unpopular = 10
)

// arrival is a call that is due.
type arrival struct {
	operation, channel, user int
	due                      time.Time
}

// outcome is what became of a call.
type outcome struct {
	arrival
	took      time.Duration
	isRefused bool
}

// step is the result of a rate.
type step struct {
	outcomes []outcome
	elapsed  time.Duration
	// The processors' time of the server, the database server and this program, and of
	// everything on the machine.
	server, database, load, machine time.Duration
	sequencing                      time.Duration // mean delay until an event had its position
}

// step makes calls at a rate for some time, and waits for them. Calls are due at equal
// intervals, whether or not earlier ones have returned.
func (z *zipf) step(ctx context.Context, rate float64, d time.Duration) (step, error) {
	before, err := z.usage(ctx)
	if err != nil {
		return step{}, err
	}
	n := int(rate * d.Seconds())
	due := make(chan arrival, n)
	results := make([]outcome, n)
	failures := make([]error, zipfCallers)
	var callers sync.WaitGroup
	var at sync.Mutex
	done := 0
	for i := range zipfCallers {
		callers.Go(func() {
			for a := range due {
				o, err := z.perform(ctx, i, a)
				failures[i] = errors.Join(failures[i], err)
				at.Lock()
				results[done] = o
				done++
				at.Unlock()
			}
		})
	}
	start := time.Now()
	z.schedule(due, n, rate, start)
	callers.Wait()
	elapsed := time.Since(start)
	after, err := z.usage(ctx)
	if err = errors.Join(append(failures, err)...); err != nil {
		return step{}, err
	}
	got := after.minus(before)
	got.outcomes, got.elapsed = results, elapsed
	return got, nil
}

// saturate has callers make one call after the other for some time.
func (z *zipf) saturate(ctx context.Context, callers int, d time.Duration, draw func(*rand.Rand) arrival) (step, error) {
	before, err := z.usage(ctx)
	if err != nil {
		return step{}, err
	}
	results := make([][]outcome, callers)
	failures := make([]error, callers)
	var running sync.WaitGroup
	start := time.Now()
	for i := range callers {
		running.Go(func() {
			random := rand.New(rand.NewPCG(4, uint64(i))) //nolint:gosec // the same load in each run
			for time.Since(start) < d && failures[i] == nil {
				a := draw(random)
				a.due, a.user = time.Now(), int(z.next.Add(1))
				var o outcome
				o, failures[i] = z.perform(ctx, i, a)
				results[i] = append(results[i], o)
			}
		})
	}
	running.Wait()
	elapsed := time.Since(start)
	after, err := z.usage(ctx)
	if err = errors.Join(append(failures, err)...); err != nil {
		return step{}, err
	}
	got := after.minus(before)
	got.outcomes, got.elapsed = slices.Concat(results...), elapsed
	return got, nil
}

// draw draws a call of the mix.
func (z *zipf) draw(random *rand.Rand) arrival {
	drawn, op := random.IntN(100), 0
	for drawn -= operations[0].percent; drawn >= 0; drawn -= operations[op].percent {
		op++
	}
	return arrival{operation: op, channel: z.channel(random)}
}

// drawBusiest draws a change of the busiest channel.
func drawBusiest(random *rand.Rand) arrival {
	return arrival{operation: len(operations) - 1 - random.IntN(2), channel: 0}
}

// perSecond returns the rate of the calls that were not refused.
func (s step) perSecond() float64 {
	return float64(len(s.outcomes)) * (1 - s.refused()) / s.elapsed.Seconds()
}

// schedule sends each call when it is due.
func (z *zipf) schedule(due chan<- arrival, n int, rate float64, start time.Time) {
	random := rand.New(rand.NewPCG(3, uint64(n))) //nolint:gosec // the same load in each run
	for i := range n {
		when := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if wait := time.Until(when); wait > time.Millisecond {
			time.Sleep(wait)
		}
		a := z.draw(random)
		a.due, a.user = when, int(z.next.Add(1))
		due <- a
	}
	close(due)
}

// perform makes a call. One that begins too late counts as refused.
func (z *zipf) perform(ctx context.Context, caller int, a arrival) (outcome, error) {
	o := outcome{arrival: a, isRefused: true}
	if time.Since(a.due) > 4*zipfBound {
		o.took = time.Since(a.due)
		return o, nil
	}
	err := operations[a.operation].call(ctx, z, z.conns[caller%len(z.conns)], a.channel, a.user)
	o.took = time.Since(a.due)
	switch status.Code(err) {
	case codes.OK:
		o.isRefused = false
	case codes.ResourceExhausted, codes.Unavailable, codes.Aborted:
	default:
		return o, fmt.Errorf("%s: %w", operations[a.operation].name, err)
	}
	return o, nil
}

// minus returns what was used since an earlier usage.
func (u usage) minus(v usage) step {
	s := step{server: u.server - v.server, database: u.database - v.database, load: u.load - v.load, machine: u.machine - v.machine}
	if events := u.sequenced - v.sequenced; events > 0 {
		s.sequencing = time.Duration((u.delays - v.delays) / events * float64(time.Second))
	}
	return s
}

// p99 returns the 99th percentile of the calls that are selected; 0 without any.
func (s step) p99(selected func(outcome) bool) time.Duration {
	var took []time.Duration
	for _, o := range s.outcomes {
		if selected(o) {
			took = append(took, o.took)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

func isChange(o outcome) bool { return operations[o.operation].isChange }
func isRead(o outcome) bool   { return o.operation == 1 || o.operation == 2 }

// refused returns the share of the calls that were refused.
func (s step) refused() float64 {
	n := 0
	for _, o := range s.outcomes {
		if o.isRefused {
			n++
		}
	}
	return float64(n) / float64(len(s.outcomes))
}

// limit names the limit that was reached; empty if none was.
func (s step) limit() string {
	all := func(outcome) bool { return true }
	busiest := s.p99(func(o outcome) bool { return isChange(o) && o.channel == 0 })
	others := s.p99(func(o outcome) bool { return isChange(o) && o.channel >= unpopular })
	idle := time.Duration(runtime.NumCPU())*s.elapsed - s.machine
	switch {
	case s.p99(all) <= zipfBound && busiest <= zipfBound && s.refused() <= 0.01:
		if s.sequencing > zipfBound {
			return fmt.Sprintf("the sequencer: events wait %s for their position", short(s.sequencing))
		}
		return ""
	case busiest > zipfBound && others <= zipfBound:
		return fmt.Sprintf("the lock of the busiest channel: its changes take %s, those of others %s", short(busiest), short(others))
	case idle < s.elapsed/5:
		return fmt.Sprintf("the processors: p99 %s, %.0f %% refused, %.1f of %d cores used (%s)", short(s.p99(all)), 100*s.refused(), s.machine.Seconds()/s.elapsed.Seconds(), runtime.NumCPU(), s.cores())
	case s.p99(isRead) <= zipfBound:
		return fmt.Sprintf("the commits of the store: changes and posts take %s, reads %s", short(s.p99(func(o outcome) bool { return !isRead(o) })), short(s.p99(isRead)))
	}
	return fmt.Sprintf("p99 %s, %.0f %% refused; %.1f of %d cores used", short(s.p99(all)), 100*s.refused(), s.machine.Seconds()/s.elapsed.Seconds(), runtime.NumCPU())
}

func (s step) cores() string {
	of := func(d time.Duration) float64 { return d.Seconds() / s.elapsed.Seconds() }
	return fmt.Sprintf("server %.2f, database %.2f, load %.2f, other programs %.2f",
		of(s.server), of(s.database), of(s.load), max(0, of(s.machine-s.server-s.database-s.load)))
}

// String returns the cost of a call, and the 99th percentiles.
func (s step) String() string {
	if len(s.outcomes) == 0 {
		return ""
	}
	server, database := s.cost()
	return fmt.Sprintf("p99: reads %s, posts %s, changes %s, of the busiest channel %s; a call takes %s of the server and %s of the database; cores: %s",
		short(s.p99(isRead)), short(s.p99(func(o outcome) bool { return o.operation == 0 })), short(s.p99(isChange)),
		short(s.p99(func(o outcome) bool { return isChange(o) && o.channel == 0 })), short(server), short(database), s.cores())
}

// cost returns the processors' time of a call, in the server and in the database server.
func (s step) cost() (server, database time.Duration) {
	n := max(1, time.Duration(len(s.outcomes)))
	return s.server / n, s.database / n
}

// usage is what was used so far.
type usage struct {
	server, database, load, machine time.Duration
	sequenced, delays               float64
}

func (z *zipf) usage(ctx context.Context) (usage, error) {
	var u usage
	cost, err := z.s.cost(ctx)
	if err != nil {
		return u, err
	}
	u.server, u.database = cost.cpu, cost.database
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return u, err
	}
	u.load = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if u.machine, err = machineTime(); err != nil {
		return u, err
	}
	if u.sequenced, err = z.s.metric(ctx, "moderato_event_sequencing_delay_seconds_count"); err != nil {
		return u, err
	}
	u.delays, err = z.s.metric(ctx, "moderato_event_sequencing_delay_seconds_sum")
	return u, err
}

// machineTime returns the time for which the machine's processors worked, in ticks of 10 ms.
func machineTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var ticks int64
	for i, field := range strings.Fields(line)[1:] {
		if i == 3 || i == 4 || i > 7 { // idle, waiting for a disk; guests are in other fields
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
