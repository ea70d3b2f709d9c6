package gateway_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/moderato-live/moderato/gateway"
)

// TestEveryByteOfARequestArrives reads requests with buffers of each size, as a
// buffer that is almost full does: whatever is held back comes when it is asked
// for again.
func TestEveryByteOfARequestArrives(t *testing.T) {
	const sent = "GET /v1/channels HTTP/1.1\r\nHost: a\r\n\r\nPOST /v1/channels HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, limit := range map[string]func(io.Reader) io.Reader{
		"whole":       func(r io.Reader) io.Reader { return r },
		"half":        iotest.HalfReader,
		"bytewise":    iotest.OneByteReader,
		"errors last": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= 64; size++ {
				client, server := connected(t)
				go func() { _, _ = io.WriteString(client, sent); _ = client.Close() }()
				got, err := io.ReadAll(limit(bufferOf{server, size}))
				if err != nil || string(got) != sent {
					t.Fatalf("in pieces of %d: got %q, %v", size, got, err)
				}
			}
		})
	}
}

// bufferOf reads at most so many bytes at once.
type bufferOf struct {
	io.Reader
	size int
}

func (b bufferOf) Read(p []byte) (int, error) { return b.Reader.Read(p[:min(len(p), b.size)]) }

// TestWhoseHangingUpIsWatched asks for a byte after the start of a request, as
// net/http does: it waits for those that may take long or change something.
func TestWhoseHangingUpIsWatched(t *testing.T) {
	for start, watched := range map[string]bool{
		"GET /v1/channels?limit=1 HTTP/1.1\r\n\r\n":     false,
		"GET /v1/moderation/log HTTP/1.1\r\n\r\n":       false,
		"GET /v1/events HTTP/1.1\r\n\r\n":               true,
		"GET /v1/events?type[]=a HTTP/1.1\r\n\r\n":      true,
		"GET http://host/v1/events HTTP/1.1\r\n\r\n":    true,
		"POST /v1/moderation/ban HTTP/1.1\r\n\r\n":      true,
		"DELETE /v1/moderation/ban HTTP/1.1\r\n\r\n":    true,
		"OPTIONS /v1/moderation/ban HTTP/1.1\r\n\r\n":   true,
		"HEAD /v1/moderation/channels HTTP/1.1\r\n\r\n": true,
	} {
		client, server := connected(t)
		if _, err := io.WriteString(client, start); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Read(make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		want := error(nil)
		if watched {
			want = io.EOF
		}
		if n, err := server.Read(make([]byte, 1)); n != 0 || !errors.Is(err, want) {
			t.Errorf("%q: after the client went got %d bytes and %v, want %v", start, n, err, want)
		}
	}
}

// connected are the two ends of a connection, the server's as the listener has it.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var dial net.Dialer
	if client, err = dial.DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = gateway.Listener(l).Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}
