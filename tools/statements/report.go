package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// report is what was found in the recorded statements.
type report struct {
	exceptions *exceptions
	// seen are the statements with their arguments, and counted their texts.
	seen, counted map[string]bool
	// confined counts the texts that concern one channel, joined those that concern one and
	// global tables, global those that concern global tables alone, and excepted those that
	// are exceptions.
	confined, joined, global, excepted int
	problems                           []string
	used                               map[string]bool // exceptions that were needed
}

func newReport(e *exceptions) *report {
	return &report{exceptions: e, seen: map[string]bool{}, counted: map[string]bool{}, used: map[string]bool{}}
}

func (r *report) addFile(c *checker, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var s statement
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			continue // the process was killed while it wrote its last line
		}
		if !r.seen[lines.Text()] {
			r.seen[lines.Text()] = true
			r.add(c, s)
		}
	}
	return lines.Err()
}

func (r *report) add(c *checker, s statement) {
	f, err := c.check(s)
	if err != nil {
		r.problem("TiDB's parser refuses a statement of %s: %v\n    %s", s.From, err, s.Text)
		return
	}
	for _, table := range f.global {
		r.used[globalTable+table] = true
		if r.exceptions.global[table] == "" {
			r.problem("the table %s belongs to no channel, and is no exception", table)
		}
	}
	for _, loose := range f.loose {
		r.except(s.From, loose, s)
	}
	// Texts that differ in the length of a list or in a number count once.
	text := lists.ReplaceAllString(numbers.ReplaceAllString(s.Text, "?"), "?")
	if r.counted[text] {
		return
	}
	r.counted[text] = true
	switch {
	case len(f.loose) > 0:
		r.excepted++
	case !f.isConfined:
		r.global++
	case len(f.global) > 0:
		r.joined++
	default:
		r.confined++
	}
}

var (
	numbers = regexp.MustCompile(`\b\d+\b`)
	lists   = regexp.MustCompile(`(WHEN \? THEN \? )+|\((\?, ?)*\?\)(, ?\((\?, ?)*\?\))*|\?(, ?\?)+`)
)

// except marks an exception as needed, or records that there is none.
func (r *report) except(from, loose string, s statement) {
	if r.exceptions.packages[from] != "" {
		r.used[fromPackage+from] = true
		return
	}
	for name := range r.exceptions.statements {
		by, what, _ := strings.Cut(name, ": ")
		if by == from && (what == loose || what == anyColumn.ReplaceAllString(loose, " by any")) {
			r.used[name] = true
			return
		}
	}
	r.problem("a statement concerns several channels, and is no exception: %s: %s\n    %s", from, loose, s.Text)
}

// anyColumn is the part of a name that an exception replaces with "by any" if the columns
// do not matter.
var anyColumn = regexp.MustCompile(` by [^ ]+$`)

// problem records a problem, unless one that begins with the same line is known.
func (r *report) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	line := firstLine.FindString(text)
	if !slices.ContainsFunc(r.problems, func(known string) bool { return firstLine.FindString(known) == line }) {
		r.problems = append(r.problems, text)
	}
}

var firstLine = regexp.MustCompile(`^[^\n]*`)

// print writes the report. If the whole suite was recorded, it names the exceptions that
// were not needed; they are no problem, because a test may meet a statement rarely.
func (r *report) print(out io.Writer, complete bool) error {
	total := r.confined + r.joined + r.global + r.excepted
	if complete && total == 0 {
		return errors.New("no statement was recorded")
	}
	if complete {
		for _, name := range r.exceptions.names() {
			if !r.used[name] {
				fmt.Fprintf(out, "this exception was not needed: %s\n", name)
			}
		}
	}
	for _, text := range slices.Sorted(slices.Values(r.problems)) {
		fmt.Fprintln(out, text)
	}
	fmt.Fprintf(out, "%d statements, not counting lengths of lists: %d concern one channel alone, %d one channel and global tables, %d no channel, and %d several\n",
		total, r.confined, r.joined, r.global, r.excepted)
	if len(r.problems) > 0 {
		return fmt.Errorf("%d problems: docs/scaling.md explains the rules", len(r.problems))
	}
	return nil
}
