package sse

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// writeTimeout is how long a client may take to receive one write.
	writeTimeout = 30 * time.Second
	// reconnectDelay is how long a browser waits before it reconnects.
	reconnectDelay = 2 * time.Second
)

// Writer writes a stream of events to a response.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// NewWriter returns a Writer of a response that has not begun.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{w: w, control: http.NewResponseController(w)}
}

// HasBegun reports whether the header was sent.
func (s *Writer) HasBegun() bool { return s.begun }

// Begin sends the header. It removes the read deadline, so that the stream lasts as long as the
// client reads.
func (s *Writer) Begin() {
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	_ = s.control.SetReadDeadline(time.Time{})
	s.w.WriteHeader(http.StatusOK)
}

// Open writes the first frame, which has no event.
func (s *Writer) Open(cursor string) error {
	return s.Write(fmt.Appendf(nil, "id: %s\nretry: %d\n: listening\n\n", cursor, reconnectDelay.Milliseconds()))
}

// Beat writes a frame without an event.
func (s *Writer) Beat(cursor string) error {
	return s.Write(fmt.Appendf(nil, "id: %s\n: nothing new\n\n", cursor))
}

// Write sends frames.
func (s *Writer) Write(frames []byte) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := s.w.Write(frames)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: the listener is gone: %w", context.Canceled, err)
	}
	return nil
}
