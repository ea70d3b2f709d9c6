package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/status"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
)

// errorData is the `data` of an error body.
type errorData struct {
	Code           string             `json:"code"`
	RequestID      string             `json:"requestId"`
	Violations     []apierr.Violation `json:"violations,omitempty"`
	MuteExpiresAt  string             `json:"muteExpiresAt,omitempty"`
	RequiredScope  string             `json:"requiredScope,omitempty"`
	AcceptedTokens []string           `json:"acceptedTokens,omitempty"`
}

type errorBody struct {
	Success bool      `json:"success"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

// refuse writes an error that arose in the facade itself, and counts and logs it.
func (f *facade) refuse(w http.ResponseWriter, r *http.Request, e *apierr.Error) {
	f.refused.WithLabelValues(apierr.Code(e.Reason)).Inc()
	path := "unknown"
	if _, ok := f.routes[r.URL.Path]; ok { // any other path could contain anything
		path = r.URL.Path
	}
	f.log.InfoContext(r.Context(), "refused", "request_id", requestID(w), "code", apierr.Code(e.Reason), "path", path)
	writeError(w, e)
}

// callFailed writes the error of a call, or an error in its arguments.
func (f *facade) callFailed(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	st := status.Convert(err)
	if violations, ok := unflatten(st.Message()); ok {
		f.refuse(w, r, apierr.Invalid(violations...))
		return
	}
	if md, ok := runtime.ServerMetadataFromContext(ctx); ok {
		setHeader(w, md.HeaderMD)
	}
	e, _ := apierr.FromStatus(st)
	writeError(w, e)
}

// errorText returns the error body for e.
func errorText(requestID string, e *apierr.Error) []byte {
	body := errorBody{Message: e.Text(), Data: errorData{
		Code:          apierr.Code(e.Reason),
		RequestID:     requestID,
		Violations:    e.Violations,
		MuteExpiresAt: e.Metadata[apierr.MuteExpiresAt],
		RequiredScope: e.Metadata[apierr.RequiredScope],
	}}
	if kinds := e.Metadata[apierr.AcceptedTokens]; kinds != "" {
		body.Data.AcceptedTokens = strings.Split(kinds, ",")
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // strings only: it cannot fail
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func writeError(w http.ResponseWriter, e *apierr.Error) {
	text := errorText(requestID(w), e)
	header := w.Header()
	if challenge := challengeFor(e); challenge != "" {
		header.Set("WWW-Authenticate", challenge)
	}
	if e.RetryAfter > 0 {
		header.Set("Retry-After", e.RetryAfterSeconds())
	}
	header.Add("Link", "<"+apierr.HelpPath(e.Reason)+`>; rel="help"`)
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(apierr.HTTPStatus(e.Reason))
	_, _ = w.Write(text)
}

// challengeFor returns the WWW-Authenticate header for e, or an empty string if e needs
// none. As in RFC 6750, the challenge has an error only if a token was sent.
func challengeFor(e *apierr.Error) string {
	const challenge = `Bearer realm="moderato"`
	switch e.Reason {
	case moderatov1.Reason_REASON_TOKEN_MISSING,
		moderatov1.Reason_REASON_TICKET_INVALID,
		moderatov1.Reason_REASON_CLIENT_ID_MISSING,
		moderatov1.Reason_REASON_CLIENT_ID_MISMATCH,
		moderatov1.Reason_REASON_CLIENT_CREDENTIALS_INVALID:
		return challenge
	case moderatov1.Reason_REASON_TOKEN_INVALID:
		return challenge + `, error="invalid_token", error_description="The access token is damaged, unknown or revoked"`
	case moderatov1.Reason_REASON_TOKEN_EXPIRED:
		return challenge + `, error="invalid_token", error_description="The access token expired"`
	case moderatov1.Reason_REASON_SCOPE_MISSING:
		return fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, challenge, e.Metadata[apierr.RequiredScope])
	}
	return ""
}

// flattened is the prefix of violations as text. The generated handlers convert every
// error of their decoder or query parser to text, so violations pass through them as
// text.
const flattened = "moderato violations: "

type violationsError []apierr.Violation

func (v violationsError) Error() string {
	text, _ := json.Marshal([]apierr.Violation(v)) // strings only: it cannot fail
	return flattened + string(text)
}

func unflatten(message string) (violations []apierr.Violation, ok bool) {
	text, ok := strings.CutPrefix(message, flattened)
	if !ok || json.Unmarshal([]byte(text), &violations) != nil {
		return nil, false
	}
	return violations, true
}
