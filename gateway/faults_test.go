package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/gateway"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestEachErrorHasAnErrorResponse(t *testing.T) {
	t.Parallel()
	limited := &apierr.Error{Reason: moderatov1.Reason_REASON_RATE_LIMITED, RetryAfter: 1500 * time.Millisecond}
	soon := &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Millisecond}
	secret := errors.New("SELECT * FROM roles: *moderatov1.Secret at 0xc000123")
	for _, c := range []struct {
		name   string
		err    error
		status int
		code   string
		retry  string
	}{
		{"over the rate limit", limited, 429, "RATE_LIMITED", "2"},
		{"draining", soon, 503, "UNAVAILABLE", "1"},
		{"the store is away", fmt.Errorf("%w: %w", store.ErrUnavailable, secret), 503, "UNAVAILABLE", "1"},
		{"too late", fmt.Errorf("%w: %w", context.DeadlineExceeded, secret), 504, "DEADLINE_EXCEEDED", ""},
		{"an error of ours", secret, 500, "INTERNAL", ""},
		{"a fault with a cause", &apierr.Error{Reason: moderatov1.Reason_REASON_INTERNAL, Cause: secret}, 500, "INTERNAL", ""},
		{"a list too large", apierr.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE), 400, "RESULT_TOO_LARGE", ""},
		{"a bad cursor", apierr.New(moderatov1.Reason_REASON_CURSOR_INVALID), 400, "CURSOR_INVALID", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			facade := facadeOver(t, stubConn(plain, func(context.Context) error { return c.err }))
			r := record(facade, httptest.NewRequest(http.MethodGet, listModerators(), nil))
			wantRefused(t, r, c.status, c.code)
			if got := r.Header.Get("Retry-After"); got != c.retry {
				t.Errorf("Retry-After: got %q, want %q", got, c.retry)
			}
			if c.retry == "" && r.Header.Values("Retry-After") != nil {
				t.Error("Retry-After: got an empty one, want none")
			}
			wantNoTrace(t, r)
		})
	}
}

func TestAcceptedTokensIsList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"user": {"user"}, "user,app": {"user", "app"}} {
		facade := facadeOver(t, stubConn(plain, func(context.Context) error {
			return &apierr.Error{
				Reason:   moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED,
				Metadata: map[string]string{apierr.AcceptedTokens: text},
			}
		}))
		r := record(facade, httptest.NewRequest(http.MethodGet, logPath+"?channelId="+servertest.Owner.String(), nil))
		body := wantRefused(t, r, http.StatusForbidden, "TOKEN_KIND_NOT_ACCEPTED")
		if got := body.Data.AcceptedTokens; !slices.Equal(got, want) {
			t.Errorf("acceptedTokens: got %q, want %q", got, want)
		}
	}
}

// brokenConn is a connection whose calls fail with errors that are no API errors.
type brokenConn struct {
	gateway.Connection

	fail func() error
}

func (c brokenConn) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return c.fail()
}

func TestConnectionFailureIsServerError(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"panic":          func() error { panic("SELECT secret FROM roles") },
		"plain error":    func() error { return errors.New("rpc error: sql: no such table") },
		"unknown method": func() error { return status.Error(codes.Unimplemented, "no *moderatov1.X") },
	} {
		t.Run(name, func(t *testing.T) {
			r := record(facadeOver(t, brokenConn{fail: fail}), httptest.NewRequest(http.MethodGet, listModerators(), nil))
			wantRefused(t, r, http.StatusInternalServerError, "INTERNAL")
			wantNoTrace(t, r)
		})
	}
}

// explode panics. The log must contain its name.
func explode(context.Context) error { panic("SELECT secret FROM roles") }

func TestPanicIsLoggedAndHiddenFromCaller(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for name, conn := range map[string]func(*slog.Logger) gateway.Connection{
		"in a method": func(log *slog.Logger) gateway.Connection { return stubConn(chainOf(s, log).Unary, explode) },
		"in the facade": func(*slog.Logger) gateway.Connection {
			return brokenConn{fail: func() error { return explode(t.Context()) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			log := slog.New(slog.NewJSONHandler(&text, nil))
			r := httptest.NewRequest(http.MethodGet, listModerators(), nil)
			r.Header.Set("Authorization", "Bearer "+owner.Token)
			r.Header.Set("Client-Id", owner.ClientID)
			answer := record(facadeLogging(t, conn(log), log), r)
			body := wantRefused(t, answer, http.StatusInternalServerError, "INTERNAL")
			wantNoTrace(t, answer)
			line, _, _ := strings.Cut(text.String(), "\n")
			for _, want := range []string{`"level":"ERROR"`, `"msg":"panic"`, body.Data.RequestID, "SELECT secret", "gateway_test.explode"} {
				if !strings.Contains(line, want) {
					t.Errorf("the log lacks %s: %s", want, line)
				}
			}
			if strings.Contains(text.String(), owner.Token[4:]) {
				t.Errorf("the token is in the log: %s", text.String())
			}
		})
	}
}
