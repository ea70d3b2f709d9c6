package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// fan writes each message to every listener, and stores and checks nothing. Like
// Moderato, it writes the messages of 20 ms at a time.
type fan struct {
	mu        sync.Mutex
	pending   []byte
	listeners map[chan []byte]struct{}
}

func newFan() *fan {
	f := &fan{listeners: map[chan []byte]struct{}{}}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			f.flush()
		}
	}()
	return f
}

func (f *fan) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pending) == 0 {
		return
	}
	for l := range f.listeners {
		select {
		case l <- f.pending:
		default: // the listener is too slow
		}
	}
	f.pending = nil
}

// PostMessage makes the frame that Moderato makes.
func (f *fan) PostMessage(_ context.Context, req *platformv1.PostMessageRequest) (*platformv1.PostMessageResponse, error) {
	at := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = fmt.Appendf(f.pending, `data: {"metadata":{"messageId":%q,"messageType":"notification","subscriptionType":"channel.chat.message","subscriptionVersion":"1",`+
		`"messageTimestamp":%q,"channelId":%q},"payload":{"channelId":%q,"messageId":%q,"message":%q,"sender":{"id":%q,"username":"u","displayName":"u","avatarUrl":"",`+
		`"isOwner":false,"isModerator":false,"isVip":false,"isOg":false,"isSubscriber":false,"isFollower":false},"createdAt":%q}}`+"\n\n",
		req.GetMessageId(), at, req.GetChannelId(), req.GetChannelId(), req.GetMessageId(), req.GetText(), req.GetUserId(), at)
	return &platformv1.PostMessageResponse{}, nil
}

// ServeHTTP serves a listener.
func (f *fan) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := make(chan []byte, 100)
	f.mu.Lock()
	f.listeners[l] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.listeners, l)
		f.mu.Unlock()
	}()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(": listening\n\n"))
	_ = control.Flush()
	for {
		select {
		case frame := <-l:
			if _, err := w.Write(frame); err != nil {
				return
			}
			_ = control.Flush()
		case <-r.Context().Done():
			return
		}
	}
}
