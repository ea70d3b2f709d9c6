package requests_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// rawHTTP2 is an HTTP/2 connection without TLS that sends frames as the test wants them.
type rawHTTP2 struct {
	net.Conn

	framer *http2.Framer
	blocks bytes.Buffer
	hpack  *hpack.Encoder
	next   uint32        // the next stream
	ended  chan struct{} // closed when the server has closed the connection
	opened chan struct{} // closed when the server's settings have arrived

	windows *windows
	isDeaf  atomic.Bool // stops reading
}

// port is what a client connects to.
type port int

const (
	// overHTTP1 is the REST address, which takes HTTP/1.1 until --http-h2c allows HTTP/2, and
	// then HTTP/2 only from the beginning of a connection.
	overHTTP1 port = iota
	// overHTTP2 is the REST address with --http-h2c.
	overHTTP2
	overGRPC
)

func (over port) String() string {
	return [...]string{"HTTP/2 to REST that speaks HTTP/1.1", "REST over HTTP/2", "gRPC"}[over]
}

// dialREST connects to REST. If isServed is set, the connection has served a request.
func (s *target) dialREST(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.REST)
	if err != nil || !s.isServed {
		return conn, err
	}
	_, _ = fmt.Fprintf(conn, "GET /v1/channels/stats HTTP/1.1\r\nHost: moderato\r\nAuthorization: Bearer %s\r\nclient-id: %s\r\n\r\n", s.owner.Token, s.owner.ClientID)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	return conn, err
}

// dialHTTP2 connects, and reads what the server sends unless deaf is set. If isServed is set,
// the connection has served a request.
func (s *target) dialHTTP2(ctx context.Context, over port, deaf bool) (*rawHTTP2, error) {
	var conn net.Conn
	var err error
	if over == overHTTP1 {
		conn, err = s.dialREST(ctx)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", [...]string{overHTTP2: s.REST, overGRPC: s.GRPC}[over])
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	c := &rawHTTP2{Conn: conn, framer: http2.NewFramer(conn, conn), next: 1, ended: make(chan struct{}), opened: make(chan struct{}), windows: newWindows()}
	c.hpack = hpack.NewEncoder(&c.blocks)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	if err := c.framer.WriteSettings(); err != nil {
		return nil, err
	}
	if over == overHTTP1 { // the server sends no settings
		go c.read()
		return c, nil
	}
	if deaf && !s.isServed {
		return c, nil
	}
	go c.read()
	select {
	case <-c.opened:
	case <-c.ended:
		return nil, errors.New("the server closed a new connection")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.isServed {
		err = c.call(s.firstCall(c, over))
		c.isDeaf.Store(deaf)
	}
	return c, err
}

// firstCall returns the header and the message of a request that is served.
func (s *target) firstCall(c *rawHTTP2, over port) (block, message []byte) {
	if over == overGRPC {
		return c.requestHeaders("/grpc.health.v1.Health/Check"), grpcMessage(nil, false)
	}
	return c.headers(":method", "GET", ":scheme", "http", ":authority", "moderato", ":path", "/v1/channels/stats",
		"authorization", "Bearer "+s.owner.Token, "client-id", s.owner.ClientID), nil
}

// read reads until the server closes the connection, or the client becomes deaf.
func (c *rawHTTP2) read() {
	for isOpen := false; ; {
		frame, err := c.framer.ReadFrame()
		if c.isDeaf.Load() {
			return
		}
		if away, isAway := frame.(*http2.GoAwayFrame); err != nil || isAway && away.ErrCode != http2.ErrCodeNo {
			break
		}
		c.windows.receive(frame)
		if _, isSettings := frame.(*http2.SettingsFrame); isSettings && !isOpen {
			isOpen = true
			close(c.opened)
		}
	}
	close(c.ended)
	c.windows.close()
}

// headers returns a header block.
func (c *rawHTTP2) headers(fields ...string) []byte {
	c.blocks.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = c.hpack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(c.blocks.Bytes())
}

// requestHeaders returns the header of a POST.
func (c *rawHTTP2) requestHeaders(path string, more ...string) []byte {
	return c.headers(append([]string{
		":method", "POST", ":scheme", "http", ":authority", "moderato", ":path", path, "content-type", "application/grpc", "te", "trailers",
	}, more...)...)
}

// open opens a stream with a header block, and returns its number.
func (c *rawHTTP2) open(block []byte, endHeaders bool) (uint32, error) {
	stream := c.next
	c.next += 2
	return stream, c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndHeaders: endHeaders})
}

