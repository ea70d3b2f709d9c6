package apierr_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/server/store"
)

func TestStatusRoundTripKeepsError(t *testing.T) {
	t.Parallel()
	const id = "request-1"
	for _, reason := range reasons() {
		for _, sent := range []*apierr.Error{
			apierr.New(reason),
			{Reason: reason, Message: "In other words."},
			{Reason: reason, RetryAfter: 1500 * time.Millisecond},
			{Reason: reason, Violations: []apierr.Violation{{Field: "b", Description: "is wrong"}, {Field: "", Description: "é \"x\""}}},
			{Reason: reason, Metadata: map[string]string{apierr.RequiredScope: "users.read", apierr.AcceptedTokens: "user,app"}},
		} {
			sent.RequestID = id
			got := apierrtest.Of(sent)
			if got.Reason != reason || got.RequestID != id {
				t.Errorf("%s: got %s of request %q", apierr.Code(reason), apierr.Code(got.Reason), got.RequestID)
			}
			if got.Text() != sent.Text() {
				t.Errorf("%s: got the text %q, want %q", apierr.Code(reason), got.Text(), sent.Text())
			}
			if got.RetryAfter != sent.RetryAfter {
				t.Errorf("%s: got RetryAfter %s, want %s", apierr.Code(reason), got.RetryAfter, sent.RetryAfter)
			}
			if !slices.Equal(got.Violations, sent.Violations) {
				t.Errorf("%s: got violations %v, want %v", apierr.Code(reason), got.Violations, sent.Violations)
			}
			if !maps.Equal(got.Metadata, sent.Metadata) {
				t.Errorf("%s: got metadata %v, want %v", apierr.Code(reason), got.Metadata, sent.Metadata)
			}
		}
	}
}

func TestStatusHasStandardDetails(t *testing.T) {
	t.Parallel()
	f := &apierr.Error{
		Reason: moderatov1.Reason_REASON_MUTE_ACTIVE, RetryAfter: time.Minute,
		Metadata:   map[string]string{apierr.MuteExpiresAt: "2026-03-14T15:19:26.000Z"},
		Violations: []apierr.Violation{{Field: "mutedUserId", Description: "is muted"}},
		Cause:      errors.New("secret cause"),
	}
	f.RequestID = "request-1"
	st := f.GRPCStatus()
	found := map[string]bool{}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			found["info"] = d.GetReason() == "MUTE_ACTIVE" && d.GetDomain() == "moderato" &&
				d.GetMetadata()["muteExpiresAt"] == "2026-03-14T15:19:26.000Z"
		case *errdetails.RequestInfo:
			found["request"] = d.GetRequestId() == "request-1"
		case *errdetails.BadRequest:
			v := d.GetFieldViolations()
			found["violations"] = len(v) == 1 && v[0].GetField() == "mutedUserId" && v[0].GetDescription() == "is muted"
		case *errdetails.RetryInfo:
			found["retry"] = d.GetRetryDelay().AsDuration() == time.Minute
		case *errdetails.Help:
			found["help"] = len(d.GetLinks()) == 1 && d.GetLinks()[0].GetUrl() == "/docs/errors#MUTE_ACTIVE"
		}
	}
	for _, want := range []string{"info", "request", "violations", "retry", "help"} {
		if !found[want] {
			t.Errorf("the status lacks its %s: %v", want, st)
		}
	}
	if text := fmt.Sprint(st.Proto()); strings.Contains(text, "secret") {
		t.Errorf("the cause is shown: %s", text)
	}
	// A part that is not set has no detail.
	if got := len(apierr.New(moderatov1.Reason_REASON_INTERNAL).GRPCStatus().Details()); got != 3 {
		t.Errorf("a plain fault has %d details, want ErrorInfo, RequestInfo and Help alone", got)
	}
}

