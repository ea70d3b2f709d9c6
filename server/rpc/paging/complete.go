package paging

import (
	"context"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// longRows is how many rows a complete list may have before it is long.
	longRows = 1000
	// maxLong is how many long lists may be in memory at the same time. longPerOwner is how
	// many of them may belong to one owner.
	maxLong      = 4
	longPerOwner = 1
)

// Window is the part of a list that a request asks for: the whole list, or a page.
type Window struct {
	isPage bool
	limit  int
	cursor string
}

// ParseWindow returns the window for the limit and cursor of a list that is complete
// unless the caller asks for a page.
func ParseWindow(f *validate.Fields, limit *int32, cursor string) Window {
	return Window{
		isPage: limit != nil || cursor != "",
		limit:  f.Limit("limit", limit),
		cursor: cursor,
	}
}

// Sending represents a response that stays in memory until its client has received it.
// Until then it counts as one of the long lists, if it is one. The zero Sending is not a
// long list.
type Sending struct{ release func() }

type sendingKey struct{}

// WithSending returns a context for a call whose response is s. The transport calls Sent
// when the client has received the response. Without a Sending, a response counts until
// the call ends.
func WithSending(ctx context.Context, s *Sending) context.Context {
	return context.WithValue(ctx, sendingKey{}, s)
}

// IsLong reports whether the response is a long list.
func (s *Sending) IsLong() bool { return s.release != nil }

// Sent ends the response. Further calls do nothing.
func (s *Sending) Sent() {
	if s.release != nil {
		s.release()
	}
}

// Lists holds the state that all complete lists share. Use NewLists to create one.
type Lists struct {
	max  int
	long *fair.Room
}

// NewLists returns Lists of at most max rows.
func NewLists(max int) *Lists { return &Lists{max: max, long: fair.NewRoom(maxLong, longPerOwner)} }

// Complete is a list that is complete unless the caller asks for a page.
type Complete[Row, Place any] struct {
	*Lists

	Store *store.Store
	// Name identifies the list, with its channel and filters, in its cursors.
	Name string
	// Read reads up to limit rows after a place, or from the start if after is nil.
	Read func(ctx context.Context, after *Place, limit int) ([]Row, error)
	// Place returns the place of a row in the list.
	Place func(Row) Place
}

// Rows returns the rows of a window. If the window is a page, Rows also returns the cursor
// of the next one.
func (l Complete[Row, Place]) Rows(ctx context.Context, w Window) ([]Row, *moderatov1.Pagination, error) {
	if w.isPage {
		return l.page(ctx, w.cursor, w.limit)
	}
	rows, err := l.all(ctx)
	return rows, nil, err
}

func (l Complete[Row, Place]) page(ctx context.Context, cursor string, limit int) ([]Row, *moderatov1.Pagination, error) {
	var after *Place
	if err := Read(ctx, l.Store, l.Name, cursor, &after); err != nil {
		return nil, nil, err
	}
	rows, err := l.Read(ctx, after, limit+1)
	if err != nil {
		return nil, nil, l.Store.Classify(err)
	}
	return Cut(ctx, l.Store, l.Name, rows, limit, func(r Row) any { return l.Place(r) })
}

// all returns the whole list. A long list is read only if there is room for it.
func (l Complete[Row, Place]) all(ctx context.Context) ([]Row, error) {
	rows, err := l.Read(ctx, nil, min(longRows, l.max)+1)
	if err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) <= min(longRows, l.max) {
		return rows, nil
	}
	release, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	if sending, ok := ctx.Value(sendingKey{}).(*Sending); ok {
		sending.release = release
	} else {
		defer release()
	}
	if rows, err = l.Read(ctx, nil, l.max+1); err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) > l.max {
		return nil, apierr.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return rows, nil
}

// enter counts a long list of the caller as in memory until release is called. If too many
// are in memory, it returns OVERLOADED. A call does not wait for the list of another one,
// because a client that receives slowly would make it wait for long.
func (l *Lists) enter(ctx context.Context) (release func(), err error) {
	release, ok := l.long.Enter(fair.FromContext(ctx).Owner)
	if !ok {
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_OVERLOADED,
			Message:    "Too many long lists are being sent. Try again later, or request the list in pages, with limit and cursor.",
			RetryAfter: time.Second,
		}
	}
	return release, nil
}