// flood repeats a step until the context ends, which closes the connection also if the server
// reads no more, or until the server has closed it, and reports whether it has closed it. It
// calls begun after each step.
func (c *rawHTTP2) flood(ctx context.Context, begun func(), step func() error) (isClosed bool) {
	defer func() { _ = c.Close() }()
	for ctx.Err() == nil {
		if err := step(); err != nil {
			return ctx.Err() == nil
		}
		begun()
		select {
		case <-c.ended:
			return ctx.Err() == nil
		default:
		}
	}
	return false
}

// http2Attacks are floods of one connection. The paths are of calls that need a token, so
// that no handler works long.
var http2Attacks = []struct {
	name string
	deaf bool // whether the client does not read
	// mustClose is whether the server has to close the connection: over REST, over gRPC.
	mustClose [2]bool
	step      func(c *rawHTTP2) func() error
}{
	{"rapid reset", false, [2]bool{}, func(c *rawHTTP2) func() error {
		return func() error {
			stream, err := c.open(c.requestHeaders("/moderato.v1.TokensService/GetSelf"), true)
			if err == nil {
				err = c.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
			}
			return err
		}
	}},
	{"CONTINUATION flood", false, [2]bool{true, true}, func(c *rawHTTP2) func() error {
		filler := c.headers("x-filler", strings.Repeat("a", 8<<10))
		isOpen := false
		return func() error {
			if !isOpen {
				isOpen = true
				_, err := c.open(c.requestHeaders("/moderato.v1.TokensService/GetSelf"), false)
				return err
			}
			return c.framer.WriteContinuation(c.next-2, false, filler)
		}
	}},
	{"header compression bomb", false, [2]bool{}, func(c *rawHTTP2) func() error {
		return func() error { // one entry of the table, referred to by one byte each time
			block := c.requestHeaders("/moderato.v1.TokensService/GetSelf", "x-filler", strings.Repeat("a", 3<<10))
			block = append(block, bytes.Repeat([]byte{0x80 | 62}, 10<<10)...)
			_, err := c.open(block, true)
			return err
		}
	}},
	{"SETTINGS flood", true, [2]bool{}, func(c *rawHTTP2) func() error {
		return func() error {
			return c.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14})
		}
	}},
	{"PING flood", false, [2]bool{false, true}, func(c *rawHTTP2) func() error {
		return func() error { return c.framer.WritePing(false, [8]byte{}) }
	}},
	{"PING flood of a client that does not read", true, [2]bool{}, func(c *rawHTTP2) func() error {
		return func() error { return c.framer.WritePing(false, [8]byte{}) }
	}},
	{"WINDOW_UPDATE flood", false, [2]bool{}, func(c *rawHTTP2) func() error {
		sent := 0
		return func() error {
			sent++
			if sent > 1<<20 { // more would overflow the window
				return c.framer.WritePing(true, [8]byte{})
			}
			return c.framer.WriteWindowUpdate(0, 1)
		}
	}},
}

// grpcMessage returns the frame of a message of gRPC.
func grpcMessage(message []byte, isCompressed bool) []byte {
	header := make([]byte, 5)
	if isCompressed {
		header[0] = 1
	}
	binary.BigEndian.PutUint32(header[1:], uint32(len(message))) //nolint:gosec // messages are small
	return append(header, message...)
}
