package requests_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/docs/openapi/openapitest"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var seed = flag.Uint64("seed", 1, "the seed of TestGeneratedRequests")

// TestGeneratedRequests sends requests that are generated from the OpenAPI document. No
// response may be a server error, reveal what is inside, or differ from the document.
// servertest compares every exchange with the document, and kin-openapi does so once more.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.MaxWait = 30 * time.Second // so that a busy machine causes no OVERLOADED
	config.LoginURL = "https://login.example/"
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{
		Id: generatedClientID, Name: "Generated", RedirectUris: []string{generatedRedirect}, Scopes: allScopes, Public: true,
	}}})
	g := newGenerator(t)
	callers := generatedCallers(t, s)
	secrets := []string{config.DB.Path}
	for _, c := range callers {
		if c.Token != "" {
			secrets = append(secrets, c.Token)
		}
	}
	answered, accepted := map[int]int{}, map[string]int{}
	for number := range scaled[uint64](2_000, 50_000) {
		r := g.request(*seed, number)
		response := send(t, s, r, callers[int(number/uint64(len(g.operations)))%len(callers)])
		answered[response.Status/100]++
		if response.Status < http.StatusBadRequest {
			accepted[r.operation.method+" "+r.operation.path]++
		}
		isFull := isStreaming(r) && response.Status == http.StatusServiceUnavailable // the stream cannot be confirmed
		if response.Status >= http.StatusInternalServerError && !isFull {
			t.Errorf("request %d: %s: got %d %s", number, r, response.Status, response.Body)
		}
		if strings.HasPrefix(r.path, "/openapi.") && response.Status == http.StatusOK {
			continue // the document itself
		}
		for _, leak := range leaks(response, secrets) {
			t.Errorf("request %d: %s: the response reveals %q: %.500s", number, r, leak, response.Body)
		}
		if err := r.validate(response); err != nil {
			t.Errorf("request %d: %s: %d: %v", number, r, response.Status, err)
		}
		if t.Failed() && number%2000 == 1999 {
			break
		}
	}
	t.Logf("%d operations, of which %d accepted a request; responses by class: %v", len(g.operations), len(accepted), answered)
	for _, class := range []int{2, 4} {
		if answered[class] < 200 {
			t.Errorf("got %d responses of the class %d, so this test shows too little", answered[class], class)
		}
	}
	for _, o := range g.operations {
		if name := o.method + " " + o.path; isSoak() && accepted[name] == 0 {
			t.Errorf("%s accepted no request, so this test shows too little", name)
		}
	}
}

// generatedCallers returns credentials of all kinds, most with every right.
func generatedCallers(t *testing.T, s *servertest.Server) []servertest.Credentials {
	t.Helper()
	acting := s.AsService(t)
	acting.ActingUser = servertest.Owner
	callers := []servertest.Credentials{
		s.As(t, servertest.Owner), acting, s.As(t, servertest.Moderator), s.As(t, servertest.Owner), s.AsApp(t), s.AsService(t), s.As(t, servertest.Viewer), {},
	}
	return callers
}

// validate validates an exchange with kin-openapi.
func (r *request) validate(response servertest.Response) error {
	query := integers.Replace(strings.Join(r.query, "&"))
	sent := &http.Request{Method: r.method, URL: &url.URL{Path: r.path, RawQuery: query}, Header: r.header.Clone()}
	if sent.Header.Get("client-id") == "" {
		sent.Header.Set("client-id", generatedClientID) // send added one
	}
	return openapitest.Validate(sent, r.body, response.Status, response.Header, []byte(response.Body))
}

// integers writes the integers of a query as kin-openapi reads them.
var integers = strings.NewReplacer("=1.0", "=1", "=1e0", "=1", "=1E%2B2", "=100")

// isStreaming reports whether a request may open an event stream.
func isStreaming(r *request) bool { return r.path == "/v1/events" }

// generatedClient sends requests as they are, and follows no redirect.
var generatedClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send sends a request and returns its response; of an event stream only the header.
func send(t *testing.T, s *servertest.Server, r *request, c servertest.Credentials) servertest.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sent := (&http.Request{
		Method: r.method, URL: &url.URL{Scheme: "http", Host: s.HTTPAddr, Opaque: "//" + s.HTTPAddr + r.path, RawQuery: strings.Join(r.query, "&")},
		Header: r.header.Clone(), Body: io.NopCloser(bytes.NewReader(r.body)), ContentLength: int64(len(r.body)), Host: s.HTTPAddr,
	}).WithContext(ctx)
	identity := map[string]string{"Authorization": "Bearer " + c.Token, "client-id": c.ClientID}
	if c.ActingUser != (uid.ID{}) {
		identity["acting-user"] = c.ActingUser.String()
	}
	for name, value := range identity {
		if _, isChanged := r.header[name]; !isChanged && c.Token != "" {
			sent.Header.Set(name, value)
		}
	}
	response, err := generatedClient.Do(sent)
	if err != nil {
		t.Fatalf("%s: %v", r, err)
	}
	defer func() { _ = response.Body.Close() }()
	result := servertest.Response{Status: response.StatusCode, Header: response.Header}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return result
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", r, err)
	}
	result.Body = string(body)
	return result
}

// inside are texts of which a response must have none: of statements and drivers of
// databases, of Go's stack traces and libraries, and of paths.
var inside = []string{
	"select ", "insert into", " where ", "delete from", "sqlite", "mysql", "mariadb", "constraint failed", "syntax error at", "database/sql", "\"ent: ", " ent: ",
	"goroutine ", ".go:", "runtime error", "panic:", "nil pointer", "/root/", "/home/", "/tmp/", "/usr/", "go/pkg", "proto: ", "grpc: ", "rpc error",
	"jsontext", "strconv", "moderato/server", "unmarshal",
}

// leaks returns the texts of a response that reveal what is inside.
func leaks(response servertest.Response, secrets []string) (found []string) {
	var b strings.Builder
	b.WriteString(response.Body)
	_ = response.Header.Write(&b)
	for _, secret := range secrets {
		if strings.Contains(b.String(), secret) {
			found = append(found, secret)
		}
	}
	text := strings.ToLower(b.String())
	for _, part := range inside {
		if strings.Contains(text, part) {
			found = append(found, part)
		}
	}
	return found
}
