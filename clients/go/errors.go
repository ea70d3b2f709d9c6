package moderato

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// domain is the domain of the server's ErrorInfo.
const domain = "moderato"

// Error is the error of a call. Every call of a Client returns its error as an *Error,
// which errors.As finds.
type Error struct {
	// Reason is why the server refused the call. It is REASON_UNSPECIFIED if the error
	// does not come from the server, for example because it could not be reached.
	Reason moderatov1.Reason
	// Code is the gRPC code.
	Code codes.Code
	// Message is a sentence for people.
	Message string
	// RequestID identifies the call in the server's log; empty if the error does not come
	// from the server.
	RequestID string
	// Metadata holds further facts, such as requiredScope, by their names.
	Metadata map[string]string
	// Violations says what is wrong with each field, for REASON_INVALID_ARGUMENT.
	Violations []Violation
	// RetryAfter is how long to wait before a retry; 0 if the server does not say.
	RetryAfter time.Duration

	status *status.Status
}

// Violation says what is wrong with a field of a request.
type Violation struct {
	// Field is the name of the field in JSON.
	Field string
	// Description says what the field must be.
	Description string
}

// Error returns the message, the reason and the request id.
func (e *Error) Error() string {
	if e.Reason == moderatov1.Reason_REASON_UNSPECIFIED {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s (%s, request %s)", e.Message, reasonCode(e.Reason), e.RequestID)
}

// GRPCStatus returns the status, for package status of gRPC.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// MuteExpiresAt returns when the mute ends that is the reason of the error, and reports
// whether the error has it: that of REASON_MUTE_ACTIVE and REASON_USER_MUTED.
func (e *Error) MuteExpiresAt() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, e.Metadata["muteExpiresAt"])
	return at, err == nil
}

// BanExpiresAt returns when the ban ends that is the reason of the error, and reports whether
// it ends by itself: with REASON_USER_BANNED.
func (e *Error) BanExpiresAt() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, e.Metadata["expiresAt"])
	return at, err == nil
}

// ReasonOf returns the reason of the error of a call. It returns REASON_UNSPECIFIED for
// nil, and for an error that does not come from the server.
func ReasonOf(err error) moderatov1.Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return moderatov1.Reason_REASON_UNSPECIFIED
}

const reasonPrefix = "REASON_"

func reasonCode(r moderatov1.Reason) string { return r.String()[len(reasonPrefix):] }

// errorOf converts an error of gRPC to an *Error. It returns an error without a status,
// such as io.EOF, as it is.
func errorOf(err error) error {
	st, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	e := &Error{Code: st.Code(), Message: st.Message(), status: st}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == domain {
				e.Reason = moderatov1.Reason(moderatov1.Reason_value[reasonPrefix+d.GetReason()])
				e.Metadata = maps.Clone(d.GetMetadata())
			}
		case *errdetails.RequestInfo:
			e.RequestID = d.GetRequestId()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				e.Violations = append(e.Violations, Violation{v.GetField(), v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	return e
}
