package webhooks

import (
	"sync"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

const (
	// slowAfter is the time after which a receiver that has not responded counts as
	// slow.
	slowAfter = 400 * time.Millisecond
	// turnTime is how long a webhook may begin attempts while others wait for a slot.
	turnTime = time.Second
	// contendedFor is how long others count as waiting after a webhook was refused a
	// slot.
	contendedFor = time.Second
)

// owner is the account whose share of the slots a webhook uses: its user, or its client
// if a backend created it.
type owner struct {
	user   uid.ID
	client string
}

// candidate is a webhook for which a worker may start.
type candidate struct {
	id    uid.ID
	owner owner
	// isSlow is true if the last response was slow. isProven is true if it was not, and
	// the webhook has had a success.
	isSlow, isProven bool
}

// candidateColumns holds the columns that scan reads.
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

// slots bounds the number of attempts in flight, so that slow receivers leave room for
// others, and no owner uses up the room of another.
//
// A quarter of the slots is for fast receivers, and half is for slow ones. The last
// quarter is for webhooks that turn out to be slow: their attempts leave the fast
// slots, so that a fast slot is free again after slowAfter at the latest. A receiver
// without a success gets a fast slot only if its owner holds no other fast slot. If an
// owner holds a slow slot, its next webhooks get slow slots too.
type slots struct {
	mu         sync.Mutex
	fast, slow pool
	// maxSlow is the number of slow slots, including those for webhooks that turn out
	// to be slow.
	maxSlow int
	// live holds the attempts for live events, which use free slots of the other pools.
	// liveAttempts holds them as well, the longest first.
	live         pool
	liveAttempts []*liveAttempt
	size         int
}

func newSlots(n int) *slots {
	n = max(n, 4)
	return &slots{
		fast:    pool{size: n / 4, byOwner: map[owner]int{}},
		slow:    pool{size: n / 2, byOwner: map[owner]int{}},
		maxSlow: n - n/4,
		live:    pool{size: n / 4, byOwner: map[owner]int{}},
		size:    n,
	}
}

// pool is what owners share: a part of the slots, or the room for live events that wait.
type pool struct {
	size, used int
	byOwner    map[owner]int
	refusedAt  time.Time
}

// share returns how many slots an owner may hold: the size of the pool divided by the
// number of owners that hold slots, including this one, plus one. It is at least 1.
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

// slot is the permission of a webhook to have attempts in flight.
type slot struct {
	*slots

	owner owner
	pool  *pool
	held  int
	since time.Time
}

// acquire returns a slot for one attempt, or nil if no slot is free for the owner.
func (s *slots) acquire(c candidate) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.poolFor(c)
	if !p.hasRoom(c.owner) {
		p.refusedAt = time.Now()
		return nil
	}
	p.add(c.owner, 1)
	s.makeRoom()
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

// isFull reports whether no slot is free for any webhook.
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

// resize requests room for n attempts, and returns how many attempts the slot has room
// for, which is at least one. The slot grows only while no other webhook waits for the
// pool.
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
	s.makeRoom()
}

// slowDown moves the slot to the slow pool. It returns false if the slow pool has no
// room.
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

// yields reports whether the webhook should leave its slot to others that wait.
func (s *slot) yields() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool.isContended() && time.Since(s.since) >= turnTime
}

// release returns the slot to its pool.
func (s *slot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(-s.held)
}
