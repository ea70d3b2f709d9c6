package requests_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// verdicts is what testdata/authorization.md says.
type verdicts struct {
	credentials map[string]string // the code by credentials
	codes       map[string]code
	sections    []section
}

// code is how a code of a response is sent.
type code struct{ http, grpc string }

// section is a set of operations with the same verdicts.
type section struct {
	title      string
	operations []operation
	callers    map[string]map[string]string // the verdict by caller and named id
}

// operation is a row of the first table of a section.
type operation struct {
	rpc       string // the full name of the method, with a slash before the last part
	eventType string // if the operation is about one
	method    string // empty for gRPC alone
	path      string
	tokens    []string
	scope     string
	ifFound   bool // whether the scope is checked after the relation
	permitted []string
}

// name identifies an operation in the messages of a test.
func (o operation) name() string { return strings.TrimSpace(o.rpc + " " + o.eventType) }

// accepts reports whether the operation accepts a caller's kind of token.
func (o operation) accepts(c *caller) bool {
	switch {
	case slices.Contains(o.tokens, c.kind):
		return true
	case c.kind != "service":
		return false
	case c.isActing:
		return slices.Contains(o.tokens, "user")
	}
	return slices.Contains(o.tokens, "app")
}

// nothing is a cell of a table that is not tried, or a scope that is not needed.
const nothing = "–"

// readVerdicts reads the tables.
func readVerdicts(t *testing.T) *verdicts {
	t.Helper()
	text, err := os.ReadFile("testdata/authorization.md")
	if err != nil {
		t.Fatal(err)
	}
	v := &verdicts{credentials: map[string]string{}, codes: map[string]code{}}
	var header []string
	var s *section
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, isTitle := strings.CutPrefix(line, "## "); isTitle {
			v.sections = append(v.sections, section{title: title, callers: map[string]map[string]string{}})
			s = &v.sections[len(v.sections)-1]
		}
		if !strings.HasPrefix(line, "|") {
			header = nil
			continue
		}
		row := cells(line)
		switch {
		case header == nil:
			header = row
		case strings.HasPrefix(line, "|--"), s == nil:
		case header[0] == "credentials":
			v.credentials[row[0]] = row[1]
		case header[0] == "code":
			v.codes[row[0]] = code{http: row[1], grpc: row[2]}
		case header[0] == "RPC":
			s.operations = append(s.operations, operationOf(row))
		case header[0] == "caller":
			s.callers[row[0]] = map[string]string{}
			for i, named := range header[1:] {
				s.callers[row[0]][named] = row[i+1]
			}
		}
	}
	v.sections = slices.DeleteFunc(v.sections, func(s section) bool { return len(s.operations) == 0 })
	return v
}

// cells returns the cells of a row of a table.
func cells(line string) []string {
	row := strings.Split(strings.Trim(line, "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row
}

// operationOf returns the operation of a row.
func operationOf(row []string) operation {
	o := operation{tokens: strings.Split(row[2], ", "), permitted: strings.Split(row[4], ", ")}
	o.rpc, o.eventType, _ = strings.Cut(row[0], " ")
	if row[1] != nothing {
		o.method, o.path, _ = strings.Cut(row[1], " ")
	}
	o.scope, _, o.ifFound = strings.Cut(row[3], ", if found")
	if o.scope == nothing {
		o.scope = ""
	}
	return o
}

// columns returns the ids that a caller names. A caller whose kind of token is refused need
// not be in the table.
func (s *section) columns(o operation, c *caller) []string {
	isTried := func(verdict string) bool { return verdict != "" && verdict != nothing }
	var tried []string
	for _, column := range []string{"another's", "own", "none", "absent"} {
		if !o.accepts(c) && o.tokens[0] != "none" {
			for _, verdict := range s.callers {
				if isTried(verdict[column]) {
					return []string{column}
				}
			}
		} else if isTried(s.callers[c.name][column]) {
			tried = append(tried, column)
		}
	}
	return tried
}

// claimed returns the scopes that other sections require for an operation, and whether one
// of them is before this one.
func (v *verdicts) claimed(in *section, o operation) (scopes []string, isEarlier bool) {
	isBefore := true
	for i := range v.sections {
		if &v.sections[i] == in {
			isBefore = false
			continue
		}
		for _, other := range v.sections[i].operations {
			if other.name() == o.name() {
				scopes, isEarlier = append(scopes, other.scope), isEarlier || isBefore
			}
		}
	}
	return scopes, isEarlier
}

// want returns the codes that a call may have.
func want(o operation, c *caller, scope, verdict string) []string {
	hasScope := o.scope == "" || c.kind == "service" || scope == o.scope
	switch {
	case o.tokens[0] == "none":
	case !o.accepts(c):
		return []string{"TOKEN_KIND_NOT_ACCEPTED"}
	case !hasScope && (!o.ifFound || verdict == "yes"):
		return []string{"SCOPE_MISSING"}
	}
	if verdict == "yes" {
		return o.permitted
	}
	return []string{verdict}
}
