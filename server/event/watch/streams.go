package watch

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Defaults of StreamLimits.
const (
	DefaultStreamsPerUser  = 20
	DefaultStreamsPerToken = 1000
)

// StreamLimits bounds the number of event streams that are open at the same time.
type StreamLimits struct {
	// PerUser is the limit for a user and client; 0 is DefaultStreamsPerUser.
	PerUser int
	// PerToken is the limit for all app tokens of a client, and for a service token; 0 is
	// DefaultStreamsPerToken.
	PerToken int
	// Total is the limit for the whole server; 0 is no limit.
	Total int
}

// streams counts the open streams.
type streams struct {
	mu       sync.Mutex
	byHolder map[any]int
	total    int
}

// Of returns how many streams a caller may have open.
func (l StreamLimits) Of(c *authn.Caller) int {
	_, limit, _ := l.holder(c)
	return limit
}

// holder returns the key under which the streams of a caller are counted, the limit for
// that key, and a description of the key for messages.
func (l StreamLimits) holder(c *authn.Caller) (holder any, limit int, described string) {
	switch {
	case c.ActsAsUser():
		return fair.Owner{Client: c.ClientID, User: c.UserID}, cmp.Or(l.PerUser, DefaultStreamsPerUser), "for this user and client"
	case c.Kind == authn.App: // which can get any number of tokens
		return fair.Owner{Client: c.ClientID}, cmp.Or(l.PerToken, DefaultStreamsPerToken), "for this app"
	}
	return c.Token, cmp.Or(l.PerToken, DefaultStreamsPerToken), "for this token"
}

// Open counts a stream of a caller, of events or of what derives from them, until
// closeStream is called. It returns an error if a limit is reached.
func (s *Service) Open(caller *authn.Caller) (closeStream func(), err error) {
	return s.streams.open(s.Limits, caller)
}

// OpenStreams returns the number of streams that are open.
func (s *Service) OpenStreams() int {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	return s.streams.total
}

// open counts a stream of a caller until closeStream is called. It returns an error if a
// limit is reached.
func (s *streams) open(limits StreamLimits, c *authn.Caller) (closeStream func(), err error) {
	holder, limit, described := limits.holder(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.byHolder[holder] >= limit:
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_STREAM_LIMIT_REACHED,
			Message:    fmt.Sprintf("There are %d event streams open %s, which is the limit; close one first.", limit, described),
			RetryAfter: time.Second,
		}
	case limits.Total > 0 && s.total >= limits.Total:
		return nil, &apierr.Error{
			Reason:     moderatov1.Reason_REASON_OVERLOADED,
			Message:    "The server has as many event streams open as it can. Try again later, or on another server.",
			RetryAfter: 5 * time.Second,
		}
	}
	if s.byHolder == nil {
		s.byHolder = map[any]int{}
	}
	s.byHolder[holder]++
	s.total++
	return func() { s.close(holder) }, nil
}

func (s *streams) close(holder any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byHolder[holder]--; s.byHolder[holder] == 0 {
		delete(s.byHolder, holder)
	}
}
