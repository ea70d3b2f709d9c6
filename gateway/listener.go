package gateway

import (
	"bytes"
	"net"
)

// Listener makes a listener for the HTTP server whose requests for reading are not
// watched for a client that hangs up. net/http has a goroutine wait on the socket
// while a request is answered, which is woken up again when the answer is written:
// for a small answer that is a tenth of its cost. So who hangs up does not end a
// read, which goes on to its end or its deadline. Changes and streams are watched as
// ever.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept waits for a connection.
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

// unwatched is a connection of which the listener's promise holds.
type unwatched struct {
	*net.TCPConn // with all that net/http finds in one, such as CloseWrite

	isReading bool // the last bytes were the start of a request for reading
}

// Read reads, but finds nothing when asked for the one byte by which net/http
// notices the end of the connection. Who has another reason to ask for one byte,
// such as a buffer that is full but for it, asks again, and gets it.
func (c *unwatched) Read(p []byte) (int, error) {
	if len(p) == 1 && c.isReading {
		c.isReading = false
		return 0, nil
	}
	n, err := c.TCPConn.Read(p)
	c.isReading = bytes.HasPrefix(p[:n], readStart) && !bytes.HasPrefix(p[:n], streamStart)
	return n, err
}
