// Package apierr holds the errors that callers see: one table of conditions, and one
// form for each transport. An error that is not a apierr.Error is a mistake of the
// server, and is shown as INTERNAL.
package apierr

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Domain is the domain of every google.rpc.ErrorInfo that the server sends.
const Domain = "moderato"

// Names of metadata. Over REST they are fields of `data`, over gRPC of ErrorInfo.
const (
	MessageID      = "messageId"
	RuleMessage    = "message"
	MuteExpiresAt  = "muteExpiresAt"
	ExpiresAt      = "expiresAt"
	RequiredScope  = "requiredScope"
	AcceptedTokens = "acceptedTokens"
	WebhookID      = "webhookId"
	Restriction    = "restriction"
	Limit          = "limit"
	RetryAt        = "retryAt"
	Version        = "version"
)

// ErrStopping is the cause of the error with which a stream ends because the server
// stops. Such an end is orderly, and does not count as a failure.
var ErrStopping = errors.New("the server stops")

// MaxViolations is the largest number of violations that an error reports. A request
// can hold more mistakes than that; the limit keeps the response small.
const MaxViolations = 100

// fullRetryAfter is when a client may retry while the database is full. It is long
// because somebody has to make room.
const fullRetryAfter = 30 * time.Second

// maxLogText is the length in bytes at which Error cuts its text.
const maxLogText = 2 << 10

// Violation describes what is wrong with one field, which is named as the client wrote
// it.
type Violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// Error is an error that a caller sees.
type Error struct {
	// Reason is the condition. The table defines how it is shown.
	Reason moderatov1.Reason
	// Message, if not empty, replaces the text of the table.
	Message string
	// Violations describes what is wrong with the request, for INVALID_ARGUMENT and
	// RULES_TOO_COSTLY.
	Violations []Violation
	// Metadata holds further facts for programs.
	Metadata map[string]string
	// RetryAfter is how long to wait before a retry; 0 if a retry would not help.
	RetryAfter time.Duration
	// Cause is for the server's log. Callers never see it.
	Cause error
	// RequestID is the id of the call that failed. The middleware sets it.
	RequestID string
}

// New returns the error for a reason, with the text of the table.
func New(reason moderatov1.Reason) *Error { return &Error{Reason: reason} }

// Invalid returns an INVALID_ARGUMENT error with violations.
func Invalid(violations ...Violation) *Error {
	return &Error{Reason: moderatov1.Reason_REASON_INVALID_ARGUMENT, Violations: violations}
}

// In returns an error whose violations are of a message within the request: their
// fields are prefixed with the name of the message. An error without violations is
// returned unchanged.
func In(message string, err error) error {
	var fault *Error
	if !errors.As(err, &fault) || len(fault.Violations) == 0 {
		return err
	}
	within := *fault
	within.Violations = make([]Violation, len(fault.Violations))
	for i, v := range fault.Violations {
		within.Violations[i] = Violation{Field: message + "." + v.Field, Description: v.Description}
	}
	return &within
}

// MuteActive returns the error for an active mute, with the time at which the mute ends
// and the time until then.
func MuteActive(reason moderatov1.Reason, until, now instant.Instant) *Error {
	return &Error{
		Reason:     reason,
		Metadata:   map[string]string{MuteExpiresAt: until.String()},
		RetryAfter: until.Sub(now),
	}
}

// UserBanned returns the error for the post of a user who is banned until an instant; nil if
// the ban lasts until it is removed.
func UserBanned(until *instant.Instant, now instant.Instant) *Error {
	e := New(moderatov1.Reason_REASON_USER_BANNED)
	if until != nil {
		e.Message = "The user is banned from this channel until " + until.String() + "."
		e.Metadata = map[string]string{ExpiresAt: until.String()}
		e.RetryAfter = until.Sub(now)
	}
	return e
}

// ChatRestricted returns the error for a post that the settings of a channel refuse, until an
// instant; nil if no time helps.
func ChatRestricted(restriction string, until *instant.Instant, now instant.Instant) *Error {
	e := &Error{Reason: moderatov1.Reason_REASON_CHAT_RESTRICTED, Metadata: map[string]string{Restriction: restriction}}
	if until != nil {
		e.Metadata[RetryAt] = until.String()
		e.RetryAfter = until.Sub(now)
	}
	return e
}

// MessageBlocked returns the error for a post that a rule refuses, with what the rule tells the
// sender; empty for nothing.
func MessageBlocked(message string) *Error {
	return byRule(moderatov1.Reason_REASON_MESSAGE_BLOCKED, message, map[string]string{})
}

// MessageHeld returns the error for a post that waits for a decision until an instant, with what the
// rule tells the sender; empty for nothing.
func MessageHeld(id uid.ID, until instant.Instant, message string) *Error {
	return byRule(moderatov1.Reason_REASON_MESSAGE_HELD, message, map[string]string{MessageID: id.String(), ExpiresAt: until.String()})
}

func byRule(reason moderatov1.Reason, message string, metadata map[string]string) *Error {
	if message != "" {
		metadata[RuleMessage] = message
	}
	return &Error{Reason: reason, Message: message, Metadata: metadata}
}

