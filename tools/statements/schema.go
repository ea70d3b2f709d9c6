package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the values of literals
)

// checker checks statements.
type checker struct {
	parser *parser.Parser
	// columns are the columns of each table.
	columns map[string][]string
	// global are the tables that belong to no channel.
	global map[string]string
}

// newChecker learns the tables from the migrations, all of which TiDB's parser must accept.
func newChecker(migrations string) (*checker, error) {
	c := &checker{parser: parser.New(), columns: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(migrations, "*.sql"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no migrations in %s: %w", migrations, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		nodes, _, err := c.parser.Parse(up, "", "")
		if err != nil {
			return nil, fmt.Errorf("TiDB's parser refuses %s: %w", file, err)
		}
		for _, node := range nodes {
			c.apply(node)
		}
	}
	return c, nil
}

// apply adds what a migration does to the tables.
func (c *checker) apply(node ast.StmtNode) {
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		for _, column := range n.Cols {
			c.columns[n.Table.Name.L] = append(c.columns[n.Table.Name.L], column.Name.Name.L)
		}
	case *ast.AlterTableStmt:
		for _, spec := range n.Specs {
			for _, column := range spec.NewColumns {
				c.columns[n.Table.Name.L] = append(c.columns[n.Table.Name.L], column.Name.Name.L)
			}
		}
	case *ast.DropTableStmt:
		for _, table := range n.Tables {
			delete(c.columns, table.Name.L)
		}
	}
}

// shardKey returns the column with the channel of a table's rows; empty for a global table.
func (c *checker) shardKey(table string) string {
	switch {
	case c.global[table] != "":
		return ""
	case table == "channels":
		return "id"
	case slices.Contains(c.columns[table], "channel_id"):
		return "channel_id"
	}
	return ""
}
