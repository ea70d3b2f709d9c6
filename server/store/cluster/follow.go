package cluster

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// probeInterval is the time between two rounds of probes, and searchInterval the same
	// while there is no primary.
	probeInterval  = 500 * time.Millisecond
	searchInterval = 200 * time.Millisecond
	// minRest is the time between a round and the next one, however urgent it is.
	minRest = 50 * time.Millisecond
	// probeTimeout bounds a probe.
	probeTimeout = 2 * time.Second
	// settleTime is how long a round that found a primary waits for the other members, which
	// may be unreachable.
	settleTime = 300 * time.Millisecond
	// maxMisses is how many probes in a row the primary may leave without an answer.
	maxMisses = 2
)

// member is a server of the cluster.
type member struct {
	host      string
	connector driver.Connector
	id        string // in its replication group, of the last answer; Connector.mu guards it

	mu   sync.Mutex  // held during a probe
	conn driver.Conn // of the last probe; nil if it failed
}

// answer is the result of a probe.
type answer struct {
	report

	err error
}

// isRefusal reports whether a member cannot be the primary: it says so, or its process does
// not run. Any other error may be due to load.
func (a answer) isRefusal() bool {
	return a.problem != "" || errors.Is(a.err, syscall.ECONNREFUSED)
}

func (a answer) isWritable() bool { return a.err == nil && a.problem == "" }

func (a answer) text() string {
	if errors.Is(a.err, context.DeadlineExceeded) {
		return "does not answer"
	}
	if a.err != nil {
		return "does not answer: " + a.err.Error()
	}
	return a.problem
}

var errBusy = fmt.Errorf("an earlier probe: %w", context.DeadlineExceeded)

// probe asks a member whether it is the primary.
func (m *member) probe(ctx context.Context) answer {
	if !m.mu.TryLock() {
		return answer{err: errBusy}
	}
	defer m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if m.conn != nil {
		r, err := inspect(ctx, m.conn)
		if err == nil {
			return answer{report: r}
		}
		m.disconnect() // the member may have restarted
	}
	var err error
	if m.conn, err = m.connector.Connect(ctx); err != nil {
		return answer{err: expired(ctx, err)}
	}
	r, err := inspect(ctx, m.conn)
	if err != nil {
		m.disconnect()
	}
	return answer{r, expired(ctx, err)}
}

// expired returns the error of a context that has ended, or err.
func expired(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (m *member) disconnect() {
	if m.conn != nil {
		_ = m.conn.Close()
		m.conn = nil
	}
}

// follow probes the members until ctx ends.
func (c *Connector) follow(ctx context.Context) {
	defer func() {
		for _, m := range c.members {
			m.mu.Lock() // waits for a probe under way
			m.disconnect()
			m.mu.Unlock()
		}
	}()
	for ctx.Err() == nil {
		c.conclude(c.probeAll(ctx))
		interval := probeInterval
		if c.Primary() == "" {
			interval = searchInterval
		}
		// With jitter, so that servers do not probe at the same moments.
		rest(ctx, interval*3/4+rand.N(interval/2), c.wake)
	}
}

// rest waits for d, or less if it is woken.
func rest(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-ctx.Done():
		return
	case <-end.C:
		return
	case <-wake:
	}
	select {
	case <-ctx.Done():
	case <-time.After(minRest):
	}
}

// probeAll probes all members at the same time. A member that does not answer in time has
// the error errBusy.
func (c *Connector) probeAll(ctx context.Context) []answer {
	type result struct {
		at int
		answer
	}
	results := make(chan result, len(c.members))
	answers := make([]answer, len(c.members))
	for i, m := range c.members {
		answers[i].err = errBusy
		go func() { results <- result{i, m.probe(ctx)} }()
	}
	var settled <-chan time.Time
	for range c.members {
		select {
		case r := <-results:
			answers[r.at] = r.answer
			if settled == nil && (r.isWritable() || c.reportsUnreachable(r.answer)) {
				settled = time.After(settleTime)
			}
		case <-settled:
			return answers
		}
	}
	return answers
}

// conclude chooses the primary from the answers of a round, and ends the round.
func (c *Connector) conclude(answers []answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		close(c.round)
		c.round = make(chan struct{})
	}()
	c.distrustUnreachable(answers)
	at, err := c.elect(answers)
	if err != nil {
		c.lose(err)
		return
	}
	m := c.members[at]
	if c.current != nil && c.current.member == m {
		return
	}
	c.turnTo(m)
}

