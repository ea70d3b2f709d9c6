// Command generate prints docs/contract.md: the operations, the errors, the event types
// and the bounds of fields that the .proto files declare.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/authz"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	fmt.Fprint(out, "# Contract\n\nThis page is generated from the [.proto files](../proto) by `make gen`. [decisions.md](decisions.md) describes the behaviour.\n")
	operations(out)
	reasons(out)
	eventTypes(out)
	formats(out)
	fields(out)
}

// relations describes the relation to the channel or user that a request names.
var relations = map[optionsv1.Relation]string{
	optionsv1.Relation_RELATION_UNSPECIFIED: "none",
	optionsv1.Relation_RELATION_SELF:        "the user that the request names, or an app to which that user granted the scope",
	optionsv1.Relation_RELATION_AUTHORIZED:  "the channel's owner, or an app that names any channel",
	optionsv1.Relation_RELATION_OWNER:       "the channel's owner",
	optionsv1.Relation_RELATION_MODERATOR:   "the channel's owner or a moderator",
	optionsv1.Relation_RELATION_LISTENER:    "by event type, see [Event types](#event-types)",
}

// audiences describes who hears events of an audience.
var audiences = map[optionsv1.Audience]string{
	optionsv1.Audience_AUDIENCE_PUBLIC:     "anyone, with `users.read`",
	optionsv1.Audience_AUDIENCE_CHANNEL:    "owner, moderators, and apps that the owner allows, with `users.read`",
	optionsv1.Audience_AUDIENCE_MODERATORS: "owner and moderators, with `channel.moderate`",
}

// relation describes the relation that a rule requires.
func relation(rule authz.Rule) string {
	if rule.Relation == optionsv1.Relation_RELATION_AUTHORIZED && !slices.Contains(rule.Tokens, authn.App) {
		return relations[optionsv1.Relation_RELATION_OWNER]
	}
	return relations[rule.Relation]
}

func operations(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Operations\n\nA service token is accepted wherever an app token is, and with `acting-user` wherever a user token is. Every operation that changes something, except Import, accepts an [idempotency key](decisions.md#idempotency-keys).\n\n"+
		"| operation | REST | tokens | scope | relation |\n|---|---|---|---|---|\n")
	for method := range authz.Methods() {
		rule := authz.Table[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())]
		scope := "none"
		if rule.Scope != "" {
			scope = "`" + rule.Scope + "`"
		}
		if rule.AlternativeScope != "" {
			scope += " or `" + rule.AlternativeScope + "`"
		}
		fmt.Fprintf(out, "| %s.%s | %s | %s | %s | %s |\n", method.Parent().Name(), method.Name(), path(method), tokens(rule.Tokens), scope, relation(rule))
	}
}

func path(method protoreflect.MethodDescriptor) string {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch {
	case rule.GetGet() != "":
		return "`GET " + rule.GetGet() + "`"
	case rule.GetPost() != "":
		return "`POST " + rule.GetPost() + "`"
	case rule.GetDelete() != "":
		return "`DELETE " + rule.GetDelete() + "`"
	}
	return "–"
}

func tokens(accepted []authn.Kind) string {
	names := make([]string, len(accepted))
	for i, kind := range accepted {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}

func reasons(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Errors\n\n| code | HTTP | gRPC | message |\n|---|---|---|---|\n")
	values := moderatov1.Reason(0).Descriptor().Values()
	for i := range values.Len() {
		status, _ := proto.GetExtension(values.Get(i).Options(), optionsv1.E_Status).(*optionsv1.Status)
		if status == nil {
			continue
		}
		http, grpc := fmt.Sprint(status.GetHttp()), code.Code_name[int32(status.GetGrpc())]
		switch status.GetOnly() {
		case optionsv1.Transport_TRANSPORT_REST:
			grpc = "–"
		case optionsv1.Transport_TRANSPORT_GRPC:
			http = "–"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", strings.TrimPrefix(string(values.Get(i).Name()), "REASON_"), http, grpc, status.GetText())
	}
}

func eventTypes(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Event types\n\nEvents of moderation are kept for two years by default, and those of the audience for 90 days. The moderation log shows the former by default.\n\n"+
		"Live events are delivered at most once, to streams only, and are not kept.\n\n| type | payload | origin | who hears it |\n|---|---|---|---|\n")
	fields := (*moderatov1.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("payload").Fields()
	for i := range fields.Len() {
		declared, _ := proto.GetExtension(fields.Get(i).Options(), optionsv1.E_Event).([]*optionsv1.EventType)
		for _, event := range declared {
			origin := strings.ToLower(strings.TrimPrefix(event.GetOrigin().String(), "ORIGIN_"))
			if event.GetLive() {
				origin += ", live"
			}
			fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", event.GetName(), fields.Get(i).Message().Name(), origin, audiences[event.GetAudience()])
		}
	}
}
