package main

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// finding is what a statement concerns.
type finding struct {
	// loose are the tables of which the statement concerns rows of several channels: what it
	// does, the table, and the columns that it compares with values or with other tables.
	loose []string
	// isConfined is true if all rows of channel tables are of one channel.
	isConfined bool
	// global are the global tables.
	global []string
}

// check parses a statement and finds what it concerns.
func (c *checker) check(s statement) (finding, error) {
	nodes, _, err := c.parser.Parse(s.Text, "", "")
	if err != nil {
		return finding{}, err
	}
	var f finding
	for _, node := range nodes {
		number(node)
		a := &analysis{checker: c, args: s.Args}
		a.statement(node)
		f = a.finding(verb(node))
	}
	return f, nil
}

// number gives each parameter its place among the arguments.
func number(node ast.Node) {
	var m markers
	node.Accept(&m)
	slices.SortFunc(m.found, func(a, b *driver.ParamMarkerExpr) int { return a.Offset - b.Offset })
	for i, marker := range m.found {
		marker.SetOrder(i)
	}
}

// markers visits the parameters of a statement.
type markers struct{ found []*driver.ParamMarkerExpr }

func (m *markers) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (m *markers) Leave(n ast.Node) (ast.Node, bool) {
	if marker, ok := n.(*driver.ParamMarkerExpr); ok {
		m.found = append(m.found, marker)
	}
	return n, true
}

func verb(node ast.StmtNode) string {
	switch n := node.(type) {
	case *ast.InsertStmt:
		if n.IsReplace {
			return "REPLACE"
		}
		return "INSERT"
	case *ast.UpdateStmt:
		return "UPDATE"
	case *ast.DeleteStmt:
		return "DELETE"
	}
	return "SELECT"
}

// analysis is the analysis of one statement.
type analysis struct {
	*checker
	args     []int
	literals int
	numbers  int
	tables   []string
	global   []string
	loose    []string
	keys     []term // the channels of the loose tables
	// channels are the values with which channel tables are restricted.
	channels map[term]bool
	confined bool
}

func (a *analysis) finding(verb string) finding {
	slices.Sort(a.global)
	slices.Sort(a.tables)
	slices.Sort(a.loose)
	if len(a.channels) > 1 {
		a.loose = append(a.loose, "several channels of "+strings.Join(slices.Compact(a.tables), ", "))
	}
	f := finding{global: slices.Compact(a.global), isConfined: a.confined}
	for _, loose := range slices.Compact(a.loose) {
		f.loose = append(f.loose, verb+" "+loose)
	}
	return f
}

func (a *analysis) statement(node ast.Node) {
	s := &scope{equal: equalities{}}
	switch n := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		a.query(s, n)
	case *ast.InsertStmt:
		a.insert(s, n)
	case *ast.UpdateStmt:
		late := a.from(s, n.TableRefs.TableRefs)
		a.conjuncts(s, n.Where)
		a.settle(s, late)
		a.subqueries(s, n.Where)
		for _, assignment := range n.List {
			a.subqueries(s, assignment.Expr)
		}
	case *ast.DeleteStmt:
		late := a.from(s, n.TableRefs.TableRefs)
		a.conjuncts(s, n.Where)
		a.settle(s, late)
		a.subqueries(s, n.Where)
	}
}

// query analyses a SELECT or a UNION, and returns the terms of the columns that it selects.
// Each part of a UNION stands for itself.
func (a *analysis) query(outer *scope, node ast.Node) (names []string, terms []term, in *scope) {
	switch n := node.(type) {
	case *ast.SetOprStmt:
		for _, part := range n.SelectList.Selects {
			before := a.channels
			a.channels = nil
			partNames, partTerms, partScope := a.query(outer, part)
			a.mergeChannels(before)
			if names == nil {
				names, terms, in = partNames, partTerms, partScope
			} else {
				terms = nil // a column has the values of all parts
			}
		}
	case *ast.SetOprSelectList:
		for _, part := range n.Selects {
			names, _, in = a.query(outer, part)
		}
	case *ast.SelectStmt:
		return a.selects(outer, n)
	}
	return names, terms, in
}

// mergeChannels keeps the larger set of channels of two parts.
func (a *analysis) mergeChannels(before map[term]bool) {
	if len(before) > len(a.channels) {
		a.channels = before
	}
}

