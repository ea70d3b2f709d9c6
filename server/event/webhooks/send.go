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
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/tracing"
	"github.com/moderato-live/moderato/server/event/outbox"
)

const (
	// AttemptTimeout bounds an attempt, from the DNS lookup to the end of the response.
	AttemptTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
	// maxAnswer is how many bytes of a response are read, so that its connection can be
	// reused.
	maxAnswer = 64 << 10
	maxHeader = 16 << 10
)

// CursorHeader is the header of a delivery that holds the event's cursor, from which an
// event stream can continue after the event. As in the streams, the cursor is not part
// of the body. A live event has no cursor.
const CursorHeader = "Moderato-Cursor"

// MissedHeader is the header of the delivery of a live event that holds how many live
// events the receiver missed before, if any.
const MissedHeader = "Moderato-Missed-Messages"

// message is what an attempt sends.
type message struct {
	id     string
	body   []byte
	cursor string // empty for a live event
	missed int64
	// traceparent is that of the event; see package tracing. It is empty for a live event.
	traceparent string
}

// messageOf returns the message for an event that is kept.
func messageOf(e *outbox.Event) message {
	return message{id: e.ID.String(), body: e.JSON(), cursor: e.Cursor, traceparent: e.Traceparent}
}

// newClient returns the client that calls receivers. It follows no redirects and uses
// no proxy, because both would bypass the check of the address.
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

// errNoRoom cancels an attempt that turns out to be slow while no slow slot is free.
var errNoRoom = errors.New("no slot for a slow receiver")

// outcome is the result of an attempt.
type outcome struct {
	delivery *ent.WebhookDelivery
	event    *outbox.Event
	status   int    // 0 if there was no response
	problem  string // empty if the event was delivered
	isSlow   bool
	// isPostponed is true if the attempt was cancelled early. It says nothing about the
	// receiver except that it is slow.
	isPostponed bool
	wait        time.Duration
}

// attempt sends a message once. If ctx ended the attempt, ok is false: the attempt says
// nothing about the receiver.
func (e *Engine) attempt(ctx context.Context, w *ent.Webhook, m message, at instant.Instant) (o outcome, ok bool) {
	ctx, span := e.startSpan(ctx, w, m)
	defer func() { endSpan(span, o, ok) }()
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout, noAnswerError(e.Timeout))
	defer cancel()
	request, err := newRequest(ctx, w, m, at)
	if err != nil {
		return outcome{problem: "the request could not be made"}, true
	}
	if header := e.Store.Tracer().Outgoing(ctx); header != "" {
		request.Header.Set(tracing.TraceparentKey, header)
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

func newRequest(ctx context.Context, w *ent.Webhook, m message, at instant.Instant) (*http.Request, error) {
	signed, err := signatures(w, m.id, at, m.body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Moderato")
	request.Header.Set("Webhook-Id", m.id)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Time().Unix(), 10))
	request.Header.Set("Webhook-Signature", signed)
	if m.cursor != "" {
		request.Header.Set(CursorHeader, m.cursor)
	}
	if m.missed > 0 {
		request.Header.Set(MissedHeader, strconv.FormatInt(m.missed, 10))
	}
	return request, nil
}

// noAnswerError is the cause with which an attempt is cancelled that takes longer than
// this duration.
type noAnswerError time.Duration

func (e noAnswerError) Error() string { return fmt.Sprintf("no answer within %s", time.Duration(e)) }

func isTimedOut(ctx context.Context) bool {
	var timeout noAnswerError
	return errors.As(context.Cause(ctx), &timeout)
}

// describe returns a short description of an error. The text of the error itself is not
// used: it contains the address, which may hold secrets, and reveals details of the
// server's network.
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

// retryAfter parses the Retry-After header, which holds seconds or a date. It returns
// at most maxDelay, and 0 if the header is not valid.
func retryAfter(text string, now instant.Instant) time.Duration {
	seconds, err := strconv.ParseInt(text, 10, 64) // out of range: the largest or smallest int64
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		date, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		seconds = date.Unix() - now.Time().Unix()
	}
	return time.Duration(max(0, min(seconds, int64(maxDelay.Seconds())))) * time.Second
}
