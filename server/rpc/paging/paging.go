// Package paging reads lists whole or in pages, and reads and creates their cursors.
package paging

import (
	"context"
	"errors"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/cursor"
)

// Read reads the place where a list continues from a cursor. list names the operation
// with its channel and filters. An empty cursor means the start of the list and leaves
// place unchanged. If the cursor is not valid, Read returns CURSOR_INVALID.
func Read(ctx context.Context, s *store.Store, list, text string, place any) error {
	if text == "" {
		return nil
	}
	err := s.Cursors.Open(ctx, list, text, place)
	if errors.Is(err, cursor.ErrInvalid) {
		return apierr.New(moderatov1.Reason_REASON_CURSOR_INVALID)
	}
	return err
}

// Cut returns the rows of a page from up to limit+1 rows that were read, and the cursor
// of the next page, which contains the place of the last row. The cursor is empty if the
// row beyond the page does not exist.
func Cut[Row any](ctx context.Context, s *store.Store, list string, rows []Row, limit int, place func(Row) any) ([]Row, *moderatov1.Pagination, error) {
	if len(rows) <= limit {
		return rows, &moderatov1.Pagination{}, nil
	}
	rows = rows[:limit]
	next, err := s.Cursors.Seal(ctx, list, place(rows[limit-1]))
	return rows, &moderatov1.Pagination{Cursor: next}, err
}
