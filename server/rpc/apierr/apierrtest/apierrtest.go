// Package apierrtest reads errors as clients do, for tests.
package apierrtest

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// Of returns the error that a call over gRPC returned.
func Of(err error) *apierr.Error {
	st := status.Convert(err)
	e := &apierr.Error{Message: st.Message()}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Metadata = apierr.FromCode(d.GetReason()), d.GetMetadata()
		case *errdetails.RequestInfo:
			e.RequestID = d.GetRequestId()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				e.Violations = append(e.Violations, apierr.Violation{Field: v.GetField(), Description: v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	return e
}
