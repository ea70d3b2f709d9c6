package paging

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/validate"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	// chunkSize is how many rows of a complete list are read at once for a transport
	// that sends them as they come.
	chunkSize = 200
)

// Window is the part of a list that a request asks for: all of it, or a page.
type Window struct {
	isPage bool
	limit  int
	cursor string
}

// ParseWindow reads the limit and cursor of a list that is complete unless the caller
// asks for a page.
func ParseWindow(f *validate.Fields, limit *int32, cursor string) Window {
	return Window{
		isPage: limit != nil || cursor != "",
		limit:  f.Limit("limit", limit, defaultLimit, maxLimit),
		cursor: cursor,
	}
}

// Chunks is in the context of a call whose transport sends the rows of a complete list
// as they come: the call returns some, and where to go on.
type Chunks struct {
	// Cursor is where the list goes on; empty at its start.
	Cursor string
}

type chunksKey struct{}

// WithChunks returns a context in which complete lists come in chunks.
func WithChunks(ctx context.Context, c Chunks) context.Context {
	return context.WithValue(ctx, chunksKey{}, c)
}

// IsContinuation reports whether a call goes on with a list of which it has sent rows.
func IsContinuation(ctx context.Context) bool {
	c, ok := ctx.Value(chunksKey{}).(Chunks)
	return ok && c.Cursor != ""
}

// Sending is a call whose transport keeps the response in memory until it is sent. It
// holds what was acquired for a long list until then. The zero Sending holds nothing.
type Sending struct{ release func() }

type sendingKey struct{}

// WithSending returns a context in which a long list is held by s.
func WithSending(ctx context.Context, s *Sending) context.Context {
	return context.WithValue(ctx, sendingKey{}, s)
}

func sendingOf(ctx context.Context) *Sending {
	s, _ := ctx.Value(sendingKey{}).(*Sending)
	return s
}

// keep has release called when the response is sent, or now if nobody sends it.
func (s *Sending) keep(release func()) {
	if s == nil {
		release()
		return
	}
	s.release = release
}

// IsLong reports whether the response is a long list, for which Sent must be called.
func (s *Sending) IsLong() bool { return s.release != nil }

// Sent ends what is held for a long list.
func (s *Sending) Sent() { s.release() }

// Lists is what all complete lists have in common. Make one with NewLists.
type Lists struct {
	max  int
	long longLists
}

// NewLists returns Lists of at most max rows.
func NewLists(max int) *Lists { return &Lists{max: max} }

// Complete is a list that is complete unless the caller asks for a page.
type Complete[Row, Place any] struct {
	*Lists

	Store *store.Store
	// Name names the list with its channel and filters, for its cursors.
	Name string
	// Read reads up to a number of rows after a place; nil is the start.
	Read func(ctx context.Context, after *Place, limit int) ([]Row, error)
	// Count counts the rows, up to a limit.
	Count func(ctx context.Context, limit int) (int, error)
	// Place is where a row stands.
	Place func(Row) Place
}

// Rows returns the rows that a window shows, and leads to those that follow if it is a
// page or the list comes in chunks.
func (l Complete[Row, Place]) Rows(ctx context.Context, w Window) ([]Row, *moderatov1.Pagination, error) {
	chunks, inChunks := ctx.Value(chunksKey{}).(Chunks)
	switch {
	case w.isPage:
		return l.page(ctx, w.cursor, w.limit)
	case inChunks:
		return l.chunk(ctx, chunks)
	default:
		rows, err := l.all(ctx)
		return rows, nil, err
	}
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

// chunk returns the next chunk of a list. Of the first one the list's length is known,
// so that one that is too long is refused before anything is sent.
func (l Complete[Row, Place]) chunk(ctx context.Context, c Chunks) ([]Row, *moderatov1.Pagination, error) {
	rows, next, err := l.page(ctx, c.Cursor, min(chunkSize, l.max))
	if err != nil || c.Cursor != "" || next.GetCursor() == "" {
		return rows, next, err
	}
	length, err := l.Count(ctx, l.max+1)
	if err != nil {
		return nil, nil, l.Store.Classify(err)
	}
	if length > l.max {
		return nil, nil, fault.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return rows, next, nil
}

// all returns the whole list. Few long ones are in memory at once.
func (l Complete[Row, Place]) all(ctx context.Context) ([]Row, error) {
	rows, err := l.Read(ctx, nil, min(chunkSize, l.max)+1)
	if err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) <= chunkSize && len(rows) <= l.max {
		return rows, nil
	}
	release, err := l.long.acquire(fair.FromContext(ctx).Owner)
	if err != nil {
		return nil, err
	}
	defer sendingOf(ctx).keep(release)
	if rows, err = l.Read(ctx, nil, l.max+1); err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) > l.max {
		return nil, fault.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return rows, nil
}
