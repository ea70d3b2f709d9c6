package paging

import (
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/fair"
)

const (
	// maxLong is how many complete lists of more than a chunk may be in memory at the
	// same time. longPerOwner is how many of them may belong to one owner.
	maxLong      = 4
	longPerOwner = 1
)

// longLists counts the long lists that are in memory. A call does not wait for the list
// of another call, because a client that receives slowly would make it wait for long.
type longLists struct {
	mu      sync.Mutex
	used    int
	byOwner map[fair.Owner]int
}

// acquire counts a list until release is called. It returns OVERLOADED if too many lists
// are in memory. Further calls to release do nothing.
func (l *longLists) acquire(owner fair.Owner) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used >= maxLong || l.byOwner[owner] >= longPerOwner {
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_OVERLOADED,
			Message:    "Too many long lists are being sent. Try again later, or request the list in pages, with limit and cursor.",
			RetryAfter: time.Second,
		}
	}
	if l.byOwner == nil {
		l.byOwner = map[fair.Owner]int{}
	}
	l.used++
	l.byOwner[owner]++
	return sync.OnceFunc(func() { l.release(owner) }), nil
}

func (l *longLists) release(owner fair.Owner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used--
	if l.byOwner[owner]--; l.byOwner[owner] == 0 {
		delete(l.byOwner, owner)
	}
}
