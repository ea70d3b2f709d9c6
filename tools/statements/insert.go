package main

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// insert analyses an INSERT: all its rows must be of one channel.
func (a *analysis) insert(s *scope, n *ast.InsertStmt) {
	src, ok := n.Table.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return
	}
	table := src.Source.(*ast.TableName).Name.L
	a.tables = append(a.tables, table)
	key := a.shardKey(table)
	if key == "" {
		a.global = append(a.global, table)
	}
	at := slices.IndexFunc(n.Columns, func(c *ast.ColumnName) bool { return c.Name.L == key })
	if n.Select != nil {
		_, terms, in := a.query(s, n.Select)
		a.inserted(key, table, at >= 0 && at < len(terms) && a.confineTo(in, terms[at]))
		return
	}
	confined := at >= 0
	for _, row := range n.Lists {
		if at >= 0 {
			t, ok := a.term(s, row[at])
			confined = confined && ok && a.confineTo(s, t)
		}
		for _, value := range row {
			a.subqueries(s, value)
		}
	}
	a.inserted(key, table, confined)
}

func (a *analysis) inserted(key, table string, confined bool) {
	if key != "" && !confined {
		a.loose = append(a.loose, table+" by none")
	}
}

// confineTo reports whether a term is a value, and adds it to the channels.
func (a *analysis) confineTo(s *scope, t term) bool {
	if t == (term{}) || !s.equal.isValue(t) {
		return false
	}
	a.confine(s.equal.find(t))
	return true
}

// subqueries analyses the queries in an expression.
func (a *analysis) subqueries(s *scope, node ast.ExprNode) {
	if node != nil {
		node.Accept(&finder{a, s})
	}
}

// finder visits the outermost queries of an expression.
type finder struct {
	*analysis
	scope *scope
}

func (f *finder) Enter(n ast.Node) (ast.Node, bool) {
	if q, ok := n.(*ast.SubqueryExpr); ok {
		f.query(f.scope, q.Query)
		return n, true
	}
	return n, false
}

func (f *finder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
