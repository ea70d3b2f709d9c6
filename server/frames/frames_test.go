package frames_test

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/moderato-live/moderato/server/frames"
)

// written returns what write writes.
func written(write func(*http2.Framer)) []byte {
	var b bytes.Buffer
	write(http2.NewFramer(&b, nil))
	return b.Bytes()
}

// repeated returns frames that are written many times.
func repeated(times int, write func(*http2.Framer)) []byte {
	return bytes.Repeat(written(write), times)
}

func TestFramesAreFoundInPieces(t *testing.T) {
	all := append([]byte(http2.ClientPreface), written(func(f *http2.Framer) {
		_ = f.WriteSettings()
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("block"), EndHeaders: true})
		_ = f.WriteData(1, true, make([]byte, 300))
		_ = f.WriteRSTStream(1, http2.ErrCodeCancel)
	})...)
	want := []byte{byte(http2.FrameSettings), byte(http2.FrameHeaders), byte(http2.FrameData), byte(http2.FrameRSTStream)}
	for size := 1; size <= len(all); size++ {
		if got := frames.Frames(false, slices.Collect(slices.Chunk(all, size))...); !bytes.Equal(got, want) {
			t.Fatalf("in pieces of %d bytes: got the frames %v, want %v", size, got, want)
		}
	}
	for name, text := range map[string]string{
		"HTTP/1.1":                   "GET / HTTP/1.1\r\n\r\n" + strings.Repeat("\x00", 100),
		"the beginning of a preface": http2.ClientPreface[:20] + strings.Repeat("\x00", 100),
	} {
		if got := frames.Frames(false, []byte(text)); got != nil {
			t.Errorf("%s: got the frames %v", name, got)
		}
	}
	if got := frames.Frames(true, []byte("HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("\x00", 100))); got != nil {
		t.Errorf("a response of HTTP/1.1: got the frames %v", got)
	}
	if got := frames.Frames(true, all[len(http2.ClientPreface):]); !bytes.Equal(got, want) {
		t.Errorf("of a server: got the frames %v, want %v", got, want)
	}
}

// FuzzFrames checks that the frames do not depend on how the bytes are cut.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(http2.ClientPreface+"\x00\x00\x01\x00\x00\x00\x00\x00\x01a\x00\x00\x00\x04"), 3, false)
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x04\x03"), 1, true)
	f.Fuzz(func(t *testing.T, b []byte, size int, fromServer bool) {
		if size < 1 {
			return
		}
		whole := frames.Frames(fromServer, b)
		if cut := frames.Frames(fromServer, slices.Collect(slices.Chunk(b, size))...); !bytes.Equal(cut, whole) {
			t.Errorf("in pieces of %d bytes: got the frames %v, want %v", size, cut, whole)
		}
	})
}

// client is the connection of a client that sends some bytes.
type client struct {
	net.Conn
	io.Reader
}

func (c client) Read(p []byte) (int, error)  { return c.Reader.Read(p) }
func (c client) Write(p []byte) (int, error) { return len(p), nil }

// delay returns how long the reads of a connection wait in all if the client sends text, after
// the server has sent something.
func delay(t *testing.T, text, sent []byte) (total time.Duration) {
	t.Helper()
	guard := frames.NewGuard(func(d time.Duration) { total += d })
	c := guard.Conn(client{Reader: iotest.HalfReader(bytes.NewReader(text))})
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("got %d bytes (%v), want %d", len(got), err, len(text))
	}
	return total
}

