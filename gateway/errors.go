package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/types/dynamicpb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// errorData is the `data` of an error body.
type errorData struct {
	Code           string             `json:"code"`
	RequestID      string             `json:"requestId"`
	Violations     []apierr.Violation `json:"violations,omitempty"`
	MuteExpiresAt  string             `json:"muteExpiresAt,omitempty"`
	ExpiresAt      json.RawMessage    `json:"expiresAt,omitempty"`
	RequiredScope  string             `json:"requiredScope,omitempty"`
	AcceptedTokens []string           `json:"acceptedTokens,omitempty"`
	WebhookID      string             `json:"webhookId,omitempty"`
	MessageID      string             `json:"messageId,omitempty"`
	RuleMessage    string             `json:"message,omitempty"`
	Restriction    string             `json:"restriction,omitempty"`
	Limit          string             `json:"limit,omitempty"`
	RetryAt        json.RawMessage    `json:"retryAt,omitempty"`
	Version        json.RawMessage    `json:"version,omitempty"`
}

type errorBody struct {
	Success bool      `json:"success"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

// refusals are the reasons of refuse.
var refusals = []moderatov1.Reason{
	moderatov1.Reason_REASON_HEADERS_TOO_LARGE,
	moderatov1.Reason_REASON_PATH_NOT_FOUND,
	moderatov1.Reason_REASON_METHOD_NOT_ALLOWED,
	moderatov1.Reason_REASON_BODY_TOO_LARGE,
	moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED,
	moderatov1.Reason_REASON_INVALID_ARGUMENT,
	moderatov1.Reason_REASON_INTERNAL,
}

// refuse writes an error that arose in the facade itself, and counts and logs it.
func (f *facade) refuse(w http.ResponseWriter, r *http.Request, e *apierr.Error) {
	f.refused.WithLabelValues(apierr.Code(e.Reason)).Inc()
	address, isHandedOver := inprocess.AddressOf(r.Context())
	if !isHandedOver {
		address = r.RemoteAddr
	}
	f.log.InfoContext(r.Context(), "refused", "request_id", requestID(w), "code", apierr.Code(e.Reason),
		"address", address, "http_method", r.Method, "path", logging.Path(r.URL))
	writeError(w, e)
}

// callFailed writes the error of a call, or what is wrong with its request.
func (f *facade) callFailed(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	var e *apierr.Error
	if !errors.As(err, &e) { // the handler could not read the request
		f.refuse(w, r, f.unreadable(r, err))
		return
	}
	if md, ok := runtime.ServerMetadataFromContext(ctx); ok {
		setHeader(w, md.HeaderMD)
	}
	writeError(w, e)
}

// unreadable returns the error for a request that a generated handler could not read. The
// handlers turn the errors of the decoder and of the query parser into text, so the request
// is read again.
func (f *facade) unreadable(r *http.Request, handlers error) *apierr.Error {
	request := dynamicpb.NewMessage(f.operationOf(r).input)
	var err error
	if sent, ok := r.Body.(*body); ok {
		_, _ = sent.Seek(0, io.SeekStart)
		err = marshaler{}.NewDecoder(sent).Decode(request)
	} else {
		err = queryParser{}.Parse(request, r.Form, nil)
	}
	return apierr.Of(cmp.Or(err, handlers))
}

// errorText returns the error body for e.
func errorText(requestID string, e *apierr.Error) []byte {
	body := errorBody{Message: e.Text(), Data: errorData{
		Code:          apierr.Code(e.Reason),
		RequestID:     requestID,
		Violations:    e.Violations,
		MuteExpiresAt: e.Metadata[apierr.MuteExpiresAt],
		RequiredScope: e.Metadata[apierr.RequiredScope],
		WebhookID:     e.Metadata[apierr.WebhookID],
		Restriction:   e.Metadata[apierr.Restriction],
		Limit:         e.Metadata[apierr.Limit],
		RuleMessage:   e.Metadata[apierr.RuleMessage],
	}}
	switch e.Reason {
	case moderatov1.Reason_REASON_USER_BANNED:
		body.Data.ExpiresAt = timeOrNull(e.Metadata[apierr.ExpiresAt])
	case moderatov1.Reason_REASON_MESSAGE_HELD:
		body.Data.MessageID = e.Metadata[apierr.MessageID]
		body.Data.ExpiresAt = timeOrNull(e.Metadata[apierr.ExpiresAt])
	case moderatov1.Reason_REASON_CHAT_RESTRICTED:
		body.Data.RetryAt = timeOrNull(e.Metadata[apierr.RetryAt])
	case moderatov1.Reason_REASON_VERSION_CONFLICT:
		body.Data.Version = json.RawMessage(e.Metadata[apierr.Version])
	}
	if kinds := e.Metadata[apierr.AcceptedTokens]; kinds != "" {
		body.Data.AcceptedTokens = strings.Split(kinds, ",")
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // strings and null only: it cannot fail
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// timeOrNull returns the JSON of a time in metadata, which is null if it is empty.
func timeOrNull(at string) json.RawMessage {
	if at == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(strconv.Quote(at))
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
