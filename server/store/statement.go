package store

import (
	"context"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// Row is a row that a Statement reads. Its methods read the columns in order. If a
// column does not have the requested type, the read returns an error.
type Row = prepared.Row

// Statement is a frequent read outside transactions. It costs little: it passes rows on
// as the driver returns them.
//
// P holds the parameters of a read.
type Statement[P any] struct {
	build func(d *Dialect, p P) (query string, args []any)
}

// Declare declares a Statement:
//
//	var moderatorsPage = store.Declare(buildModeratorsPage)
//
// The function build returns the text and the arguments of a read. The number of a LIMIT is
// a part of the text: see Limit.
func Declare[P any](build func(d *Dialect, p P) (query string, args []any)) Statement[P] {
	return Statement[P]{build}
}

// Each reads the rows for some parameters, and passes every row to each.
func (st Statement[P]) Each(ctx context.Context, s *Store, p P, each func(*Row) error) error {
	query, args := st.build(s.Dialect, p)
	return s.reader.Each(ctx, query, args, each)
}

// One reads the one row for some parameters. If there is no row, One returns ErrNoRows.
func (st Statement[P]) One(ctx context.Context, s *Store, p P, read func(*Row)) error {
	query, args := st.build(s.Dialect, p)
	return s.reader.One(ctx, query, args, read)
}
