package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/moderato-live/moderato/server/event/webhooks"
)

// hopHeaders are the headers that are about a connection, and not about the delivery.
var hopHeaders = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// maxRefusal is how much of the body of a refusal is shown, in bytes.
const maxRefusal = 200

// maxFailing bounds the deliveries whose attempts are counted.
const maxFailing = 10_000

// repeated ends the report of a refusal.
const repeated = "; the server repeats the delivery later"

// forwardURL is the URL of a receiver, as a flag.
type forwardURL string

// UnmarshalText parses the flag.
func (u *forwardURL) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return fmt.Errorf("%q must be an address such as http://127.0.0.1:3000/webhook", text)
	}
	*u = forwardURL(text)
	return nil
}

// forwarder sends deliveries on to a receiver.
type forwarder struct {
	url    string
	client *http.Client
	// signer signs the deliveries again; nil if they keep their signature.
	signer *standardwebhooks.Webhook

	mu sync.Mutex
	// attempts holds the number of attempts of each delivery that has failed so far.
	attempts map[string]int
}

func newForwarder(to forwardURL, signer *standardwebhooks.Webhook) *forwarder {
	return &forwarder{url: string(to), signer: signer, attempts: map[string]int{}, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// forwarded is the outcome of a delivery that was sent on.
type forwarded struct {
	status     int
	retryAfter string
	// report describes the outcome to people.
	report string
}

// forward sends a delivery on. Its outcome is the receiver's: the
// server repeats the delivery if the receiver refuses it.
func (f *forwarder) forward(ctx context.Context, header http.Header, body []byte) forwarded {
	ctx, cancel := context.WithTimeout(ctx, webhooks.AttemptTimeout)
	defer cancel()
	start := time.Now()
	response, err := f.send(ctx, header, body)
	if err != nil {
		return f.failed(header.Get("Webhook-Id"), err)
	}
	defer func() { _ = response.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	f.discard(response.Body)
	report := fmt.Sprintf("%s in %s", response.Status, time.Since(start).Round(time.Millisecond))
	isRefused := response.StatusCode < 200 || response.StatusCode >= 300
	if isRefused && len(said) > 0 {
		report += fmt.Sprintf(": %q", said)
	}
	report += f.count(header.Get("Webhook-Id"), isRefused)
	switch {
	case response.StatusCode == http.StatusGone:
		report += "; the server disables the webhook"
	case isRefused:
		report += repeated
	}
	return forwarded{response.StatusCode, response.Header.Get("Retry-After"), report}
}

func (f *forwarder) send(ctx context.Context, header http.Header, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header.Clone()
	for _, name := range hopHeaders {
		request.Header.Del(name)
	}
	if err := f.sign(request.Header, body); err != nil {
		return nil, err
	}
	return f.client.Do(request)
}

// sign replaces the signature of a delivery if the receiver has a secret of its own. The
// delivery was verified before, so its headers are valid.
func (f *forwarder) sign(header http.Header, body []byte) error {
	if f.signer == nil {
		return nil
	}
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return err
	}
	signature, err := f.signer.Sign(header.Get(standardwebhooks.HeaderWebhookID), time.Unix(seconds, 0), body)
	if err != nil {
		return err
	}
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}

// discard reads the rest of a short response, so that its connection is used again.
func (f *forwarder) discard(body io.Reader) {
	const maxRest = 64 << 10
	_, _ = io.CopyN(io.Discard, body, maxRest)
}

// failed returns the outcome if there was no response.
func (f *forwarder) failed(id string, err error) forwarded {
	status := http.StatusBadGateway
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		status = http.StatusGatewayTimeout
	}
	var cause *url.Error
	if errors.As(err, &cause) {
		err = cause.Err // without the URL, which is printed beside it
	}
	return forwarded{status, "", err.Error() + f.count(id, true) + repeated}
}

// count counts the attempts of a delivery. It returns their number as text, or nothing for
// the first attempt.
func (f *forwarder) count(id string, isRefused bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.attempts[id] + 1
	delete(f.attempts, id)
	if isRefused {
		if len(f.attempts) >= maxFailing {
			clear(f.attempts)
		}
		f.attempts[id] = n
	}
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d)", n)
}
