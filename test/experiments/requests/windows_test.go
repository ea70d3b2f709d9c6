package requests_test

import (
	"errors"
	"sync"

	"golang.org/x/net/http2"
)

const (
	// firstWindow is how many bytes of messages a connection and a stream may send at first.
	firstWindow = 64<<10 - 1
	// frameBytes is how large a frame may be.
	frameBytes = 16 << 10
)

// errCut is the error of a call during which the server closed the connection.
var errCut = errors.New("the server closed the connection")

// windows holds the flow control of a connection whose calls follow each other.
type windows struct {
	mu      sync.Mutex
	changed sync.Cond

	initial    int    // the window of a new stream
	connection int    // how many bytes may be sent on the connection
	stream     int    // how many bytes may be sent in the latest call
	latest     uint32 // the stream of the latest call
	isAnswered bool   // whether the latest call has ended
	isClosed   bool   // whether the server has closed the connection
}

func newWindows() *windows {
	w := &windows{initial: firstWindow, connection: firstWindow}
	w.changed.L = &w.mu
	return w
}

// begin begins a call.
func (w *windows) begin(stream uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest, w.stream, w.isAnswered = stream, w.initial, false
}

// receive updates the windows and the state of the latest call from a frame of the server.
func (w *windows) receive(frame http2.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed.Broadcast()
	isLatest := frame.Header().StreamID == w.latest
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
			w.stream += int(size) - w.initial
			w.initial = int(size)
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			w.connection += int(f.Increment)
		} else if isLatest {
			w.stream += int(f.Increment)
		}
	case *http2.DataFrame:
		w.isAnswered = w.isAnswered || isLatest && f.StreamEnded()
	case *http2.HeadersFrame:
		w.isAnswered = w.isAnswered || isLatest && f.StreamEnded()
	case *http2.RSTStreamFrame:
		w.isAnswered = w.isAnswered || isLatest
	}
}

// close ends all waiting, because the server has closed the connection.
func (w *windows) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isClosed = true
	w.changed.Broadcast()
}

// take waits until the client may send some of n bytes, and returns how many. It returns 0 if
// the server has answered already.
func (w *windows) take(n int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for min(w.connection, w.stream) <= 0 && !w.isAnswered && !w.isClosed {
		w.changed.Wait()
	}
	switch {
	case w.isClosed:
		return 0, errCut
	case w.isAnswered:
		return 0, nil
	}
	n = min(n, frameBytes, w.connection, w.stream)
	w.connection -= n
	w.stream -= n
	return n, nil
}

// answered waits until the server has answered the call.
func (w *windows) answered() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.isAnswered && !w.isClosed {
		w.changed.Wait()
	}
	if !w.isAnswered {
		return errCut
	}
	return nil
}

// call opens a stream, sends a message as the windows allow, and waits until the call ends.
func (c *rawHTTP2) call(block, message []byte) error {
	c.windows.begin(c.next)
	stream, err := c.open(block, true)
	for err == nil && len(message) > 0 {
		var n int
		if n, err = c.windows.take(len(message)); n == 0 {
			break
		}
		err = c.framer.WriteData(stream, n == len(message), message[:n])
		message = message[n:]
	}
	return errors.Join(err, c.windows.answered())
}
