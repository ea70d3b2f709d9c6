package httploop_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/gateway/httploop"
)

const read = "GET /v1/read HTTP/1.1\r\nHost: api.example\r\n"

// servedBy is the header with which the handler of the tests tells which server ran it.
const servedBy = "Served-By"

// server returns the server whose context a request has.
func server(r *http.Request) string {
	if r.Context().Value(http.ServerContextKey) == nil {
		return "loop"
	}
	return "net/http"
}

// respond describes the request in the response.
func respond(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set(servedBy, server(r))
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("X-Folded", "a\nb")
	if size, err := strconv.Atoi(r.URL.Query().Get("size")); err == nil {
		for range min(size, 1000) {
			_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
		}
		return
	}
	if r.URL.Query().Has("status") {
		w.WriteHeader(http.StatusTeapot)
	}
	header := r.Header.Clone()
	var names []string
	for name, values := range header {
		names = append(names, fmt.Sprintf("%s: %q", name, values))
	}
	slices.Sort(names)
	_, _ = fmt.Fprintf(w, "%s %s %s %q host %q %q %q", r.Method, r.RequestURI, r.Proto, r.URL, r.Host, names, body)
}

func newServer(handler http.HandlerFunc) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		IdleTimeout: 5 * time.Second,
	}
}

// start starts a Server and returns its address.
func start(t testing.TB, handler http.HandlerFunc) (*httploop.Server, string) {
	t.Helper()
	s := &httploop.Server{Reads: map[string]bool{"/v1/read": true}, Server: newServer(handler)}
	l := listen(t)
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// startNetHTTP starts net/http's server and returns its address.
func startNetHTTP(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	s, l := newServer(handler), listen(t)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// exchange sends bytes and the end of the stream, and returns all responses without their
// dates and without the servers that served them, which it returns apart.
func exchange(t testing.TB, addr, text string) (responses, servers []string) {
	t.Helper()
	c := dial(t, addr)
	defer func() { _ = c.Close() }()
	send(t, c, text)
	_ = c.CloseWrite()
	reader := bufio.NewReader(c)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return responses, servers
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		servers = append(servers, response.Header.Get(servedBy))
		response.Header.Del(servedBy)
		if response.Header.Get("Date") == "" && response.StatusCode == http.StatusOK {
			t.Error("the response has no date")
		}
		response.Header.Del("Date")
		responses = append(responses, fmt.Sprint(response.Status, response.Proto, response.Header, response.TransferEncoding, response.ContentLength, response.Close, string(body), err))
	}
}

// TestResponsesAreThoseOfNetHTTP sends the same bytes to both servers.
func TestResponsesAreThoseOfNetHTTP(t *testing.T) {
	_, addr := start(t, respond)
	reference := startNetHTTP(t, respond)
	for name, c := range map[string]struct {
		sent   string
		served string // the servers that serve the requests
	}{
		"read":                 {read + "\r\n", "loop"},
		"read with options":    {"GET /v1/read?a=b&c=%20 HTTP/1.1\r\nhost:  api.example:80 \r\nAuthorization: Bearer 1\r\nx_y: z\r\nX-Y: 1\r\nX-Y: 2\r\nConnection: Keep-Alive\r\n\r\n", "loop"},
		"error":                {"GET /v1/read?status HTTP/1.1\r\nHost: a\r\n\r\n", "loop"},
		"long response":        {"GET /v1/read?size=1000 HTTP/1.1\r\nHost: a\r\n\r\n", "loop"},
		"pipelined reads":      {read + "\r\n" + read + "A: 1\r\n\r\n" + read + "\r\n", "loop loop loop"},
		"byte after a read":    {read + "\r\nG", "loop"},
		"read, then another":   {read + "\r\nPOST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" + read + "\r\n", "loop net/http net/http"},
		"other path":           {"GET /v1/other HTTP/1.1\r\nHost: a\r\n\r\n", "net/http"},
		"encoded path":         {"GET /v1/%72ead HTTP/1.1\r\nHost: a\r\n\r\n", "net/http"},
		"absolute target":      {"GET http://b/v1/read HTTP/1.1\r\nHost: a\r\n\r\n", "net/http"},
		"other method":         {"HEAD /v1/read HTTP/1.1\r\nHost: a\r\n\r\n", "net/http"},
		"HTTP/1.0":             {"GET /v1/read HTTP/1.0\r\nHost: a\r\n\r\n", "net/http"},
		"trailers and pragma":  {read + "TE: trailers\r\nTrailer: A\r\nPragma: no-cache\r\n\r\n", "loop"},
		"upgrade":              {read + "Connection: keep-alive\r\nUpgrade: h2c\r\n\r\n", "net/http"},
		"last request":         {read + "Connection: close\r\n\r\n" + read + "\r\n", "net/http"},
		"body":                 {read + "Content-Length: 2\r\n\r\nab", "net/http"},
		"chunked body":         {read + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "net/http"},
		"body of two lengths":  {read + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc", ""},
		"expected response":    {read + "Expect: 100-continue\r\n\r\n", "net/http"},
		"other expectation":    {read + "Expect: wonders\r\n\r\n", ""},
		"no host":              {"GET /v1/read HTTP/1.1\r\n\r\n", ""},
		"two hosts":            {read + "Host: b\r\n\r\n", ""},
		"malformed host":       {"GET /v1/read HTTP/1.1\r\nHost: a b\r\n\r\n", ""},
		"malformed name":       {read + "a b: c\r\n\r\n", ""},
		"name before a space":  {read + "Content-Length : 2\r\n\r\nab", ""},
		"no colon":             {read + "abc\r\n\r\n", ""},
		"no name":              {read + ": c\r\n\r\n", ""},
		"folded line":          {read + "a: b\r\n c\r\n\r\n", "net/http"},
		"control character":    {read + "a: b\x01\r\n\r\n", ""},
		"bare line feeds":      {"GET /v1/read HTTP/1.1\nHost: a\n\n", "net/http"},
		"bare carriage return": {read + "a: b\rc\r\n\r\n", ""},
		"hidden line":          {read + "a: b\nContent-Length: 2\r\n\r\nab", "net/http"},
		"characters of UTF-8":  {read + "a: é\r\n\r\n", "net/http"},
		"space in the target":  {"GET /v1/read?a b HTTP/1.1\r\nHost: a\r\n\r\n", ""},
		"malformed escape":     {"GET /v1/read?%zz HTTP/1.1\r\nHost: a\r\n\r\n", "loop"},
		"fragment":             {"GET /v1/read?a#b HTTP/1.1\r\nHost: a\r\n\r\n", "loop"},
		"long header section":  {read + "A: " + strings.Repeat("a", 5000) + "\r\n\r\n", "net/http"},
		"incomplete":           {read, ""},
		"no HTTP":              {"\x16\x03\x01\r\n\r\n", ""},
		"nothing":              {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, served := exchange(t, addr, c.sent)
			want, _ := exchange(t, reference, c.sent)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("responses (-net/http +got):\n%s", diff)
			}
			if got := strings.TrimSpace(strings.Join(served, " ")); got != c.served {
				t.Errorf("served by %q, want %q", got, c.served)
			}
		})
	}
}

