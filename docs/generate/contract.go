package main

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// contract returns docs/contract.md: the operations and the bounds of fields that the .proto
// files declare.
func contract() []byte {
	var page bytes.Buffer
	out := bufio.NewWriter(&page)
	fmt.Fprint(out, "# Contract\n\nThis page is generated from the [.proto files](../proto) by `make gen`. See also [errors.md](errors.md) for the errors, [event-types.md](event-types.md) for the events, and [decisions.md](decisions.md) for the behaviour. The comments on this page cite sections of the [interface](interface.md) that the operations implement.\n")
	operations(out)
	formats(out)
	fields(out)
	_ = out.Flush() // a buffer takes everything
	return page.Bytes()
}

// relations describes the relation to the channel or user that a request names.
var relations = map[optionsv1.Relation]string{
	optionsv1.Relation_RELATION_UNSPECIFIED: "none",
	optionsv1.Relation_RELATION_SELF:        "the user whom the request names, or an app that has this user's grant for the scope",
	optionsv1.Relation_RELATION_AUTHORIZED:  "the channel's owner, or an app that names any channel",
	optionsv1.Relation_RELATION_OWNER:       "the channel's owner",
	optionsv1.Relation_RELATION_MODERATOR:   "the channel's owner or a moderator",
	optionsv1.Relation_RELATION_LISTENER:    "by event type, see [Event types](event-types.md)",
}

// relation describes the relation that a rule requires.
func relation(rule authz.Rule) string {
	if rule.AlternativeScope == authn.UsersBot {
		return relations[rule.Relation] + "; with `" + rule.AlternativeScope + "`, the sender of the message"
	}
	if rule.Relation == optionsv1.Relation_RELATION_AUTHORIZED && !slices.Contains(rule.Tokens, authn.App) {
		return relations[optionsv1.Relation_RELATION_OWNER]
	}
	return relations[rule.Relation]
}

func operations(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Operations\n\nA service token is accepted wherever an app token is, and with `acting-user` wherever a user token is. Every operation that changes something, except Import, accepts an [idempotency key](idempotency.md).\n\n"+
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
		fmt.Fprintf(out, "| `%s.%s` | %s | %s | %s | %s |\n", method.Parent().Name(), method.Name(), path(method), tokens(rule.Tokens), scope, relation(rule))
	}
}

func path(method protoreflect.MethodDescriptor) string {
	if verb, path := authz.HTTP(method); path != "" {
		return "`" + verb + " " + path + "`"
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