// TestOnlyTooManyControlFramesAreDelayed has clients send as fast as they can.
func TestOnlyTooManyControlFramesAreDelayed(t *testing.T) {
	reset := func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) }
	settings := written(func(f *http2.Framer) { _ = f.WriteSettings() })
	for name, c := range map[string]struct {
		text, sent []byte
		isDelayed  bool
	}{
		"as many cancelled streams as a connection has": {repeated(1000, reset), nil, false},
		"three times as many":                           {repeated(3000, reset), nil, true},
		"PING":                                          {repeated(3000, func(f *http2.Framer) { _ = f.WritePing(false, [8]byte{}) }), nil, true},
		"WINDOW_UPDATE":                                 {repeated(3000, func(f *http2.Framer) { _ = f.WriteWindowUpdate(0, 1) }), nil, true},
		"WINDOW_UPDATE for what was sent": {
			repeated(1900, func(f *http2.Framer) { _ = f.WriteWindowUpdate(0, 1<<10) }), append(settings, make([]byte, 1<<20)...), false,
		},
		"what a client of gRPC sends with each call": {
			repeated(600, func(f *http2.Framer) {
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 200), EndHeaders: true})
				_ = f.WriteData(1, true, make([]byte, 100))
				_ = f.WriteWindowUpdate(0, 100)
				_ = f.WritePing(false, [8]byte{})
				_ = f.WritePing(true, [8]byte{})
			}),
			append(settings, repeated(600, func(f *http2.Framer) {
				_ = f.WritePing(false, [8]byte{})
				_ = f.WriteData(1, false, make([]byte, 10))
			})...), false,
		},
		"PING for what the server acknowledges": {
			repeated(3000, func(f *http2.Framer) { _ = f.WritePing(false, [8]byte{}) }),
			append(settings, repeated(3000, func(f *http2.Framer) { _ = f.WritePing(true, [8]byte{}) })...), true,
		},
		"empty DATA frames": {repeated(3000, func(f *http2.Framer) { _ = f.WriteData(1, false, nil) }), nil, true},
		"messages":          {repeated(100_000, func(f *http2.Framer) { _ = f.WriteData(1, false, []byte("message")) }), nil, false},
		"requests": {repeated(100_000, func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 200), EndHeaders: true})
			_ = f.WriteData(1, true, nil)
		}), nil, false},
		"long header blocks": {repeated(50, func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 10<<10), EndHeaders: true})
		}), nil, true},
		"more streams than the server accepts": {
			repeated(100, func(f *http2.Framer) {
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true})
			}),
			append(settings, repeated(3000, reset)...), true,
		},
		"HTTP/1.1": {[]byte("POST / HTTP/1.1\r\n\r\n" + strings.Repeat("\x00", 100_000)), nil, false},
	} {
		text := c.text
		if name != "HTTP/1.1" {
			text = append([]byte(http2.ClientPreface), text...)
		}
		if got := delay(t, text, c.sent); (got > 0) != c.isDelayed {
			t.Errorf("%s: the reads wait for %s in all", name, got)
		}
	}
}

// TestCallsAreNotDelayed makes calls one after the other over one gRPC connection. The client
// sends control frames with each call.
func TestCallsAreNotDelayed(t *testing.T) {
	var delays atomic.Int64
	guard := frames.NewGuard(func(time.Duration) { delays.Add(1) })
	s := grpc.NewServer(grpc.Creds(guard.Credentials(insecure.NewCredentials())))
	healthv1.RegisterHealthServer(s, health.NewServer())
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for range 3000 {
		if _, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := delays.Load(); n > 0 {
		t.Errorf("%d reads were delayed", n)
	}
}

// TestRateOfControlFrames has a client send at the rate of the budget.
func TestRateOfControlFrames(t *testing.T) {
	const number = 10_000
	text := append([]byte(http2.ClientPreface), repeated(number, func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) })...)
	var last time.Duration
	start := time.Now()
	c := frames.NewGuard(func(d time.Duration) { last = time.Since(start) + d }).Conn(client{Reader: bytes.NewReader(text)})
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Fatal(err)
	}
	if want := 9 * time.Second; last < want-time.Second || last > want+time.Second {
		t.Errorf("%d frames, of which 1,000 are free, are read within %s, want %s", number, last, want)
	}
}

// TestCloseEndsDelay closes a connection while a Read waits.
func TestCloseEndsDelay(t *testing.T) {
	text := append([]byte(http2.ClientPreface), repeated(100_000, func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) })...)
	near, far := net.Pipe()
	go func() { _, _ = far.Write(text) }()
	guard, _, err := frames.NewGuards(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	c := guard.Conn(near)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c)
	}()
	time.AfterFunc(10*time.Millisecond, func() { _ = c.Close() })
	<-ended
}