func (a *analysis) selects(outer *scope, n *ast.SelectStmt) (names []string, terms []term, in *scope) {
	s := outer.inner()
	var late []func()
	if n.From != nil {
		late = a.from(s, n.From.TableRefs)
	}
	a.conjuncts(s, n.Where)
	a.settle(s, late)
	a.subqueries(s, n.Where)
	if n.Having != nil {
		a.subqueries(s, n.Having.Expr)
	}
	for _, field := range n.Fields.Fields {
		if field.Expr == nil {
			continue
		}
		a.subqueries(s, field.Expr)
		name := field.AsName.L
		if column, ok := field.Expr.(*ast.ColumnNameExpr); ok && name == "" {
			name = column.Name.Name.L
		}
		t, _ := a.term(s, field.Expr)
		names, terms = append(names, name), append(terms, t)
	}
	return names, terms, s
}

// from adds the tables of a FROM clause to a scope. What it returns must run when all
// conditions of the scope are known: it analyses the optional sides of joins.
func (a *analysis) from(s *scope, node ast.ResultSetNode) (late []func()) {
	switch n := node.(type) {
	case *ast.Join:
		late = a.from(s, n.Left)
		if n.Right == nil {
			return late
		}
		if n.Tp != ast.LeftJoin {
			late = append(late, a.from(s, n.Right)...)
			if n.On != nil {
				a.conjuncts(s, n.On.Expr)
				late = append(late, func() { a.subqueries(s, n.On.Expr) })
			}
			return late
		}
		return append(late, a.optional(s, n))
	case *ast.TableSource:
		a.source(s, n)
	}
	return late
}

// optional adds the right side of a LEFT JOIN. The join's condition restricts that side alone.
func (a *analysis) optional(s *scope, n *ast.Join) func() {
	right := &scope{outer: s, equal: equalities{}}
	late := a.from(right, n.Right)
	for _, src := range right.sources {
		src.isOptional = true
	}
	s.sources = append(s.sources, right.sources...)
	return func() {
		for x, y := range s.equal {
			right.equal.join(x, y)
		}
		if n.On != nil {
			a.conjuncts(right, n.On.Expr)
		}
		for _, src := range right.sources {
			src.isOptional = false
		}
		a.settle(right, late)
		if n.On != nil {
			a.subqueries(right, n.On.Expr)
		}
	}
}

func (a *analysis) source(s *scope, n *ast.TableSource) {
	a.numbers++
	src := &source{number: a.numbers, name: n.AsName.L}
	switch t := n.Source.(type) {
	case *ast.TableName:
		src.table, src.columns = t.Name.L, a.columns[t.Name.L]
		if src.name == "" {
			src.name = t.Name.L
		}
	default:
		names, terms, in := a.query(s, t)
		src.columns = names
		for i, column := range terms {
			if column == (term{}) || names[i] == "" {
				continue
			}
			// The column is what the inner query selects.
			if v := in.equal.find(column); v.source == 0 {
				column = v
			}
			s.equal.join(term{source: src.number, column: names[i]}, column)
		}
	}
	s.sources = append(s.sources, src)
}

// settle classifies the tables of a scope, of which all conditions are known.
func (a *analysis) settle(s *scope, late []func()) {
	for _, src := range s.sources {
		if src.table != "" && !src.isOptional && !src.isSettled {
			src.isSettled = true
			a.classify(s, src)
		}
	}
	for _, f := range late {
		f()
	}
}

func (a *analysis) classify(s *scope, src *source) {
	if len(a.columns[src.table]) == 0 {
		return // a table of the database server
	}
	a.tables = append(a.tables, src.table)
	key := a.shardKey(src.table)
	if key == "" {
		a.global = append(a.global, src.table)
		return
	}
	t := term{source: src.number, column: key}
	if s.equal.isValue(t) {
		a.confine(s.equal.find(t))
		return
	}
	for _, key := range a.keys {
		if s.equal.find(key) == s.equal.find(t) {
			return // its rows are of the channel of another table's row, on the same shard
		}
	}
	a.keys = append(a.keys, t)
	a.loose = append(a.loose, src.table+" by "+strings.Join(a.restricted(s, src), "+"))
}

func (a *analysis) confine(channel term) {
	if a.channels == nil {
		a.channels = map[term]bool{}
	}
	a.channels[channel] = true
	a.confined = true
}

// restricted returns the columns of a table that are equal to values or to other tables.
func (a *analysis) restricted(s *scope, src *source) []string {
	columns := slices.Clone(src.listed)
	for t := range s.equal {
		if t.source == src.number {
			columns = append(columns, t.column)
		}
	}
	for _, t := range s.equal {
		if t.source == src.number {
			columns = append(columns, t.column)
		}
	}
	slices.Sort(columns)
	if columns = slices.Compact(columns); len(columns) == 0 {
		return []string{"none"}
	}
	return columns
}
