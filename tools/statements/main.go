// Statements checks the statements that the tests recorded: that TiDB's parser accepts
// each, and that each reads and changes the rows of one channel, so that one shard can
// run it. Statements that are not confined to a channel must be in the list of exceptions,
// with a reason. See docs/scaling.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	complete := flag.Bool("complete", false, "the whole suite was recorded: fail if nothing was, and name the exceptions that were not needed")
	migrations := flag.String("migrations", "ent/migrations/mysql", "the directory of the migrations")
	exceptionsFile := flag.String("exceptions", "tools/statements/exceptions.txt", "the list of exceptions")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *migrations, *exceptionsFile, *complete); err != nil {
		fmt.Fprintln(os.Stderr, "statements:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, recorded, migrations, exceptionsFile string, complete bool) error {
	c, err := newChecker(migrations)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(exceptionsFile)
	if err != nil {
		return err
	}
	e, err := parseExceptions(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", exceptionsFile, err)
	}
	c.global = e.global
	files, err := filepath.Glob(filepath.Join(recorded, "*.jsonl"))
	if err != nil {
		return err
	}
	r := newReport(e)
	for _, file := range files {
		if err := r.addFile(c, file); err != nil {
			return err
		}
	}
	return r.print(out, complete)
}

// statement is a recorded statement.
type statement struct {
	// From is the package that sent it.
	From string `json:"from"`
	Text string `json:"text"`
	// Args has a number for each argument. Arguments that are equal have the same one.
	Args []int `json:"args"`
}

// exceptions are the tables that belong to no channel, the packages whose statements may
// concern several, and what other statements concern several, each with its reason.
type exceptions struct{ global, packages, statements map[string]string }

// The words that begin the names of exceptions which are not statements.
const (
	globalTable = "global "
	fromPackage = "from "
)

// parseExceptions parses a list: lines with names, and after them the reason, indented.
func parseExceptions(text string) (*exceptions, error) {
	e := &exceptions{map[string]string{}, map[string]string{}, map[string]string{}}
	var names []string
	hasReason := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			for _, name := range names {
				e.add(name, strings.TrimSpace(line))
			}
			hasReason = true
		default:
			if hasReason {
				names, hasReason = nil, false
			}
			names = append(names, line)
		}
	}
	if len(names) > 0 && !hasReason {
		return nil, fmt.Errorf("%q has no reason", names[0])
	}
	return e, nil
}

func (e *exceptions) add(name, reason string) {
	if table, ok := strings.CutPrefix(name, globalTable); ok {
		e.global[table] = reason
		return
	}
	if from, ok := strings.CutPrefix(name, fromPackage); ok {
		e.packages[from] = reason
		return
	}
	e.statements[name] = reason
}

// names returns the names of all exceptions, sorted.
func (e *exceptions) names() []string {
	var names []string
	for prefix, m := range map[string]map[string]string{globalTable: e.global, fromPackage: e.packages, "": e.statements} {
		for name := range m {
			names = append(names, prefix+name)
		}
	}
	slices.Sort(names)
	return names
}
