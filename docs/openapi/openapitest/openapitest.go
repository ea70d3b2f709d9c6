// Package openapitest checks what a server receives and sends against the OpenAPI document.
package openapitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// undocumented are the beginnings of paths that the document leaves out: Socket.IO, which
// OpenAPI cannot describe, and pages for people.
var undocumented = []string{"/ws", "/socket.io", "/demo/", "/console/"}

// Layer returns a layer around the handler of a server. The test fails if a request or a
// response differs from the document. A benchmark has no such layer.
func Layer(t testing.TB) func(http.Handler) http.Handler {
	if _, isBenchmark := t.(*testing.B); isBenchmark {
		return func(next http.Handler) http.Handler { return next }
	}
	return LayerOf(t, served())
}

// LayerOf is Layer with another document.
func LayerOf(t testing.TB, document *Document) func(http.Handler) http.Handler {
	l := &layer{document: document}
	t.Cleanup(func() { l.report(t) })
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.serve(w, r, next) })
	}
}

type layer struct {
	document *Document

	mu    sync.Mutex
	found []string
}

// maxReported bounds the differences that a test reports.
const maxReported = 10

// report reports the differences. It runs when the server has stopped.
func (l *layer) report(t testing.TB) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.found)
	for _, difference := range l.found[:min(len(l.found), maxReported)] {
		t.Errorf("not as in docs/openapi/openapi.json: %s", difference)
	}
}

func (l *layer) add(x *exchange, err error) {
	if err == nil {
		return
	}
	difference := fmt.Sprintf("%s %s: %d: %v", x.request.Method, x.request.URL.Path, x.status, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.found, difference) && len(l.found) < 10*maxReported {
		l.found = append(l.found, difference)
	}
}

func (l *layer) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if slices.ContainsFunc(undocumented, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }) {
		next.ServeHTTP(w, r)
		return
	}
	// The handler may change the request.
	x := &exchange{ResponseWriter: w, request: r.Clone(r.Context()), status: http.StatusOK}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &tee{ReadCloser: r.Body, into: &x.sent}
	}
	if r.URL.Path == eventsPath {
		x.stream = &stream{check: func(name string, data []byte) { l.add(x, l.document.checkMessage(name, data)) }}
	}
	next.ServeHTTP(x, r)
	l.add(x, l.document.check(x))
}

// exchange is a request and its response, as the server writes it.
type exchange struct {
	http.ResponseWriter

	request *http.Request
	sent    bytes.Buffer // what the server read of the request's body

	status int
	header http.Header // as it was when the response began
	body   bytes.Buffer
	stream *stream // if the response is one
}

// Unwrap lets http.ResponseController set deadlines.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Flush implements http.Flusher.
func (x *exchange) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.header == nil {
		x.status, x.header = status, x.Header().Clone()
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.header == nil {
		x.header = x.Header().Clone()
	}
	if x.stream != nil && x.status == http.StatusOK {
		x.stream.write(b)
	} else {
		x.body.Write(b)
	}
	return x.ResponseWriter.Write(b)
}

// tee copies what is read.
type tee struct {
	io.ReadCloser

	into *bytes.Buffer
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	t.into.Write(b[:n])
	return n, err
}

// stream splits Server-Sent Events into messages.
type stream struct {
	rest  []byte
	check func(name string, data []byte)
}

func (s *stream) write(b []byte) {
	s.rest = append(s.rest, b...)
	for {
		message, rest, isWhole := bytes.Cut(s.rest, []byte("\n\n"))
		if !isWhole {
			return
		}
		name, data := "", []byte(nil)
		for line := range bytes.Lines(append(message, '\n')) {
			field, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
			switch string(field) {
			case "event":
				name = string(value)
			case "data":
				data = bytes.Clone(value)
			}
		}
		if data != nil {
			s.check(name, data)
		}
		s.rest = append(s.rest[:0], rest...)
	}
}
