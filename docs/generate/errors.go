package main

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

type reason = moderatov1.Reason

const (
	exampleRequestID = "019e3c52-3b7a-7d11-9c0e-5f2a64c1b8d7"
	exampleTime      = "2026-11-20T12:10:00.000Z"
)

// Errors of every operation, in groups.
var (
	ofCredentials = []reason{
		moderatov1.Reason_REASON_TOKEN_MISSING, moderatov1.Reason_REASON_TOKEN_INVALID, moderatov1.Reason_REASON_TOKEN_EXPIRED,
		moderatov1.Reason_REASON_CLIENT_ID_MISSING, moderatov1.Reason_REASON_CLIENT_ID_MISMATCH,
	}
	ofTransport = []reason{
		moderatov1.Reason_REASON_INVALID_ARGUMENT, moderatov1.Reason_REASON_RATE_LIMITED, moderatov1.Reason_REASON_HEADERS_TOO_LARGE,
		moderatov1.Reason_REASON_INTERNAL, moderatov1.Reason_REASON_UNAVAILABLE, moderatov1.Reason_REASON_OVERLOADED,
		moderatov1.Reason_REASON_DEADLINE_EXCEEDED,
	}
	ofKey  = []reason{moderatov1.Reason_REASON_IDEMPOTENCY_KEY_REUSED, moderatov1.Reason_REASON_IDEMPOTENCY_KEY_IN_USE}
	ofBody = []reason{moderatov1.Reason_REASON_BODY_TOO_LARGE, moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED}
)

// ofRelation holds the errors of a caller who does not have the relation, and of a channel
// that does not exist.
var ofRelation = map[optionsv1.Relation][]reason{
	optionsv1.Relation_RELATION_SELF:       {moderatov1.Reason_REASON_NOT_SELF},
	optionsv1.Relation_RELATION_AUTHORIZED: {moderatov1.Reason_REASON_NOT_CHANNEL_OWNER, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND},
	optionsv1.Relation_RELATION_OWNER:      {moderatov1.Reason_REASON_NOT_CHANNEL_OWNER, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND},
	optionsv1.Relation_RELATION_MODERATOR:  {moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR, moderatov1.Reason_REASON_CHANNEL_NOT_FOUND},
	optionsv1.Relation_RELATION_LISTENER: {
		moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED, moderatov1.Reason_REASON_SCOPE_MISSING,
		moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR, moderatov1.Reason_REASON_GRANT_MISSING,
	},
}

// statusOf returns the status that the contract declares for a reason.
func statusOf(r reason) *optionsv1.Status {
	value := moderatov1.Reason(0).Descriptor().Values().ByNumber(r.Number())
	status, _ := proto.GetExtension(value.Options(), optionsv1.E_Status).(*optionsv1.Status)
	return status
}

// errorsOf returns the errors of a method: those that its policy implies, those of its
// arguments and of HTTP, and those that its comment names.
func (d *document) errorsOf(method protoreflect.MethodDescriptor) []reason {
	rule := ruleOf(method)
	found := slices.Concat(ofCredentials, ofTransport, ofRelation[rule.Relation], d.errorsInComment(method))
	if !slices.Contains(rule.Tokens, authn.User) || !slices.Contains(rule.Tokens, authn.App) {
		found = append(found, moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED)
	}
	if rule.Scope != "" {
		found = append(found, moderatov1.Reason_REASON_SCOPE_MISSING)
	}
	if rule.Relation == optionsv1.Relation_RELATION_SELF && slices.Contains(rule.Tokens, authn.App) {
		found = append(found, moderatov1.Reason_REASON_GRANT_MISSING)
	}
	if method.Input().Fields().ByName("cursor") != nil {
		found = append(found, moderatov1.Reason_REASON_CURSOR_INVALID)
	}
	if verb, _ := authz.HTTP(method); verb != "" && verb != http.MethodGet { // the stream has no verb in the contract
		found = append(found, ofBody...)
		found = append(found, ofKey...)
	}
	found = slices.DeleteFunc(found, func(r reason) bool { return !isOverREST(r) })
	slices.Sort(found)
	return slices.Compact(found)
}

