package paging

import (
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

// acquireLong counts a long list as in memory until release is called. It returns OVERLOADED
// if too many lists are in memory. A call does not wait for the list of another call, because
// a client that receives slowly would make it wait for long. Further calls to release do
// nothing.
func (l *Lists) acquireLong(owner fair.Owner) (release func(), err error) {
	release, ok := l.long.Enter(owner)
	if !ok {
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_OVERLOADED,
			Message:    "Too many long lists are being sent. Try again later, or request the list in pages, with limit and cursor.",
			RetryAfter: time.Second,
		}
	}
	return release, nil
}
