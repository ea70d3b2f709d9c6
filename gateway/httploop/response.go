package httploop

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"time"
)

// maxBuffered is the size in bytes from which a response is sent while it is written.
const maxBuffered = 64 << 10

// response is an http.ResponseWriter. It sends a short response with one write, and a longer
// one in chunks.
type response struct {
	conn   *conn
	header http.Header
	status int
	body   bytes.Buffer
	out    bytes.Buffer
	// chunks writes the body of a response in chunks; nil before it is begun.
	chunks interface {
		Write(p []byte) (int, error)
		Close() error
	}
}

var responses = sync.Pool{New: func() any { return new(response) }}

func newResponse(c *conn) *response {
	w := responses.Get().(*response)
	w.conn, w.header, w.status, w.chunks = c, make(http.Header, 8), 0, nil
	w.body.Reset()
	w.out.Reset()
	return w
}

func (w *response) release() {
	if w.body.Cap() <= 2*maxBuffered && w.out.Cap() <= 2*maxBuffered {
		w.conn, w.header, w.chunks = nil, nil, nil
		responses.Put(w)
	}
}

// Header returns the header of the response.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets the status of the response.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.chunks == nil && w.body.Len()+len(p) <= maxBuffered {
		return w.body.Write(p)
	}
	if err := w.beginChunks(); err != nil {
		return 0, err
	}
	return w.chunks.Write(p)
}

// SetWriteDeadline sets the deadline of writing the response.
func (w *response) SetWriteDeadline(deadline time.Time) error {
	return w.conn.SetWriteDeadline(deadline)
}

// beginChunks sends the header and what was written, if that has not been done.
func (w *response) beginChunks() error {
	if w.chunks != nil {
		return nil
	}
	w.WriteHeader(http.StatusOK)
	w.header.Del("Content-Length")
	w.header.Set("Transfer-Encoding", "chunked")
	w.writeHeader()
	if _, err := w.conn.Write(w.out.Bytes()); err != nil {
		return err
	}
	w.chunks = httputil.NewChunkedWriter(w.conn)
	if w.body.Len() == 0 {
		return nil
	}
	_, err := w.chunks.Write(w.body.Bytes())
	return err
}

// errLength is the error of a response whose length is not the one that its header has.
var errLength = errors.New("the body has another length than the header says")

// finish sends what has not been sent.
func (w *response) finish() error {
	if w.chunks != nil {
		if err := w.chunks.Close(); err != nil {
			return err
		}
		_, err := w.conn.Write([]byte("\r\n"))
		return err
	}
	w.WriteHeader(http.StatusOK)
	length := strconv.Itoa(w.body.Len())
	if declared := w.header["Content-Length"]; len(declared) == 0 {
		w.header["Content-Length"] = []string{length}
	} else if declared[0] != length {
		return errLength
	}
	w.writeHeader()
	w.out.Write(w.body.Bytes())
	_, err := w.conn.Write(w.out.Bytes())
	return err
}

// writeHeader writes the status line and the header to out.
func (w *response) writeHeader() {
	w.out.WriteString("HTTP/1.1 ")
	w.out.WriteString(strconv.Itoa(w.status))
	w.out.WriteByte(' ')
	w.out.WriteString(http.StatusText(w.status))
	w.out.WriteString("\r\nDate: ")
	w.out.Write(time.Now().UTC().AppendFormat(w.out.AvailableBuffer(), http.TimeFormat))
	w.out.WriteString("\r\n")
	if w.conn.server.isClosing.Load() {
		w.out.WriteString("Connection: close\r\n")
	}
	_ = w.header.Write(&w.out)
	w.out.WriteString("\r\n")
}
