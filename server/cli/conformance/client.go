package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

const (
	requestTimeout = 30 * time.Second
	maxBody        = 32 << 20
	// maxWait is how long the server may ask to wait, and maxAttempts how often.
	maxWait     = time.Minute
	maxAttempts = 3
	// maxSilence is how many requests in a row may remain without a response.
	maxSilence = 3
)

// Errors that end a run early.
var (
	errRequests = errors.New("not reached: --max-requests is too low")
	errTime     = errors.New("not reached: the run was interrupted, or --timeout is too short")
)

// request is a request that is sent.
type request struct {
	method, path  string
	query         url.Values
	token, client string // omitted if empty
	body          map[string]any
	// as names who calls, and what else is special about the request.
	as string
}

// String describes the request in a finding, without its path.
func (r *request) String() string {
	query := r.query.Encode()
	if cursor := r.query.Get("cursor"); len(cursor) > 16 {
		query = strings.ReplaceAll(query, url.QueryEscape(cursor), "…")
	}
	if query, _ = url.QueryUnescape(query); query != "" {
		query = ", " + query
	}
	return "as " + r.as + query + ":"
}

// answer is a response of the server.
type answer struct {
	status  int
	header  http.Header
	size    int
	payload map[string]any // nil if the body is not a JSON object
}

func (a *answer) code() string {
	code, _ := valueAt(a.payload["data"], "code").(string)
	return code
}

// client sends requests, no faster than the server and the configuration permit.
type client struct {
	baseURL     string
	http        *http.Client
	pace        *rate.Limiter
	maxRequests int
	requests    int
	silence     int
	answered    bool
}

func newClient(c *Config) *client {
	pace := rate.Inf
	if c.Rate > 0 {
		pace = rate.Limit(c.Rate)
	}
	h := &http.Client{Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a token is for this server only
	}}
	if c.HTTP != nil {
		h.Transport = c.HTTP.Transport
	}
	return &client{baseURL: strings.TrimSuffix(c.BaseURL, "/"), http: h, pace: rate.NewLimiter(pace, 1), maxRequests: c.MaxRequests}
}

// send sends a request, again if the server asks to wait. The error is nil or ends the run.
// Without a response, answer is nil and problem says why.
func (c *client) send(ctx context.Context, r *request) (a *answer, problem string, err error) {
	for attempt := 1; ; attempt++ {
		if c.requests >= c.maxRequests {
			return nil, "", errRequests
		}
		if err := c.pace.Wait(ctx); err != nil {
			return nil, "", errTime
		}
		c.requests++
		a, err := c.try(ctx, r)
		if ctx.Err() != nil {
			return nil, "", errTime
		}
		if err != nil {
			if c.silence++; c.silence >= maxSilence || !c.answered {
				return nil, "", fmt.Errorf("the server does not answer: %w", err)
			}
			return nil, "no response: " + err.Error(), nil
		}
		c.silence, c.answered = 0, true
		wait := retryAfter(a)
		if wait == 0 || attempt == maxAttempts {
			return a, "", nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// retryAfter returns how long to wait before a request is repeated; 0 if it is not.
func retryAfter(a *answer) time.Duration {
	if a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return min(time.Duration(seconds)*time.Second, maxWait)
}

func (c *client) try(ctx context.Context, r *request) (*answer, error) {
	address := c.baseURL + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json")
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.client != "" {
		q.Header.Set("Client-Id", r.client)
	}
	response, err := c.http.Do(q)
	if err != nil {
		return nil, withoutAddress(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("the body has more than %d bytes", maxBody)
	}
	a := &answer{status: response.StatusCode, header: response.Header, size: len(text)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&a.payload) != nil || decoder.More() {
		a.payload = nil
	}
	return a, nil
}

// withoutAddress returns the cause of an error, without the URL of the request.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// isJSON reports whether the body is declared as JSON.
func (a *answer) isJSON() bool {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	return err == nil && media == "application/json"
}
