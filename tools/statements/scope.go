package main

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// A term is what an equality may compare: a column of a table, or a value.
type term struct {
	// source is the number of the table in the statement; 0 for a value.
	source int
	column string
	value  int // the number of an argument, or below 0 for a literal
}

// equalities are classes of terms that are known to be equal.
type equalities map[term]term

func (e equalities) find(t term) term {
	for {
		next, ok := e[t]
		if !ok || next == t {
			return t
		}
		t = next
	}
}

// join makes two classes one. The value of a class represents it.
func (e equalities) join(a, b term) {
	a, b = e.find(a), e.find(b)
	if a == b {
		return
	}
	if a.source == 0 {
		a, b = b, a
	}
	e[a] = b
}

func (e equalities) copy() equalities {
	c := make(equalities, len(e))
	for k, v := range e {
		c[k] = v
	}
	return c
}

// isValue reports whether a term is equal to a value.
func (e equalities) isValue(t term) bool { return e.find(t).source == 0 }

// source is a table or a derived table of a FROM clause.
type source struct {
	number      int
	name, table string // table is empty for a derived table
	columns     []string
	// isSettled is true after classify, and isOptional for the right side of a LEFT JOIN,
	// whose own condition is not known yet.
	isSettled, isOptional bool
	// listed are the columns that are compared with several values.
	listed []string
}

// scope is a SELECT, or a part of one whose conditions do not restrict the rest.
type scope struct {
	outer   *scope
	sources []*source
	equal   equalities
}

func (s *scope) inner() *scope { return &scope{outer: s, equal: s.equal.copy()} }

// column returns the term of a column.
func (s *scope) column(name *ast.ColumnName) (term, bool) {
	for at := s; at != nil; at = at.outer {
		for _, src := range at.sources {
			if name.Table.L == src.name || name.Table.L == "" && slices.Contains(src.columns, name.Name.L) {
				return term{source: src.number, column: name.Name.L}, true
			}
		}
	}
	return term{}, false
}
