package gateway

import (
	"bytes"
	"net"
)

// Listener returns a listener for the HTTP server that does not watch read requests for
// a client that hangs up. net/http has a goroutine that waits on the socket while a
// request is served and is woken up when the response is written. For a small response,
// that is a tenth of its cost. Therefore a client that hangs up does not cancel its
// read, which runs to its end or its deadline. Changes and streams are watched as usual.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept waits for the next connection and returns it.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		c = &unwatched{TCPConn: tcp}
	}
	return c, err
}

var (
	readStart   = []byte("GET /v1/")
	streamStart = []byte("GET " + eventsPath)
)

// unwatched is a connection whose read requests are not watched; see Listener.
type unwatched struct {
	*net.TCPConn // has the methods that net/http looks for, such as CloseWrite

	isReading bool // the last bytes were the start of a read request
}

// Read reads from the connection. After the start of a read request, it returns no
// bytes for the one-byte read with which net/http detects the end of the connection. A
// caller that reads one byte for another reason, such as a buffer with room for only
// one, reads again and gets the byte.
func (c *unwatched) Read(p []byte) (int, error) {
	if len(p) == 1 && c.isReading {
		c.isReading = false
		return 0, nil
	}
	n, err := c.TCPConn.Read(p)
	c.isReading = bytes.HasPrefix(p[:n], readStart) && !bytes.HasPrefix(p[:n], streamStart)
	return n, err
}
