package paging

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/validate"
)

// chunkSize is how many rows of a complete list one call reads for a transport that sends
// the list in chunks. A list with more rows is long.
const chunkSize = 200

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

// Chunks is in the context of a call whose transport sends a complete list in chunks.
// The call returns one chunk and the cursor of the next.
type Chunks struct {
	// Cursor is where the chunk starts. It is empty at the start of the list.
	Cursor string
}

type chunksKey struct{}

// WithChunks returns a context in which complete lists are returned in chunks.
func WithChunks(ctx context.Context, c Chunks) context.Context {
	return context.WithValue(ctx, chunksKey{}, c)
}

// IsContinuation reports whether a call continues a list whose first rows have been
// sent.
func IsContinuation(ctx context.Context) bool {
	c, ok := ctx.Value(chunksKey{}).(Chunks)
	return ok && c.Cursor != ""
}

// Sending represents a call whose transport keeps the response in memory until it is
// sent. Until then, Sending counts a long list as in memory. The zero Sending holds no
// list.
type Sending struct{ release func() }

type sendingKey struct{}

// WithSending returns a context in which s holds a long list.
func WithSending(ctx context.Context, s *Sending) context.Context {
	return context.WithValue(ctx, sendingKey{}, s)
}

func sendingOf(ctx context.Context) *Sending {
	s, _ := ctx.Value(sendingKey{}).(*Sending)
	return s
}

// keep stores release, which Sent calls. If s is nil, keep calls release immediately.
func (s *Sending) keep(release func()) {
	if s == nil {
		release()
		return
	}
	s.release = release
}

// IsLong reports whether the response is a long list. If it is, Sent must be called.
func (s *Sending) IsLong() bool { return s.release != nil }

// Sent releases the long list. It must not be called if IsLong returns false.
func (s *Sending) Sent() { s.release() }

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
	// Count counts the rows, up to limit.
	Count func(ctx context.Context, limit int) (int, error)
	// Place returns the place of a row in the list.
	Place func(Row) Place
}

// Rows returns the rows of a window. If the window is a page, or the list is returned in
// chunks, Rows also returns the cursor of the rows that follow.
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

// chunk returns the next chunk of a list. For the first chunk it also counts the rows of
// the list, so that a list that is too long is refused before anything is sent.
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
		return nil, nil, apierr.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return rows, next, nil
}

// all returns the whole list. It bounds how many long lists are in memory at the same
// time.
func (l Complete[Row, Place]) all(ctx context.Context) ([]Row, error) {
	rows, err := l.Read(ctx, nil, min(chunkSize, l.max)+1)
	if err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) <= chunkSize && len(rows) <= l.max {
		return rows, nil
	}
	release, err := l.acquireLong(fair.FromContext(ctx).Owner)
	if err != nil {
		return nil, err
	}
	defer sendingOf(ctx).keep(release)
	if rows, err = l.Read(ctx, nil, l.max+1); err != nil {
		return nil, l.Store.Classify(err)
	}
	if len(rows) > l.max {
		return nil, apierr.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return rows, nil
}
