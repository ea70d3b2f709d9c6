package paging

import (
	"context"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
)

// searchRows is how many rows a search reads at once.
const searchRows = 1000

// Search is a list of which a page has the rows that match. A search examines at most Max rows
// for a page. If it finds fewer rows than the limit among them, the page ends there, and has a
// cursor.
type Search[Row, Place any] struct {
	Store *store.Store
	// Name identifies the list, with its channel and filters, in its cursors.
	Name string
	// Max is how many rows a page examines.
	Max int
	// Read reads up to limit rows after a place.
	Read func(ctx context.Context, after Place, limit int) ([]Row, error)
	// Place returns the place of a row in the list.
	Place func(Row) Place
	// Matches reports whether a row is in the page; nil if every row is.
	Matches func(Row) bool
}

// Page returns up to limit rows that match, and the cursor of the next page. start is the place
// before every row.
func (s Search[Row, Place]) Page(ctx context.Context, cursor string, start Place, limit int) ([]Row, *moderatov1.Pagination, error) {
	place := start
	if err := Read(ctx, s.Store, s.Name, cursor, &place); err != nil {
		return nil, nil, err
	}
	page, isLast, err := s.find(ctx, &place, limit)
	if err != nil {
		return nil, nil, s.Store.Classify(err)
	}
	if isLast {
		return page, &moderatov1.Pagination{}, nil
	}
	next, err := s.Store.Cursors.Seal(ctx, s.Name, place)
	return page, &moderatov1.Pagination{Cursor: next}, err
}

// find examines rows after a place, and moves the place to the row after which the next page
// begins.
func (s Search[Row, Place]) find(ctx context.Context, place *Place, limit int) (page []Row, isLast bool, err error) {
	size := searchRows
	if s.Matches == nil {
		size = limit + 1
	}
	for left := s.Max; left > 0; left -= size {
		size = min(size, left)
		rows, err := s.Read(ctx, *place, size)
		if err != nil {
			return nil, false, err
		}
		for _, row := range rows {
			if s.Matches == nil || s.Matches(row) {
				if len(page) == limit {
					return page, false, nil
				}
				page = append(page, row)
			}
			*place = s.Place(row)
		}
		if len(rows) < size {
			return page, true, nil
		}
	}
	return page, false, nil
}