// VersionConflict returns the error for a change that expects another version than the present one.
func VersionConflict(present int64) *Error {
	return &Error{
		Reason:   moderatov1.Reason_REASON_VERSION_CONFLICT,
		Metadata: map[string]string{Version: strconv.FormatInt(present, 10)},
	}
}

// Error returns the reason and the cause for logs, in at most about 2 KiB.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(Code(e.Reason))
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	for i, v := range e.Violations {
		if b.Len() > maxLogText {
			fmt.Fprintf(&b, "; and %d more", len(e.Violations)-i)
			break
		}
		b.WriteString("; " + v.Field + " " + v.Description)
	}
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	return Truncate(b.String(), maxLogText)
}

// Truncate returns text, or its first bytes and an ellipsis if it is longer than
// limit bytes.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an Error with the same reason, for errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

// IsOurs reports whether the server, rather than the caller, caused the error.
func (e *Error) IsOurs() bool {
	return e.Reason == moderatov1.Reason_REASON_INTERNAL || e.Reason == moderatov1.Reason_REASON_UNAVAILABLE
}

// Text returns the message for a person. If there are several violations, it describes
// the first, and says how many more there are. Two fields that exclude each other count as
// one.
func (e *Error) Text() string {
	switch {
	case e.Message != "":
		return e.Message
	case len(e.Violations) > 0 && e.Violations[0].Description != "":
		return sentence(e.Violations)
	}
	text := conditions[e.Reason].GetText()
	for _, name := range []string{RequiredScope, AcceptedTokens} {
		text = strings.ReplaceAll(text, "{"+name+"}", strings.ReplaceAll(e.Metadata[name], ",", ", "))
	}
	return text
}

// TogetherPrefix is the prefix of the description of a field that excludes another one, whose
// name follows.
const TogetherPrefix = "must not be given together with "

// UnknownPrefix is the prefix of a violation's description that itself names the field,
// such as "unknown parameter channel_id; did you mean channelId?".
const UnknownPrefix = "unknown "

func sentence(violations []Violation) string {
	first, more := violations[0], len(violations)-1
	text := first.Field + " " + first.Description
	other, isExclusive := strings.CutPrefix(first.Description, TogetherPrefix)
	switch {
	case isExclusive:
		text = "Give " + first.Field + " or " + other + ", not both"
		if more > 0 && strings.HasPrefix(violations[1].Description, TogetherPrefix) {
			more-- // the other field's violation is the same mistake
		}
	case strings.HasPrefix(first.Description, UnknownPrefix):
		text = first.Description
	case first.Field != "":
	case strings.HasPrefix(first.Description, "is "), strings.HasPrefix(first.Description, "must "):
		text = "The request body " + first.Description
	default:
		text = strings.ToUpper(first.Description[:1]) + first.Description[1:]
	}
	if !strings.HasSuffix(text, "?") {
		text += "."
	}
	switch more {
	case 0:
		return text
	case 1:
		return text + " There is 1 more violation."
	default:
		return fmt.Sprintf("%s There are %d more violations.", text, more)
	}
}

// Of returns the Error for any error of a call. An error that is not an Error yet comes
// from the store, from the deadline, or from a mistake of the server, which is
// INTERNAL.
func Of(err error) *Error {
	var fault *Error
	var overloaded *fair.OverloadedError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Reason: moderatov1.Reason_REASON_DEADLINE_EXCEEDED, Cause: err}
	case errors.As(err, &overloaded):
		return &Error{Reason: moderatov1.Reason_REASON_OVERLOADED, RetryAfter: overloaded.RetryAfter, Cause: err}
	case errors.Is(err, store.ErrFull):
		return &Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: fullRetryAfter, Cause: err}
	case errors.Is(err, store.ErrUnavailable):
		return &Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: err}
	}
	return &Error{Reason: moderatov1.Reason_REASON_INTERNAL, Cause: err}
}

// GRPCStatus returns the error as gRPC sends it. gRPC calls it.
func (e *Error) GRPCStatus() *status.Status {
	info := &errdetails.ErrorInfo{Reason: Code(e.Reason), Domain: Domain, Metadata: e.Metadata}
	help := &errdetails.Help{Links: []*errdetails.Help_Link{{Description: "What to do next", Url: HelpPath(e.Reason)}}}
	details := []protoadapt.MessageV1{info, &errdetails.RequestInfo{RequestId: e.RequestID}, help}
	if len(e.Violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range e.Violations {
			bad.FieldViolations = append(bad.FieldViolations,
				&errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Description})
		}
		details = append(details, bad)
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	st := status.New(codes.Code(conditions[e.Reason].GetGrpc()), e.Text())
	if detailed, err := st.WithDetails(details...); err == nil {
		return detailed
	}
	return st
}

// RetryAfterSeconds returns RetryAfter for the HTTP header in whole seconds, at least
// 1. It is rounded up, so that a client that obeys it is never early.
func (e *Error) RetryAfterSeconds() string {
	seconds := int64((e.RetryAfter + time.Second - 1) / time.Second)
	return strconv.FormatInt(max(seconds, 1), 10)
}

// Tokens returns a list of token kinds in the form of the metadata: separated by
// commas.
func Tokens(kinds []string) string { return strings.Join(kinds, ",") }
