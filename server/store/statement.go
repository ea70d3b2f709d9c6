package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/moderato-live/moderato/server/store/coalesce"
)

// Row is a row that a Statement reads. Its methods read the columns in order. If a
// column does not have the requested type, the read returns an error.
type Row = coalesce.Row

// Statement is a frequent read outside transactions. It costs little: it passes rows on
// as the driver returns them. On a database server concurrent reads of a Statement that
// Declare declared are coalesced: see package coalesce. This restricts its text, as
// described for coalesce.Verify.
//
// P holds the parameters of a read.
type Statement[P any] struct {
	name     string
	build    func(d *Dialect, p P) (query string, args []any)
	separate bool // not coalesced
}

// Declare declares a Statement. It must be called while the program's variables are
// initialized:
//
//	var moderatorsPage = store.Declare("moderators", buildModeratorsPage, moderatorsQuery{})
//
// The function build returns the text and the arguments of a read. The number of a LIMIT
// is a part of the text: see Limit. The examples are parameters that together select
// every form of the text. When a store opens, the text of each example is verified in
// each dialect; any other text is verified when it may first be coalesced.
func Declare[P any](name string, build func(d *Dialect, p P) (query string, args []any), example P, more ...P) Statement[P] {
	declared = append(declared, declare(name, build, example, more...))
	return Statement[P]{name: name, build: build}
}

// DeclareSeparate declares a Statement that is never coalesced. It suits a read that looks
// up so much that the round trip to the database server is a small part of its cost.
func DeclareSeparate[P any](name string, build func(d *Dialect, p P) (query string, args []any)) Statement[P] {
	return Statement[P]{name: name, build: build, separate: true}
}

func declare[P any](name string, build func(d *Dialect, p P) (query string, args []any), example P, more ...P) declaration {
	return declaration{name, func(d *Dialect) error {
		for _, p := range append([]P{example}, more...) {
			query, _ := build(d, p)
			if err := coalesce.Verify(query); err != nil {
				return fmt.Errorf("%w: %s", err, query)
			}
		}
		return nil
	}}
}

// Each reads the rows for some parameters, and passes every row to each.
func (st Statement[P]) Each(ctx context.Context, s *Store, p P, each func(*Row) error) error {
	query, args := st.build(s.Dialect, p)
	ctx, span := s.tracing.Named(ctx, st.name)
	err := st.reader(s).Each(ctx, query, args, each)
	span.EndWith(err)
	return err
}

// One reads the one row for some parameters. It may call read again when it repeats the
// statement. If there is no row, One returns ErrNoRows.
func (st Statement[P]) One(ctx context.Context, s *Store, p P, read func(*Row)) error {
	query, args := st.build(s.Dialect, p)
	ctx, span := s.tracing.Named(ctx, st.name)
	err := st.reader(s).One(ctx, query, args, read)
	if !errors.Is(err, ErrNoRows) {
		span.EndWith(err)
	}
	span.End()
	return err
}

func (st Statement[P]) reader(s *Store) *coalesce.Reader {
	if st.separate {
		return s.separate
	}
	return s.reader
}

// declaration is a declared Statement.
type declaration struct {
	name   string
	verify func(*Dialect) error
}

// declared holds the declared Statements of the program.
var declared []declaration

var verifyDeclared = sync.OnceValue(func() error { return verify(declared) })

func verify(declarations []declaration) error {
	for _, declaration := range declarations {
		for _, d := range []dialect{sqliteDialect{}, mysqlDialect{}} {
			if err := declaration.verify(newDialect(d)); err != nil {
				return fmt.Errorf("the declared statement %q cannot be used on %s: %w", declaration.name, d.name(), err)
			}
		}
	}
	return nil
}
