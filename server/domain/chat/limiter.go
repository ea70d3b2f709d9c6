package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

const (
	// moderatorShare is how many times as many messages the owner and the moderators may post.
	moderatorShare = 5
	// maxMessages and maxPer bound a Rate.
	maxMessages = 10_000
	maxPer      = time.Hour
	// maxSenders bounds the memory of a Limiter. If more senders post within the time of the
	// rate, those whose last post is the longest ago start again.
	maxSenders = 100_000
)

// Rate is how fast a sender may post in a channel: a number of messages in a time. The zero
// Rate is no limit.
type Rate struct {
	Messages int
	Per      time.Duration
}

// DefaultRate is the Rate of servers that are not configured otherwise.
func DefaultRate() Rate { return Rate{Messages: 20, Per: 30 * time.Second} }

// String returns the rate as UnmarshalText reads it.
func (r Rate) String() string {
	if r.Messages == 0 {
		return "0"
	}
	return fmt.Sprintf("%d/%gs", r.Messages, r.Per.Seconds())
}

// UnmarshalText reads a rate such as 20/30s; 0 is no limit.
func (r *Rate) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*r = Rate{}
		return nil
	}
	number, per, _ := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(number)
	d, perErr := time.ParseDuration(per)
	if err != nil || perErr != nil || n < 1 || n > maxMessages || d < time.Millisecond || d > maxPer {
		return fmt.Errorf("%q must be a number of messages, at most %d, and a time, at most an hour, such as 20/30s; or 0", text, maxMessages)
	}
	*r = Rate{Messages: n, Per: d}
	return nil
}

// Limiter bounds how fast senders post, with a token bucket for each sender in a channel.
type Limiter struct {
	rate Rate
	now  func() time.Time

	mu      sync.Mutex
	buckets *lru.Cache[bucketKey, *rate.Limiter] // the one that was used the longest ago is the oldest
}

type bucketKey struct {
	channelID, senderID uid.ID
	messages            int
}

// NewLimiter returns a Limiter; nil, which refuses nothing, for the zero Rate.
func NewLimiter(r Rate, now func() time.Time) *Limiter {
	if r.Messages == 0 {
		return nil
	}
	buckets, _ := lru.New[bucketKey, *rate.Limiter](maxSenders) // fails only for a size below 1
	return &Limiter{rate: r, now: now, buckets: buckets}
}

// Check takes a token of the sender of a message. It returns RATE_LIMITED if there is none. The
// checks that follow may refuse the message, but the token is taken.
func (l *Limiter) Check(_ context.Context, st *Standing, m Message) error {
	if l == nil {
		return nil
	}
	messages := l.rate.Messages
	if st.IsModerator || m.UserID == m.ChannelID {
		messages *= moderatorShare
	}
	now := l.now()
	bucket := l.bucket(bucketKey{m.ChannelID, m.UserID, messages}, now)
	if bucket.AllowN(now, 1) {
		return nil
	}
	return &apierr.Error{
		Reason:     moderatov1.Reason_REASON_RATE_LIMITED,
		Message:    fmt.Sprintf("Rate limit exceeded: at most %s for this sender in this channel. Wait for the time in Retry-After.", Rate{messages, l.rate.Per}.words()),
		RetryAfter: time.Duration((1 - bucket.TokensAt(now)) / float64(bucket.Limit()) * float64(time.Second)),
	}
}

func (r Rate) words() string { return fmt.Sprintf("%d messages in %g s", r.Messages, r.Per.Seconds()) }

func (l *Limiter) bucket(key bucketKey, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets.Get(key); ok {
		return b
	}
	// A full bucket is like none. Every bucket that was not used for the time of the rate is
	// full.
	for {
		_, oldest, ok := l.buckets.GetOldest()
		if !ok || oldest.TokensAt(now) < float64(oldest.Burst()) {
			break
		}
		l.buckets.RemoveOldest()
	}
	b := rate.NewLimiter(rate.Limit(float64(key.messages)/l.rate.Per.Seconds()), key.messages)
	l.buckets.Add(key, b)
	return b
}
