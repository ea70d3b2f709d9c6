package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/moderato-live/moderato/gateway/signin"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// document is an OpenAPI document that is being made. Its components are added when
// something refers to them.
type document struct {
	comments *comments
	golden   *golden

	schemas, responses, examples, usedHeaders map[string]object
}

func newDocument(c *comments, g *golden) *document {
	return &document{comments: c, golden: g, schemas: map[string]object{}, responses: map[string]object{}, examples: map[string]object{}, usedHeaders: map[string]object{}}
}

// encode returns the document as indented JSON.
func (d *document) encode() ([]byte, error) {
	d.addErrors()
	d.addEvents()
	tags := d.tags()
	paths := d.paths()
	webhooks := d.webhooks()
	text, err := marshal(object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Moderato"}, {"version", "v1"}, {"summary", "Moderation and channel data of a live-streaming platform."},
			{"description", introduction},
			{"license", object{{"name", "Apache License 2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []object{{{"url", "/"}, {"description", "The installation that serves this document."}}}},
		{"tags", tags},
		{"paths", paths},
		{"webhooks", webhooks},
		{"components", object{
			{"schemas", sorted(d.schemas)}, {"responses", sorted(d.responses)}, {"parameters", append(parameters, webhookParameters...)},
			{"examples", sorted(d.examples)}, {"headers", sorted(d.usedHeaders)}, {"securitySchemes", securitySchemes()},
		}},
	})
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// sorted returns components in the order of their names.
func sorted(components map[string]object) (all object) {
	for _, name := range slices.Sorted(maps.Keys(components)) {
		all = append(all, member{name, components[name]})
	}
	return all
}

// public yields the methods that the REST facade serves.
func public(yield func(protoreflect.MethodDescriptor) bool) {
	for method := range authz.Methods() {
		if verb, _ := authz.HTTP(method); (verb != "" || isStream(method)) && !yield(method) {
			return
		}
	}
}

func isStream(method protoreflect.MethodDescriptor) bool {
	return "/"+string(method.Parent().FullName())+"/"+string(method.Name()) == moderatov1.EventsService_WatchEvents_FullMethodName
}

// paths returns the operations, in the order of the contract.
func (d *document) paths() object {
	var paths object
	for method := range public {
		verb, path := authz.HTTP(method)
		if isStream(method) {
			paths = append(paths, member{eventsPath, object{{"get", d.stream(method)}}})
			continue
		}
		at := slices.IndexFunc(paths, func(m member) bool { return m.name == path })
		if at < 0 {
			at, paths = len(paths), append(paths, member{path, object{}})
		}
		operations, _ := paths[at].value.(object)
		paths[at].value = operations.with(member{strings.ToLower(verb), d.operation(method)})
	}
	return slices.Concat(paths, d.signIn(), d.itself())
}

// tags returns the services, with their comments.
func (d *document) tags() (tags []object) {
	last := ""
	for method := range public {
		if name := tagOf(method); name != last {
			tags = append(tags, object{{"name", name}, {"description", d.comments.of(method.Parent())}})
			last = name
		}
	}
	return append(tags,
		object{{"name", signInTag}, {"description", "How clients get tokens: OAuth 2.1 with PKCE at `/oauth2`, and the same in the API's own spelling at `/bapi/oauth2`. Client libraries find the endpoints at `" + signin.MetadataPath + "`."}},
		object{{"name", documentsTag}, {"description", "This document."}})
}

// addErrors adds the schemas of errors.
func (d *document) addErrors() {
	var codes []string
	values := moderatov1.Reason(0).Descriptor().Values()
	for i := range values.Len() {
		if r := moderatov1.Reason(values.Get(i).Number()); statusOf(r) != nil && isOverREST(r) {
			codes = append(codes, apierr.Code(r))
		}
	}
	d.schemas["ErrorCode"] = object{{"type", "string"}, {"description", "Why a call was refused. The codes are stable: programs may compare them."}, {"enum", codes}}
	d.schemas["Error"] = record("A call that was refused.", object{
		{"success", object{{"type", "boolean"}, {"const", false}}},
		{"message", text("What is wrong, for a person.")},
		{"data", ref("schemas", "ErrorData")},
	})
	d.schemas["ErrorData"] = record("What is wrong, for programs.", object{
		{"code", ref("schemas", "ErrorCode")},
		{"requestId", text("The id of the request, as in the header X-Request-Id.")},
		{"violations", object{{"type", "array"}, {"items", ref("schemas", "Violation")}, {"description", "With INVALID_ARGUMENT: what is wrong with each field; at most 100. With RULES_TOO_COSTLY: the rule or pattern that takes the most steps."}}},
		{apierr.MuteExpiresAt, object{{"type", "string"}, {"format", "date-time"}, {"description", "With MUTE_ACTIVE and USER_MUTED: when the mute ends."}}},
		{apierr.ExpiresAt, object{{"type", []string{"string", "null"}}, {"format", "date-time"}, {"description", "With USER_BANNED: when the ban ends; null if it lasts until it is removed. With MESSAGE_HELD: when the message is decided without a moderator."}}},
		{apierr.MessageID, text("With MESSAGE_HELD: the id of the message.")},
		{apierr.RuleMessage, text("With MESSAGE_BLOCKED and MESSAGE_HELD: what the rule tells the sender; absent if it tells nothing.")},
		{apierr.RequiredScope, text("With SCOPE_MISSING and GRANT_MISSING: the missing scope.")},
		{apierr.AcceptedTokens, object{{"type", "array"}, {"items", object{{"type", "string"}, {"enum", []string{"user", "app", "service"}}}}, {"description", "With TOKEN_KIND_NOT_ACCEPTED: the kinds that are accepted."}}},
		{apierr.WebhookID, text("With WEBHOOK_EXISTS: the id of the webhook that exists.")},
		{apierr.Restriction, object{{"type", "string"}, {"enum", []string{"account_age", "followers", "subscribers", "emote", "first_message", "slow", "unique"}}, {"description", "With CHAT_RESTRICTED: which setting refuses the message."}}},
		{apierr.Limit, object{{"type", "string"}, {"enum", []string{"rules", "terms", "text"}}, {"description", "With RULE_LIMIT_REACHED: which limit the channel would exceed."}}},
		{apierr.RetryAt, object{{"type", []string{"string", "null"}}, {"format", "date-time"}, {"description", "With CHAT_RESTRICTED: when the sender may post; null if no time helps."}}},
		{apierr.Version, object{{"type", "integer"}, {"format", "int64"}, {"description", "With VERSION_CONFLICT: the present version."}}},
	}, "violations", apierr.MuteExpiresAt, apierr.ExpiresAt, apierr.MessageID, apierr.RuleMessage, apierr.RequiredScope, apierr.AcceptedTokens, apierr.WebhookID, apierr.Restriction, apierr.Limit, apierr.RetryAt, apierr.Version)
	d.schemas["Violation"] = record("What is wrong with a field.", object{
		{"field", text("The field, as the caller wrote it; empty for the body or the query as a whole.")},
		{"description", text("What the field must be.")},
	})
}
