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
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/events"
	"github.com/moderato-live/moderato/server/instant"
)

const (
	// attemptTimeout bounds an attempt, from the look-up of the name to the end of
	// the answer.
	attemptTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
	// maxAnswer is how much of an answer is read, so that its connection can be
	// used again.
	maxAnswer = 64 << 10
	maxHeader = 16 << 10
)

// newClient makes the client that calls receivers. It follows no redirect and
// uses no proxy: either would lead past the look at the address.
func newClient(allowPrivate bool) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if !allowPrivate {
		dialer.Control = refusePrivate
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTimeout,
			MaxIdleConns:           1000,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// outcome is how an attempt ended.
type outcome struct {
	delivery *ent.WebhookDelivery
	event    *events.Event
	status   int    // 0: there was no answer
	problem  string // empty: delivered
	wait     time.Duration
}

// attempt sends an event once. An attempt that ctx ended says nothing of the
// receiver: it has no outcome.
func (e *Engine) attempt(ctx context.Context, w *ent.Webhook, event *events.Event, at instant.Instant) (o outcome, ok bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errNoAnswer)
	defer cancel()
	request, err := newRequest(ctx, w, event, at)
	if err != nil {
		return outcome{problem: "the request could not be made"}, true
	}
	answer, err := e.client.Do(request)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errNoAnswer) {
			return outcome{}, false
		}
		return outcome{problem: describe(ctx, err)}, true
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	o.status = answer.StatusCode
	if o.status >= 200 && o.status < 300 {
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
	return request, nil
}

var errNoAnswer = fmt.Errorf("no answer within %s", attemptTimeout)

// describe says what went wrong in few words: the error itself has the address,
// with what may be secret in it, and tells of the network around us.
func describe(ctx context.Context, err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var network net.Error
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate.Error()
	case errors.As(err, &name):
		return "the receiver's name could not be resolved"
	case errors.As(err, &certificate):
		return "the receiver's certificate is not valid"
	case errors.As(err, &record):
		return "the receiver does not speak TLS"
	case errors.Is(context.Cause(ctx), errNoAnswer), errors.As(err, &network) && network.Timeout():
		return errNoAnswer.Error()
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
