package webhooks

import (
	"sync"
	"time"

	"github.com/moderato-live/moderato/server/uid"
)

const (
	// slowAfter is how long a receiver may take to answer before it counts as slow.
	slowAfter = 400 * time.Millisecond
	// turnTime is how long a webhook may begin attempts while others wait for a slot.
	turnTime = time.Second
	// contendedFor is for how long others count as waiting after one was refused.
	contendedFor = time.Second
)

// owner is whose share of the slots a webhook uses: its user's, or its client's when a
// backend made it.
type owner struct {
	user   uid.ID
	client string
}

// candidate is a webhook on which work is to begin.
type candidate struct {
	id    uid.ID
	owner owner
	// isSlow: the last answer took long. isProven: it did not, and was a success.
	isSlow, isProven bool
}

// candidateColumns are the columns that scan reads.
const candidateColumns = "id, user_id, client_id, is_slow, last_success_at IS NOT NULL"

// scan reads a candidate from a row.
func (c *candidate) scan(scan func(...any) error) error {
	var user []byte
	var client string
	var hasSucceeded bool
	err := scan(&c.id, &user, &client, &c.isSlow, &hasSucceeded)
	if user == nil {
		c.owner.client = client
	}
	copy(c.owner.user[:], user)
	c.isProven = hasSucceeded && !c.isSlow
	return err
}

// slots bounds how many attempts are under way, so that receivers that are slow leave
// room for others, and no owner takes the room of another.
//
// A fourth of the slots is for receivers that answer fast, and half is for slow ones.
// The last fourth is for webhooks that turn out to be slow: those leave the fast slots,
// so that a fast slot is free again after slowAfter at the latest. A receiver that
// nobody knows gets a fast slot only if its owner has no other attempt under way. The
// next webhooks of an owner with a slow receiver get slow slots.
type slots struct {
	mu         sync.Mutex
	fast, slow pool
	// maxSlow is how many slow slots there are with those for webhooks that turn out to
	// be slow.
	maxSlow int
}

func newSlots(n int) *slots {
	n = max(n, 4)
	return &slots{
		fast:    pool{size: n / 4, byOwner: map[owner]int{}},
		slow:    pool{size: n / 2, byOwner: map[owner]int{}},
		maxSlow: n - n/4,
	}
}

// pool is some of the slots.
type pool struct {
	size, used int
	byOwner    map[owner]int
	refusedAt  time.Time
}

// share returns how many slots an owner may hold: the pool is divided among those who
// hold slots, and one more.
func (p *pool) share(o owner) int {
	holders := len(p.byOwner)
	if p.byOwner[o] == 0 {
		holders++
	}
	return max(1, p.size/(holders+1))
}

func (p *pool) add(o owner, n int) {
	p.used += n
	if p.byOwner[o] += n; p.byOwner[o] == 0 {
		delete(p.byOwner, o)
	}
}

func (p *pool) isContended() bool { return time.Since(p.refusedAt) < contendedFor }

// slot is the right of a webhook to have attempts under way.
type slot struct {
	*slots

	owner owner
	pool  *pool
	held  int
	since time.Time
}

// acquire returns a slot for one attempt, or nil if there is none for the owner.
func (s *slots) acquire(c candidate) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.poolFor(c)
	if !p.hasRoom(c.owner) {
		p.refusedAt = time.Now()
		return nil
	}
	p.add(c.owner, 1)
	return &slot{slots: s, owner: c.owner, pool: p, held: 1, since: time.Now()}
}

// poolFor returns the pool from which a candidate gets its slot.
func (s *slots) poolFor(c candidate) *pool {
	if !c.isSlow && s.slow.byOwner[c.owner] == 0 && (c.isProven || s.fast.byOwner[c.owner] == 0) {
		return &s.fast
	}
	return &s.slow
}

func (p *pool) hasRoom(o owner) bool { return p.used < p.size && p.byOwner[o] < p.share(o) }

// isFull reports whether no webhook at all could get a slot.
func (s *slots) isFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fast.used >= s.fast.size && s.slow.used >= s.slow.size
}

// mayGrant reports whether a candidate could get a slot now.
func (s *slots) mayGrant(c candidate) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.poolFor(c).hasRoom(c.owner)
}

// resize asks for room for n attempts, and returns for how many there is: at least
// one. It takes more than one only while nobody waits.
func (s *slot) resize(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = max(n, 1)
	for s.held < n && !s.pool.isContended() && s.pool.hasRoom(s.owner) {
		s.add(1)
	}
	if s.held > n {
		s.add(n - s.held)
	}
	return s.held
}

func (s *slot) add(n int) {
	s.held += n
	s.pool.add(s.owner, n)
}

// slowDown moves the slot to the slow ones, and reports whether there is room.
func (s *slot) slowDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == &s.slow {
		return true
	}
	n := s.held
	if s.slow.used+n > s.maxSlow {
		return false
	}
	s.add(-n)
	s.pool = &s.slow
	s.add(n)
	return true
}

// yields reports whether the webhook is to leave its place to others that wait.
func (s *slot) yields() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool.isContended() && time.Since(s.since) >= turnTime
}

// release gives the slot up.
func (s *slot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(-s.held)
}
