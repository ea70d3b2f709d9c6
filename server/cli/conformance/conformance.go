// Package conformance checks whether a server does what the interface document says, as a
// client sees it. It knows the document by its own tables and shares nothing with the server,
// so that it can find the server's mistakes.
package conformance

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Config says which server is checked, and as whom.
type Config struct {
	BaseURL, ClientID string
	Tokens            []string
	// WriteChannel is the channel that is changed; none if empty.
	WriteChannel string
	// Rate is the number of requests a second; 0 sets no limit.
	Rate        float64
	MaxRequests int
	HTTP        *http.Client
}

// Finding is a difference between the server and the document.
type Finding struct {
	// Section is a section of docs/interface.md, or a page of these docs.
	Section   string `json:"section"`
	Operation string `json:"operation"`
	Text      string `json:"finding"`
}

// Skip is something that was not checked, and why.
type Skip struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

// Report is the result of a run.
type Report struct {
	Findings   []Finding     `json:"findings"`
	Skipped    []Skip        `json:"skipped"`
	Operations int           `json:"operations"`
	Requests   int           `json:"requests"`
	Duration   time.Duration `json:"-"`
}

// anyOperation stands for the operations in findings and skips that concern all of them.
const anyOperation = "all operations"

// run is a run of the checks.
type run struct {
	client   *client
	clientID string
	actors   []*actor
	other    string            // a channel of another user than the actors
	target   string            // the user whom write bans
	cursors  map[string]string // of lists, by path
	foreign  string            // a cursor of another list than the one that is checked
	report   Report
	known    map[string]bool // findings
	// err ends the run; after it, no request is sent.
	err error
}

// Run checks a server. It returns an error if the server could not be checked at all.
func Run(ctx context.Context, c Config) (*Report, error) {
	start := time.Now()
	r := &run{client: newClient(&c), clientID: c.ClientID, known: map[string]bool{}, cursors: map[string]string{}}
	r.report.Findings, r.report.Skipped = []Finding{}, []Skip{}
	if err := r.meet(ctx, c.Tokens); err != nil {
		return nil, err
	}
	r.unknownPath(ctx)
	for _, o := range parseTable(interfaceTable, additionsTable) {
		if r.err == nil {
			r.report.Operations++
			r.check(ctx, o)
		}
		if r.err != nil {
			r.skip(o.String(), r.err.Error())
		}
	}
	if c.WriteChannel != "" && r.err == nil {
		if err := r.write(ctx, c.WriteChannel); err != nil {
			return nil, err
		}
	}
	if r.err != nil && !errors.Is(r.err, errRequests) && !errors.Is(r.err, errTime) {
		return nil, r.err
	}
	r.report.Requests, r.report.Duration = r.client.requests, time.Since(start)
	return &r.report, nil
}

// find adds a finding, unless one about the same subject is known: of many rows or responses
// with a fault, one is enough.
func (r *run) find(section, operation, subject, text string) {
	key := strings.Join([]string{section, operation, subject}, "\n")
	if !r.known[key] {
		r.known[key] = true
		r.report.Findings = append(r.report.Findings, Finding{section, operation, subject + " " + text})
	}
}

func (r *run) skip(operation, reason string) {
	if s := (Skip{operation, reason}); !slices.Contains(r.report.Skipped, s) {
		r.report.Skipped = append(r.report.Skipped, s)
	}
}
