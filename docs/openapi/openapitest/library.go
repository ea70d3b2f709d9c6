package openapitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/test/testdb"
)

// library validates exchanges with kin-openapi. Document checks every exchange, and what
// kin-openapi leaves out: statuses, headers and fields that are not documented, and the
// messages of an event stream.
type library struct {
	document *openapi3.T
	options  *openapi3filter.Options

	mu   sync.Mutex
	seen map[string]int // validated exchanges by kind
}

// maxOfKind is how many exchanges with the same operation, status and code a process
// validates, unless all tests run on all stores: kin-openapi compiles the schemas again for
// each.
const maxOfKind = 2

// init makes kin-openapi read pages as texts, and accept timestamps with letters in lower case,
// as RFC 3339 does.
func init() {
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3.DefineStringFormatValidator("date-time", openapi3.NewRegexpFormatValidator("(?i)"+openapi3.FormatOfStringDateTime))
}

// newLibrary reads a document. Its tests may break its references.
func newLibrary(text []byte) (*library, error) {
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return &library{
		document: document, seen: map[string]int{},
		options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
		},
	}, nil
}

// check validates an exchange, unless enough of its kind were.
func (l *library) check(x *exchange) error {
	answer, err := decoded(x.header, x.body.Bytes())
	if err != nil {
		return err
	}
	kind := fmt.Sprint(x.request.Method, " ", l.pathOf(x.request.URL.Path), " ", x.status, " ", codeOf(answer))
	l.mu.Lock()
	l.seen[kind]++
	isEnough := l.seen[kind] > maxOfKind && os.Getenv(testdb.AllVariable) == ""
	l.mu.Unlock()
	if isEnough {
		return nil
	}
	sent, err := decoded(x.request.Header, x.sent.Bytes())
	if err != nil {
		return nil //nolint:nilerr // the response says that the body cannot be read
	}
	return l.validate(x.request, sent, x.status, x.header, answer)
}

// pathOf returns the path of the document that a request has; the request's own if there is
// none.
func (l *library) pathOf(of string) string {
	if l.document.Paths.Value(of) != nil {
		return of
	}
	for known := range l.document.Paths.Map() {
		if matches, _ := path.Match(variable.ReplaceAllString(known, "[^./]*"), of); matches {
			return known
		}
	}
	return of
}

// variables returns the values of the variables in a path.
func (l *library) variables(of string) map[string]string {
	values, segments := map[string]string{}, strings.Split(of, "/")
	for i, segment := range strings.Split(l.pathOf(of), "/") {
		if variable.MatchString(segment) {
			values[strings.Trim(segment, "{}")] = segments[i]
		}
	}
	return values
}

var variable = regexp.MustCompile(`\{\w+\}`)

// validate validates a response to an operation, and the request if it was accepted. The
// bodies are not compressed.
func (l *library) validate(r *http.Request, sent []byte, status int, header http.Header, answer []byte) error {
	item := l.document.Paths.Value(l.pathOf(r.URL.Path))
	if item == nil || item.GetOperation(r.Method) == nil || r.URL.Path == openapi.JSONPath || r.URL.Path == openapi.YAMLPath {
		return nil
	}
	sent = bytes.TrimPrefix(sent, []byte("\xef\xbb\xbf"))
	r = r.Clone(context.Background())
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(sent)), int64(len(sent)), nil
	input := &openapi3filter.RequestValidationInput{
		Request: r, Options: l.options, PathParams: l.variables(r.URL.Path),
		Route: &routers.Route{Spec: l.document, Path: r.URL.Path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
	}
	if status < http.StatusMultipleChoices {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("kin-openapi: %w", err)
		}
	}
	if len(answer) == 0 { // an event stream, or a redirect
		return nil
	}
	response := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: status, Header: header, Options: l.options}
	if err := openapi3filter.ValidateResponse(context.Background(), response.SetBodyBytes(answer)); err != nil {
		return fmt.Errorf("kin-openapi: %w", err)
	}
	return nil
}

// Validate validates an exchange with the document that the server serves, with
// kin-openapi. The body of the request is the one that was sent.
func Validate(r *http.Request, sent []byte, status int, header http.Header, answer []byte) error {
	if plain, err := decoded(r.Header, sent); err == nil {
		sent = plain
	}
	answer, err := decoded(header, answer)
	if err != nil {
		return err
	}
	return served().library.validate(r, sent, status, header, answer)
}