// FuzzResponsesAreThoseOfNetHTTP is TestResponsesAreThoseOfNetHTTP for any bytes.
func FuzzResponsesAreThoseOfNetHTTP(f *testing.F) {
	_, addr := start(f, respond)
	reference := startNetHTTP(f, respond)
	f.Add(read + "\r\n")
	f.Add(read + "Connection: keep-alive\r\n\r\n" + read + "a:b\r\n\r\n")
	f.Add("GET /v1/read?a=%20 HTTP/1.1\r\nHost:a\r\nContent-Length: 1\r\n\r\na")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := exchange(t, addr, text)
		want, _ := exchange(t, reference, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("responses to %q (-net/http +got):\n%s", text, diff)
		}
	})
}

// readResponse returns the body of the next response, and whether it is the last one of the
// connection.
func readResponse(t *testing.T, from *bufio.Reader) (text string, isLast bool) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), response.Close
}

func TestDisconnectCancelsRead(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	_, addr := start(t, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		ended <- r.Context().Err()
	})
	c := dial(t, addr)
	send(t, c, read+"\r\n")
	<-began
	_ = c.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLongReadLosesNothing sends a request while the one before it is watched for a
// disconnection.
func TestLongReadLosesNothing(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	_, addr := start(t, func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-proceed
		_, _ = io.WriteString(w, r.URL.RawQuery)
	})
	c := dial(t, addr)
	responses := bufio.NewReader(c)
	request := func(i int) string { return fmt.Sprintf("GET /v1/read?%d HTTP/1.1\r\nHost: a\r\n\r\n", i) }
	send(t, c, request(0))
	for i := range 3 {
		<-began
		time.Sleep(3 * httploop.DisconnectDelay / 2) // the watch has begun
		send(t, c, request(i + 1)[:10])
		time.Sleep(httploop.DisconnectDelay / 2)
		send(t, c, request(i + 1)[10:])
		proceed <- struct{}{}
		if got, _ := readResponse(t, responses); got != strconv.Itoa(i) {
			t.Errorf("response %d: %q", i, got)
		}
	}
	<-began
	proceed <- struct{}{}
	if got, _ := readResponse(t, responses); got != "3" {
		t.Errorf("last response: %q", got)
	}
}

func TestShutdownEndsIdleConnectionsAndWaitsForReads(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	s, addr := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "wait" {
			close(began)
			<-proceed
		}
		_, _ = io.WriteString(w, "done")
	})
	idle, busy := dial(t, addr), dial(t, addr)
	send(t, idle, read+"\r\n")
	idleReader, busyReader := bufio.NewReader(idle), bufio.NewReader(busy)
	readResponse(t, idleReader)
	send(t, busy, "GET /v1/read?wait HTTP/1.1\r\nHost: a\r\n\r\n")
	<-began
	hasty, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(hasty); !errors.Is(err, context.Canceled) {
		t.Errorf("a shutdown whose context has ended: %v", err)
	}
	ended := make(chan error)
	go func() { ended <- s.Shutdown(t.Context()) }()
	if _, err := idleReader.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection: %v, want EOF", err)
	}
	select {
	case err := <-ended:
		t.Errorf("the shutdown did not wait: %v", err)
	default:
	}
	close(proceed)
	if got, isLast := readResponse(t, busyReader); got != "done" || !isLast {
		t.Errorf("got %q, last: %v", got, isLast)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := busyReader.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the response: %v, want EOF", err)
	}
}

// TestAbortedResponseIsIncomplete checks responses that a handler aborts, or whose length is
// not the declared one.
func TestAbortedResponseIsIncomplete(t *testing.T) {
	_, addr := start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.RawQuery {
		case "chunks":
			_, _ = w.Write(make([]byte, httploop.MaxBuffered+1))
		case "length":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "abc")
			return
		}
		panic(http.ErrAbortHandler)
	})
	for query, isBegun := range map[string]bool{"": false, "length": false, "chunks": true} {
		c := dial(t, addr)
		send(t, c, "GET /v1/read?"+query+" HTTP/1.1\r\nHost: a\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if (err == nil) != isBegun {
			t.Errorf("%q: %v", query, err)
		}
		if err != nil {
			continue
		}
		_, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, want an unexpected end", query, err)
		}
	}
}