func TestOfReturnsAPIErrorOfAnyError(t *testing.T) {
	t.Parallel()
	banned := apierr.New(moderatov1.Reason_REASON_NOT_BANNED)
	for _, c := range []struct {
		name  string
		err   error
		want  moderatov1.Reason
		retry time.Duration
	}{
		{"a fault", banned, moderatov1.Reason_REASON_NOT_BANNED, 0},
		{"a wrapped fault", fmt.Errorf("while: %w", banned), moderatov1.Reason_REASON_NOT_BANNED, 0},
		{"a deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), moderatov1.Reason_REASON_DEADLINE_EXCEEDED, 0},
		{"a client that left", fmt.Errorf("query: %w", context.Canceled), moderatov1.Reason_REASON_DEADLINE_EXCEEDED, 0},
		{"the store", fmt.Errorf("query: %w", store.ErrUnavailable), moderatov1.Reason_REASON_UNAVAILABLE, time.Second},
		{"a store without room", fmt.Errorf("write: %w: %w", store.ErrUnavailable, store.ErrFull), moderatov1.Reason_REASON_UNAVAILABLE, 30 * time.Second},
		{"a deadline at the store", fmt.Errorf("%w: %w", store.ErrUnavailable, context.DeadlineExceeded), moderatov1.Reason_REASON_DEADLINE_EXCEEDED, 0},
		{"other error", errors.New("nobody knows"), moderatov1.Reason_REASON_INTERNAL, 0},
	} {
		f := apierr.Of(c.err)
		if f.Reason != c.want || f.RetryAfter != c.retry {
			t.Errorf("%s: got %s after %s, want %s after %s", c.name, apierr.Code(f.Reason), f.RetryAfter, apierr.Code(c.want), c.retry)
		}
		if !errors.Is(f, c.err) && !errors.Is(c.err, f) {
			t.Errorf("%s: got %v, whose cause is lost", c.name, f)
		}
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	one := apierr.Violation{Field: "limit", Description: "must be between 1 and 20"}
	whole := apierr.Violation{Description: "a JSON object is required"}
	exclude := func(field, other string) apierr.Violation {
		return apierr.Violation{Field: field, Description: apierr.TogetherPrefix + other}
	}
	table := apierr.New(moderatov1.Reason_REASON_INVALID_ARGUMENT).Text()
	for _, c := range []struct {
		name string
		f    *apierr.Error
		want string
	}{
		{"no violation", apierr.Invalid(), table},
		{"one violation", apierr.Invalid(one), "limit must be between 1 and 20."},
		{"violation without a field", apierr.Invalid(whole), "A JSON object is required."},
		{"violation of the body", apierr.Invalid(apierr.Violation{Description: "must be a JSON object"}), "The request body must be a JSON object."},
		{"two fields that exclude each other", apierr.Invalid(exclude("one", "other"), exclude("other", "one")), "Give one or other, not both."},
		{"such fields and another violation", apierr.Invalid(exclude("one", "other"), exclude("other", "one"), whole), "Give one or other, not both. There is 1 more violation."},
		{"two violations", apierr.Invalid(one, whole), "limit must be between 1 and 20. There is 1 more violation."},
		{"three violations", apierr.Invalid(one, whole, whole), "limit must be between 1 and 20. There are 2 more violations."},
		{
			"a misspelt name", apierr.Invalid(apierr.Violation{Field: "x_y", Description: "unknown parameter x_y; did you mean xY?"}, one),
			"unknown parameter x_y; did you mean xY? There is 1 more violation.",
		},
		{
			"the tokens", &apierr.Error{Reason: moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED, Metadata: map[string]string{apierr.AcceptedTokens: "user,service"}},
			"This operation does not accept this kind of token. It accepts: user, service.",
		},
		{"explicit message", &apierr.Error{Reason: moderatov1.Reason_REASON_INTERNAL, Message: "Oh."}, "Oh."},
	} {
		if got := c.f.Text(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestErrorStringIsShort(t *testing.T) {
	t.Parallel()
	many := make([]apierr.Violation, apierr.MaxViolations)
	for i := range many {
		many[i] = apierr.Violation{Field: "type", Description: strings.Repeat("x", 1<<10)}
	}
	for name, f := range map[string]*apierr.Error{
		"many violations": apierr.Invalid(many...),
		"a long message":  {Message: strings.Repeat("é", 1<<20)},
		"a long cause":    {Cause: errors.New(strings.Repeat("x", 1<<20))},
	} {
		if got := f.Error(); len(got) > 2100 || !utf8.ValidString(got) {
			t.Errorf("%s: got %d bytes, want at most 2 KiB of valid UTF-8", name, len(got))
		}
	}
}

func TestErrorStringIncludesCauseForLog(t *testing.T) {
	t.Parallel()
	f := apierr.Invalid(apierr.Violation{Field: "limit", Description: "is wrong"})
	f.Cause = errors.New("the cause")
	if got, want := f.Error(), "INVALID_ARGUMENT; limit is wrong: the cause"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(f, f.Cause) || !errors.Is(fmt.Errorf("x: %w", f), apierr.Invalid()) {
		t.Error("a fault is not found by its cause or reason")
	}
	if errors.Is(f, apierr.New(moderatov1.Reason_REASON_INTERNAL)) {
		t.Error("a fault is found by another reason")
	}
}

// A client that waits for Retry-After must never be early.
func TestRetryAfterIsRoundedUpToSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "1"}, {time.Nanosecond, "1"}, {time.Second, "1"}, {time.Second + time.Nanosecond, "2"},
		{1500 * time.Millisecond, "2"}, {10 * time.Minute, "600"}, {10*time.Minute - time.Millisecond, "600"},
	} {
		if got := (&apierr.Error{RetryAfter: c.after}).RetryAfterSeconds(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.after, got, c.want)
		}
	}
}

func TestMuteActiveHasExpirationAndRetryAfter(t *testing.T) {
	t.Parallel()
	now := instant.Of(time.Date(2026, 3, 14, 15, 9, 26, 535e6, time.UTC))
	f := apierr.MuteActive(moderatov1.Reason_REASON_USER_MUTED, now.Add(90*time.Second), now)
	if f.Reason != moderatov1.Reason_REASON_USER_MUTED || f.RetryAfter != 90*time.Second {
		t.Errorf("got %s after %s, want USER_MUTED after 1m30s", apierr.Code(f.Reason), f.RetryAfter)
	}
	if got, want := f.Metadata[apierr.MuteExpiresAt], "2026-03-14T15:10:56.535Z"; got != want {
		t.Errorf("muteExpiresAt: got %s, want %s", got, want)
	}
}
