package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, ImportPath, Output string
	Elapsed                                   float64
}

// report prints what go test prints without -json: the results of packages, and the
// output of tests that fail. It leaves out packages without tests.
type report struct {
	out io.Writer
	// output holds the output of each test that runs.
	output  map[test][]string
	slow    []slowTest
	skipped map[string]int // tests by the reason why they were skipped
	// hasTests is whether a test has ended.
	hasTests bool
}

type test struct{ pkg, name string }

type slowTest struct {
	test
	seconds float64
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[test][]string{}, skipped: map[string]int{}}
}

// read handles events until there are no more.
func (r *report) read(events io.Reader) error {
	in := bufio.NewReader(events)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		_, _ = r.out.Write(line) // not from test2json
		return
	}
	t := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return // the progress of go test -v
		}
		if e.Test != "" {
			r.output[t] = append(r.output[t], e.Output)
		} else if !isNoise(e.Output) {
			r.print(e.Output)
		}
	case "pass", "skip", "fail":
		r.end(t, e)
	}
}

// end handles the result of a test.
func (r *report) end(t test, e event) {
	output := r.output[t]
	delete(r.output, t)
	if t.name == "" {
		r.printRest(t.pkg)
		return
	}
	r.hasTests = true
	r.slow = append(r.slow, slowTest{t, e.Elapsed})
	if e.Action == "skip" {
		r.skipped[reason(output)]++
	}
	if e.Action == "fail" {
		r.print(strings.Join(output, ""))
	}
}

// printRest prints the output of tests that did not end, because the package panicked or
// timed out.
func (r *report) printRest(pkg string) {
	for t, output := range r.output {
		if t.pkg == pkg {
			r.print(strings.Join(output, ""))
			delete(r.output, t)
		}
	}
}

func (r *report) print(text string) { _, _ = io.WriteString(r.out, text) }

// isNoise reports whether a line of a package says nothing: that it has no tests, or what
// go test prints only with -v.
func isNoise(line string) bool {
	return line == "PASS\n" || strings.HasSuffix(line, "[no test files]\n")
}

// reason returns the reason of a skipped test in its output.
func reason(output []string) string {
	for _, line := range output {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "---") {
			return text
		}
	}
	return "no reason given"
}

// printSlowest prints the n slowest tests, and how many tests were skipped. A test with
// subtests is not listed, but its subtests are.
func (r *report) printSlowest(n int) {
	tests := r.leaves()
	slices.SortStableFunc(tests, func(a, b slowTest) int { return int(1000 * (b.seconds - a.seconds)) })
	if len(tests) > n {
		tests = tests[:n]
	}
	if len(tests) > 0 {
		fmt.Fprintln(r.out, "\nThe slowest tests, in seconds:")
	}
	for _, t := range tests {
		fmt.Fprintf(r.out, "%8.1f  %s %s\n", t.seconds, path.Base(t.pkg), t.name)
	}
	for why, n := range r.skipped {
		fmt.Fprintf(r.out, "skipped: %d, %s\n", n, why)
	}
}

// leaves returns the tests without subtests.
func (r *report) leaves() []slowTest {
	parents := map[test]bool{}
	for _, t := range r.slow {
		for name := path.Dir(t.name); name != "."; name = path.Dir(name) {
			parents[test{t.pkg, name}] = true
		}
	}
	return slices.DeleteFunc(r.slow, func(t slowTest) bool { return parents[t.test] })
}
