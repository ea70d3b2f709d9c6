package sse_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/moderato-live/moderato/internal/sse"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	w := sse.NewWriter(recorder)
	if w.HasBegun() {
		t.Error("a new stream has begun")
	}
	w.Begin()
	err := errors.Join(w.Open("c1"), w.Beat("c2"), w.Write(sse.Append(nil, "c3", []byte("{}"))),
		w.Write(sse.AppendNamed(sse.Append(nil, "", []byte("1")), "", "end", []byte("2"))), w.Write(sse.AppendNamed(nil, "c4", "missed", []byte("3"))))
	want := "id: c1\nretry: 2000\n: listening\n\nid: c2\n: nothing new\n\nid: c3\ndata: {}\n\n" +
		"data: 1\n\nevent: end\ndata: 2\n\nid: c4\nevent: missed\ndata: 3\n\n"
	if got := recorder.Body.String(); err != nil || got != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
	if got := recorder.Header().Get("Content-Type"); !w.HasBegun() || got != "text/event-stream" || !recorder.Flushed {
		t.Errorf("the stream has begun: %t, is flushed: %t, and has the type %q", w.HasBegun(), recorder.Flushed, got)
	}
}

// gone is a response whose client is gone.
type gone struct{ *httptest.ResponseRecorder }

// Write implements http.ResponseWriter.
func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestClientThatIsGoneEndsTheCall(t *testing.T) {
	t.Parallel()
	if err := sse.NewWriter(gone{httptest.NewRecorder()}).Beat("c"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an error that is context.Canceled", err)
	}
}