var (
	upperCase = regexp.MustCompile(`\b[A-Z][A-Z_]+[A-Z]\b`)
	// sameErrors matches a reference to the errors of another method.
	sameErrors = regexp.MustCompile("errors: as `(\\w+)`")
)

// errorsInComment returns the errors that the comment of a method names, or the one that it
// refers to.
func (d *document) errorsInComment(method protoreflect.MethodDescriptor) (found []reason) {
	comment := d.comments.of(method)
	for _, word := range upperCase.FindAllString(comment, -1) {
		if r := apierr.FromCode(word); r != 0 {
			found = append(found, r)
		}
	}
	if other := sameErrors.FindStringSubmatch(comment); other != nil {
		for m := range authz.Methods() {
			if operationID(m) == other[1] {
				found = append(found, d.errorsInComment(m)...)
			}
		}
	}
	return found
}

func ruleOf(method protoreflect.MethodDescriptor) authz.Rule {
	return authz.Table[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())]
}

// errorResponses returns the responses for the errors of an operation, one for each status.
// further are headers that these responses have beside the usual ones.
func (d *document) errorResponses(all []reason, rule authz.Rule, further ...string) (responses object) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(statusOf(a).GetHttp(), statusOf(b).GetHttp()) })
	for i := 0; i < len(all); {
		status := statusOf(all[i]).GetHttp()
		end := i
		for end < len(all) && statusOf(all[end]).GetHttp() == status {
			end++
		}
		responses = append(responses, member{fmt.Sprint(status), d.errorResponse(int(status), all[i:end], rule, further)})
		i = end
	}
	return responses
}

// errorResponse returns the response for a status. Responses that many operations share are
// components.
func (d *document) errorResponse(status int, all []reason, rule authz.Rule, further []string) object {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	for _, shared := range [][]reason{ofCredentials, ofTransport, ofBody} {
		if !slices.ContainsFunc(all, func(r reason) bool { return !slices.Contains(shared, r) }) && status != http.StatusBadRequest && further == nil {
			d.responses[name] = d.newErrorResponse(status, all, rule, nil)
			return ref("responses", name)
		}
	}
	return d.newErrorResponse(status, all, rule, further)
}

func (d *document) newErrorResponse(status int, all []reason, rule authz.Rule, further []string) object {
	var codes, texts []string
	examples := object{}
	for _, r := range all {
		code := apierr.Code(r)
		codes = append(codes, code)
		texts = append(texts, fmt.Sprintf("- `%s`: %s", code, strings.ReplaceAll(d.comments.of(valueOf(r)), "\n\n", " ")))
		examples = append(examples, member{code, d.errorExample(r, rule)})
	}
	return object{
		{"description", strings.Join(texts, "\n")},
		{"headers", d.headers(union(errorHeaders(status, all), further)...)},
		{"content", object{{"application/json", object{
			{"schema", record("", object{
				{"success", object{{"type", "boolean"}, {"const", false}}},
				{"message", text("What is wrong, for a person.")},
				{"data", object{{"allOf", []object{ref("schemas", "ErrorData"), {{"properties", object{{"code", object{{"type", "string"}, {"enum", codes}}}}}, {"required", []string{"code"}}}}}}},
			})},
			{"examples", examples},
		}}}},
	}
}

func valueOf(r reason) protoreflect.EnumValueDescriptor {
	return moderatov1.Reason(0).Descriptor().Values().ByNumber(r.Number())
}

