package fair

import "container/list"

// waiter is a waiting request.
type waiter struct {
	owner   Owner
	granted chan struct{} // closed when the request has a slot or was taken
	at      *list.Element // in the queue of its owner
	work    any           // what the holder of a slot may take over; nil for nothing
	isTaken bool          // the holder of a slot has taken over the work
}

// line holds the waiting requests of one priority: a queue for each owner, and the
// owners in the order in which they are served.
type line struct {
	length int
	owners list.List // of *queue
	queues map[Owner]*list.Element
}

type queue struct {
	owner    Owner
	requests list.List // of *waiter
}

func (l *line) add(owner Owner) *waiter {
	e := l.queues[owner]
	if e == nil {
		if l.queues == nil {
			l.queues = map[Owner]*list.Element{}
		}
		e = l.owners.PushBack(&queue{owner: owner})
		l.queues[owner] = e
	}
	r := &waiter{owner: owner, granted: make(chan struct{})}
	r.at = e.Value.(*queue).requests.PushBack(r)
	l.length++
	return r
}

// first returns the next request; nil if there is none.
func (l *line) first() *waiter {
	e := l.owners.Front()
	if e == nil {
		return nil
	}
	return e.Value.(*queue).requests.Front().Value.(*waiter)
}

// take removes and returns the next request; nil if there is none. The owner of the
// request becomes the last.
func (l *line) take() *waiter {
	r := l.first()
	if r != nil {
		l.owners.MoveToBack(l.owners.Front())
		l.remove(r)
	}
	return r
}

// remove removes a request, and reports whether it was still waiting.
func (l *line) remove(r *waiter) bool {
	if r.at == nil {
		return false
	}
	e := l.queues[r.owner]
	q := e.Value.(*queue)
	q.requests.Remove(r.at)
	r.at = nil
	l.length--
	if q.requests.Len() == 0 {
		l.owners.Remove(e)
		delete(l.queues, r.owner)
	}
	return true
}

// before returns how many requests of an owner wait, and how many waiting requests would be
// served before a new one of the owner: all of the owner's own, and at most one more than
// that number of each other owner.
func (l *line) before(owner Owner) (own, all int) {
	if e := l.queues[owner]; e != nil {
		own = e.Value.(*queue).requests.Len()
	}
	all = own
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if q := e.Value.(*queue); q.owner != owner {
			all += min(q.requests.Len(), own+1)
		}
	}
	return own, all
}
