package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// expectation is the status and, of an error, the code that are expected; field is one that its
// violations name.
type expectation struct {
	status      int
	code, field string
	section     string
}

func (e expectation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", e.status, e.code, e.field))
}

// send sends a request and checks what holds for every response. It returns nil if there is
// nothing to check further.
func (r *run) send(ctx context.Context, o *operation, q *request, e expectation) *answer {
	if r.err != nil {
		return nil
	}
	a, problem, err := r.client.send(ctx, q)
	if r.err = err; err != nil {
		return nil
	}
	x := &exchange{r, o, q, a}
	switch {
	case problem != "":
		x.find(e.section, q.String(), problem)
		return nil
	case a.status != e.status:
		got := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.code()))
		x.find(e.section, q.String(), fmt.Sprintf("%s, want %s", got, e))
		return nil
	case !x.checkEnvelope():
		return nil
	}
	if a.status != http.StatusOK {
		x.checkError(e)
	}
	return a
}

// exchange is a request and its response.
type exchange struct {
	run       *run
	operation *operation
	*request
	*answer
}

func (x *exchange) find(section, subject, text string) {
	x.run.find(section, x.operation.String(), subject, text)
}

// checkEnvelope checks the headers and the envelope. It returns false if there is no envelope.
func (x *exchange) checkEnvelope() bool {
	if !x.isJSON() {
		x.find("1", "header Content-Type", fmt.Sprintf("is %q, want application/json", x.header.Get("Content-Type")))
	}
	if x.header.Get("X-Request-Id") == "" {
		x.find("errors.md", "header X-Request-Id", "is missing")
	}
	if x.method == http.MethodHead {
		return false
	}
	if x.payload == nil {
		x.find("1", "the body", fmt.Sprintf("is no JSON object, with status %d", x.status))
		return false
	}
	success, message := x.payload["success"], x.payload["message"]
	if want := x.status == http.StatusOK; success != want {
		x.find("1", "success", fmt.Sprintf("is %s, want %t with status %d", abbreviate(success), want, x.status))
		return false
	}
	if text, _ := message.(string); text == "" || (x.status == http.StatusOK && text != "success") {
		x.find("1", "message", fmt.Sprintf(`is %s, want "success" or, of an error, a sentence`, abbreviate(message)))
	}
	return true
}

// checkError checks the body and the headers of an error.
func (x *exchange) checkError(e expectation) {
	data, _ := x.payload["data"].(map[string]any)
	if data["code"] != e.code {
		x.find("errors.md", x.String(), fmt.Sprintf("the code is %s, want %s", abbreviate(data["code"]), e.code))
	}
	if id := x.header.Get("X-Request-Id"); data["requestId"] != id && id != "" {
		x.find("errors.md", "data.requestId of an error", fmt.Sprintf("is %s, want that of the header X-Request-Id", abbreviate(data["requestId"])))
	}
	if challenge := x.header.Get("WWW-Authenticate"); x.status == http.StatusUnauthorized && !strings.HasPrefix(challenge, "Bearer") {
		x.find("errors.md", "header WWW-Authenticate", fmt.Sprintf("is %q with status 401, want Bearer", challenge))
	}
	violations, _ := data["violations"].([]any)
	names := func(v any) bool { return valueAt(v, "field") == e.field && valueAt(v, "description") != nil }
	if e.field != "" && !slices.ContainsFunc(violations, names) {
		x.find("errors.md", x.String(), fmt.Sprintf("data.violations is %s, want one of %s with a description", abbreviate(data["violations"]), e.field))
	}
	if seconds, err := strconv.Atoi(x.header.Get("Retry-After")); e.code == "MUTE_ACTIVE" && (err != nil || seconds < 1 || !matchers["timestamp"](data["muteExpiresAt"])) {
		x.find("7", x.String(), fmt.Sprintf("data.muteExpiresAt is %s and Retry-After %q, want a timestamp and seconds", abbreviate(data["muteExpiresAt"]), x.header.Get("Retry-After")))
	}
	if kinds, _ := data["acceptedTokens"].([]any); e.code == "TOKEN_KIND_NOT_ACCEPTED" && !slices.Contains(kinds, any(x.operation.tokens[0])) {
		x.find("errors.md", "data.acceptedTokens", fmt.Sprintf("is %s, want %s", abbreviate(data["acceptedTokens"]), strings.Join(x.operation.tokens, ", ")))
	}
	if isScope := e.code == "SCOPE_MISSING" || e.code == "GRANT_MISSING"; isScope && data["requiredScope"] != x.operation.scope {
		x.find("errors.md", "data.requiredScope", fmt.Sprintf("is %s, want %q", abbreviate(data["requiredScope"]), x.operation.scope))
	}
}