// union returns names and those of further that names lacks.
func union(names, further []string) []string {
	for _, name := range further {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// namesEnd reports whether responses with an error state in Retry-After when it ends.
func namesEnd(r reason) bool {
	return r == moderatov1.Reason_REASON_MUTE_ACTIVE || r == moderatov1.Reason_REASON_USER_MUTED || r == moderatov1.Reason_REASON_USER_BANNED ||
		r == moderatov1.Reason_REASON_CHAT_RESTRICTED || r == moderatov1.Reason_REASON_IDEMPOTENCY_KEY_IN_USE
}

// errorHeaders returns the headers of the response for errors.
func errorHeaders(status int, all []reason) []string {
	headers := []string{"X-Request-Id", "Link"}
	if status != http.StatusUnauthorized && status != http.StatusRequestHeaderFieldsTooLarge {
		headers = append(headers, rateLimitHeaders...)
	}
	if status == http.StatusUnauthorized || slices.Contains(all, moderatov1.Reason_REASON_SCOPE_MISSING) {
		headers = append(headers, "WWW-Authenticate")
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || slices.ContainsFunc(all, namesEnd) {
		headers = append(headers, "Retry-After")
	}
	if slices.Contains(all, moderatov1.Reason_REASON_MESSAGE_BLOCKED) { // a refusal that may be kept
		headers = append(headers, "Idempotent-Replayed")
	}
	return headers
}

// errorExample returns an example of an error. Those that differ by operation are written
// out, and the others are components.
func (d *document) errorExample(r reason, rule authz.Rule) object {
	e := &apierr.Error{Reason: r, Metadata: map[string]string{}}
	data := object{{"code", apierr.Code(r)}, {"requestId", exampleRequestID}}
	isShared := true
	switch r {
	case moderatov1.Reason_REASON_INVALID_ARGUMENT:
		e.Violations = []apierr.Violation{{Field: "channelId", Description: "must be a UUID in its 36-character form"}}
	case moderatov1.Reason_REASON_MUTE_ACTIVE, moderatov1.Reason_REASON_USER_MUTED:
		data = append(data, member{apierr.MuteExpiresAt, exampleTime})
	case moderatov1.Reason_REASON_WEBHOOK_EXISTS:
		data = append(data, member{apierr.WebhookID, exampleEventID})
	case moderatov1.Reason_REASON_USER_BANNED:
		data = append(data, member{apierr.ExpiresAt, nil})
	case moderatov1.Reason_REASON_MESSAGE_HELD:
		data = append(data, member{apierr.MessageID, exampleEventID}, member{apierr.ExpiresAt, exampleTime})
	case moderatov1.Reason_REASON_CHAT_RESTRICTED:
		data = append(data, member{apierr.Restriction, "slow"}, member{apierr.RetryAt, exampleTime})
	case moderatov1.Reason_REASON_RULES_TOO_COSTLY:
		e.Violations = []apierr.Violation{{Field: "put[3].patterns[0]", Description: "takes the most steps of rules that would take too long for each message; make it simpler, or delete rules"}}
	case moderatov1.Reason_REASON_RULE_LIMIT_REACHED:
		data = append(data, member{apierr.Limit, "rules"})
	case moderatov1.Reason_REASON_VERSION_CONFLICT:
		data = append(data, member{apierr.Version, 4})
	case moderatov1.Reason_REASON_SCOPE_MISSING, moderatov1.Reason_REASON_GRANT_MISSING:
		scope := cmp.Or(rule.Scope, authn.UsersRead)
		isShared = rule.Scope == ""
		e.Metadata[apierr.RequiredScope] = scope
		data = append(data, member{apierr.RequiredScope, scope})
	case moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED:
		kinds := []string{}
		for _, kind := range rule.Tokens {
			if rule.Relation != optionsv1.Relation_RELATION_LISTENER || kind != authn.App {
				kinds = append(kinds, string(kind))
			}
		}
		isShared = false
		e.Metadata[apierr.AcceptedTokens] = apierr.Tokens(kinds)
		data = append(data, member{apierr.AcceptedTokens, kinds})
	}
	for _, v := range e.Violations {
		data = append(data, member{"violations", []object{{{"field", v.Field}, {"description", v.Description}}}})
	}
	example := object{{"value", object{{"success", false}, {"message", e.Text()}, {"data", data}}}}
	if !isShared {
		return example
	}
	d.examples[apierr.Code(r)] = example
	return ref("examples", apierr.Code(r))
}
