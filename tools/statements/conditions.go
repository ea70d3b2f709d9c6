package main

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// conjuncts adds the equalities that a condition implies.
func (a *analysis) conjuncts(s *scope, node ast.ExprNode) {
	switch n := node.(type) {
	case *ast.ParenthesesExpr:
		a.conjuncts(s, n.Expr)
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd:
			a.conjuncts(s, n.L)
			a.conjuncts(s, n.R)
		case opcode.EQ, opcode.NullEQ:
			a.equal(s, n.L, n.R)
		case opcode.LogicOr:
			a.either(s, n)
		}
	case *ast.PatternInExpr:
		a.in(s, n)
	}
}

func (a *analysis) equal(s *scope, l, r ast.ExprNode) {
	if rows, ok := l.(*ast.RowExpr); ok {
		if others, ok := r.(*ast.RowExpr); ok {
			for i := range rows.Values {
				a.equal(s, rows.Values[i], others.Values[i])
			}
		}
		return
	}
	x, ok := a.term(s, l)
	y, also := a.term(s, r)
	if ok && also {
		s.equal.join(x, y)
	}
}

// either adds what both branches of an OR imply.
func (a *analysis) either(s *scope, n *ast.BinaryOperationExpr) {
	left, right := *s, *s
	left.equal, right.equal = s.equal.copy(), s.equal.copy()
	a.conjuncts(&left, n.L)
	a.conjuncts(&right, n.R)
	for t := range left.equal {
		if value := left.equal.find(t); value == right.equal.find(t) {
			s.equal.join(t, value)
		}
	}
}

// in adds an equality if all elements of a list are equal.
func (a *analysis) in(s *scope, n *ast.PatternInExpr) {
	if n.Not || n.Sel != nil || len(n.List) == 0 {
		return
	}
	for _, element := range n.List {
		if rows, ok := element.(*ast.RowExpr); ok {
			a.inRows(s, n, rows)
			return
		}
		x, _ := a.term(s, n.List[0])
		if y, ok := a.term(s, element); !ok || x != y {
			a.list(s, n.Expr)
			return
		}
	}
	a.equal(s, n.Expr, n.List[0])
}

// list notes that a column is compared with several values.
func (a *analysis) list(s *scope, column ast.ExprNode) {
	t, _ := a.term(s, column)
	for at := s; at != nil; at = at.outer {
		for _, src := range at.sources {
			if src.number == t.source && t.source != 0 {
				src.listed = append(src.listed, t.column)
			}
		}
	}
}

// inRows adds an equality for each column that is equal in all rows of a list.
func (a *analysis) inRows(s *scope, n *ast.PatternInExpr, first *ast.RowExpr) {
	columns, ok := n.Expr.(*ast.RowExpr)
	if !ok {
		return
	}
	for i, column := range columns.Values {
		value, _ := a.term(s, first.Values[i])
		same := true
		for _, element := range n.List {
			other, ok := a.term(s, element.(*ast.RowExpr).Values[i])
			same = same && ok && other == value
		}
		if same {
			a.equal(s, column, first.Values[i])
		}
	}
}

// term returns the term of an expression that is a column or a value.
func (a *analysis) term(s *scope, node ast.ExprNode) (term, bool) {
	switch n := node.(type) {
	case *ast.ParenthesesExpr:
		return a.term(s, n.Expr)
	case *ast.ColumnNameExpr:
		return s.column(n.Name)
	case *driver.ParamMarkerExpr:
		if n.Order < len(a.args) {
			return term{value: a.args[n.Order]}, true
		}
	case *driver.ValueExpr:
		a.literals++
		return term{value: -a.literals}, true
	case *ast.FuncCastExpr:
		return a.term(s, n.Expr)
	}
	return term{}, false
}
