package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
)

const (
	// AttemptTimeout bounds an attempt, from the look-up of the name to the end of
	// the answer.
	AttemptTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
	// maxAnswer is how much of an answer is read, so that its connection can be
	// used again.
	maxAnswer = 64 << 10
	maxHeader = 16 << 10
)

// CursorHeader is the header of a delivery that has the event's cursor: where a
// stream goes on after it. It is beside the body, as it is in the streams.
const CursorHeader = "Moderato-Cursor"

// newClient makes the client that calls receivers. It follows no redirect and
// uses no proxy: either would lead past the look at the address.
func newClient(o Options) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: o.Reach.control}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			MaxIdleConns:           max(1, o.MaxAttempts/4),
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// errNoRoom ends an attempt that turns out to be slow while there is no room for slow
// ones.
var errNoRoom = errors.New("no slot for a slow receiver")

// outcome is how an attempt ended.
type outcome struct {
	delivery *ent.WebhookDelivery
	event    *events.Event
	status   int    // 0: there was no answer
	problem  string // empty: delivered
	isSlow   bool
	// isPostponed: the attempt was ended early, and says nothing of the receiver but
	// that it is slow.
	isPostponed bool
	wait        time.Duration
}

// attempt sends an event once. An attempt that ctx ended says nothing of the
// receiver: it has no outcome.
func (e *Engine) attempt(ctx context.Context, w *ent.Webhook, event *events.Event, at instant.Instant) (o outcome, ok bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout, noAnswerError(e.Timeout))
	defer cancel()
	request, err := newRequest(ctx, w, event, at)
	if err != nil {
		return outcome{problem: "the request could not be made"}, true
	}
	answer, err := e.client.Do(request)
	if err != nil {
		if ctx.Err() != nil && !isTimedOut(ctx) {
			return outcome{}, false
		}
		return outcome{problem: e.describe(ctx, err)}, true
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	o.status = answer.StatusCode
	if o.status >= 200 && o.status < 300 {
		if isTimedOut(ctx) {
			o.problem = fmt.Sprintf("the answer did not end within %s", e.Timeout)
		}
		return o, true
	}
	o.problem = fmt.Sprintf("the receiver answered %d", o.status)
	if o.status == http.StatusTooManyRequests || o.status == http.StatusServiceUnavailable {
		o.wait = retryAfter(answer.Header.Get("Retry-After"), at)
	}
	return o, true
}

func newRequest(ctx context.Context, w *ent.Webhook, event *events.Event, at instant.Instant) (*http.Request, error) {
	body := events.JSON(event.Told)
	id := event.ID.String()
	signed, err := signatures(w, id, at, body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Moderato")
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Time().Unix(), 10))
	request.Header.Set("Webhook-Signature", signed)
	request.Header.Set(CursorHeader, event.Cursor)
	return request, nil
}

// noAnswerError ends an attempt that takes longer than this.
type noAnswerError time.Duration

func (e noAnswerError) Error() string { return fmt.Sprintf("no answer within %s", time.Duration(e)) }

func isTimedOut(ctx context.Context) bool {
	var timeout noAnswerError
	return errors.As(context.Cause(ctx), &timeout)
}

// describe says what went wrong in few words: the error itself has the address,
// with what may be secret in it, and tells of the network around us.
func (e *Engine) describe(ctx context.Context, err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var network net.Error
	var dial *net.OpError
	switch {
	case errors.Is(err, errPrivate), errors.As(err, &name):
		return "the receiver's name leads to no public address"
	case errors.As(err, &certificate):
		return "the receiver's certificate is not valid"
	case errors.As(err, &record):
		return "the receiver does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the receiver refused the connection"
	case errors.As(err, &dial) && dial.Op == "dial" && dial.Timeout() && !isTimedOut(ctx):
		return fmt.Sprintf("no connection within %s", dialTimeout)
	case isTimedOut(ctx), errors.As(err, &network) && network.Timeout():
		return noAnswerError(e.Timeout).Error()
	}
	return "the connection failed"
}

// retryAfter reads the header: seconds, or a date. It is at most maxDelay, however
// far off.
func retryAfter(text string, now instant.Instant) time.Duration {
	seconds, err := strconv.ParseInt(text, 10, 64) // what is out of range is the largest there is
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		date, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		seconds = date.Unix() - now.Time().Unix()
	}
	return time.Duration(max(0, min(seconds, int64(maxDelay.Seconds())))) * time.Second
}