// reportsUnreachable reports whether the majority of a group does not reach the primary.
func (c *Connector) reportsUnreachable(a answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current != nil && slices.Contains(a.unreachable, c.current.id)
}

// distrustUnreachable gives up a primary that the majority of its group does not reach. A
// partitioned primary may notice that later than the others, which then elect a new one, and
// leave probes without an answer meanwhile.
func (c *Connector) distrustUnreachable(answers []answer) {
	for i, m := range c.members {
		m.id = cmp.Or(answers[i].id, m.id)
		for j, other := range answers {
			if answers[i].problem == "" && slices.Contains(other.unreachable, m.id) {
				answers[i].problem = "is unreachable for " + c.members[j].host
			}
		}
	}
}

// elect returns the index of the primary.
func (c *Connector) elect(answers []answer) (int, error) {
	var writable []int
	present, isSplit := -1, false
	for i, a := range answers {
		if a.isWritable() {
			writable = append(writable, i)
			isSplit = isSplit || a.kind == replication
		}
		if c.current != nil && c.members[i] == c.current.member {
			present = i
		}
	}
	if len(writable) > 1 && isSplit {
		c.split = writable
		return 0, fmt.Errorf("%w alone: %s are writable; make all but one read-only", ErrNoPrimary, c.hosts(writable))
	}
	if i := slices.IndexFunc(c.split, func(i int) bool { return !answers[i].isWritable() && !answers[i].isRefusal() }); i >= 0 {
		return 0, fmt.Errorf("%w alone: %s were writable, and %s does not answer; make all but one read-only", ErrNoPrimary, c.hosts(c.split), c.members[c.split[i]].host)
	}
	c.split = nil
	if present >= 0 {
		a := answers[present]
		switch {
		case a.isWritable():
			c.misses = 0
			// A group has one primary, and a member that was unreachable may still believe
			// to be it.
			if a.kind != galera {
				return present, nil
			}
		case !a.isRefusal():
			if c.misses++; c.misses < maxMisses {
				return present, nil
			}
		}
	}
	for _, i := range writable {
		if !c.isPinnedElsewhere(i) {
			return i, nil
		}
	}
	return 0, c.noPrimary(answers)
}

func (c *Connector) isPinnedElsewhere(i int) bool {
	return c.config.IsPinned && c.last != "" && c.members[i].host != c.last
}

// noPrimary returns the error that says of each member why it is not the primary.
func (c *Connector) noPrimary(answers []answer) error {
	if err := rejected(answers); err != nil {
		return fmt.Errorf("every member of the database cluster rejects the connection: %w", err)
	}
	var why []string
	for i, a := range answers {
		if a.isWritable() { // pinned elsewhere
			return fmt.Errorf("%w of before: it was %s and is %s; run the command again", ErrNoPrimary, c.last, c.members[i].host)
		}
		why = append(why, c.members[i].host+" "+a.text())
	}
	return fmt.Errorf("%w: %s", ErrNoPrimary, strings.Join(why, "; "))
}

// rejected returns the error of the first member if every member answered with one, such as
// that the password is wrong. To wait for a primary is then no use.
func rejected(answers []answer) error {
	for _, a := range answers {
		var e *mysql.MySQLError
		if !errors.As(a.err, &e) {
			return nil
		}
	}
	return answers[0].err
}

func (c *Connector) hosts(which []int) string {
	var hosts []string
	for _, i := range which {
		hosts = append(hosts, c.members[i].host)
	}
	return strings.Join(hosts, " and ")
}

// turnTo makes a member the primary.
func (c *Connector) turnTo(m *member) {
	c.leave()
	switch c.last {
	case m.host:
		c.config.Log.Info("the database cluster has its primary again", "primary", m.host)
	case "":
		c.config.Log.Info("the database cluster has a primary", "primary", m.host)
	default:
		c.config.Log.Warn("the database cluster has a new primary", "primary", m.host, "former", c.last)
		c.metrics.failovers.Inc()
	}
	c.current, c.last, c.problem = newPrimary(m), m.host, nil
	c.metrics.primary.WithLabelValues(m.host).Set(1)
}

// lose records that there is no primary.
func (c *Connector) lose(problem error) {
	if c.current != nil || c.problem == nil {
		c.config.Log.Warn("the database cluster has no primary", "error", problem)
	}
	c.leave()
	c.problem = problem
}

func (c *Connector) leave() {
	c.misses = 0
	if c.current == nil {
		return
	}
	c.metrics.primary.WithLabelValues(c.current.host).Set(0)
	c.current.end()
	c.current = nil
}
