package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// audiences describes who hears events of an audience.
var audiences = map[optionsv1.Audience]string{
	optionsv1.Audience_AUDIENCE_PUBLIC:     "anyone, with `users.read`",
	optionsv1.Audience_AUDIENCE_CHANNEL:    "owner, moderators, and apps that the owner allows, with `users.read`",
	optionsv1.Audience_AUDIENCE_MODERATORS: "owner and moderators, with `channel.moderate`",
}

// eventsPart returns the generated part of docs/event-types.md.
func eventsPart(d *document) (string, error) {
	var table, sections strings.Builder
	fmt.Fprint(&table, "## Types\n\n| type | origin | who hears it |\n|---|---|---|\n")
	described := map[protoreflect.FieldDescriptor]string{} // payloads, by the type that describes them
	for _, e := range events() {
		origin := strings.ToLower(strings.TrimPrefix(e.GetOrigin().String(), "ORIGIN_"))
		if e.GetLive() {
			origin += ", live"
		} else if e.GetAlsoLive() {
			origin += ", some live"
		}
		fmt.Fprintf(&table, "| [`%s`](#%[1]s) | %s | %s |\n", e.GetName(), origin, audiences[e.GetAudience()])
		fmt.Fprintf(&sections, "\n## `%s`\n\nWho hears it: %s.\n\n", e.GetName(), audiences[e.GetAudience()])
		if first := described[e.field]; first != "" {
			fmt.Fprintf(&sections, "The payload has the fields of [`%s`](#%[1]s).\n\n", first)
		} else {
			described[e.field] = e.GetName()
			describePayload(&sections, d.comments, e.field.Message())
		}
		example, err := json.MarshalIndent(d.eventExample(e), "", "  ")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sections, "```json\n%s\n```\n", example)
	}
	metadata := (*moderatov1.EventMetadata)(nil).ProtoReflect().Descriptor()
	fmt.Fprint(&table, "\n## Metadata\n\nEvery event has the same `metadata`:\n\n| field | type | meaning |\n|---|---|---|\n")
	describeFields(&table, d.comments, metadata, "")
	return table.String() + sections.String(), nil
}

// payloadIntroduction is the first sentence of a payload's comment, or the part of it up to a
// colon, which names only the types of the payload.
var payloadIntroduction = regexp.MustCompile("^\\w+ is the payload of (?:[^.:`]|`[^`]*`)*[.:] *")

func describePayload(out *strings.Builder, c *comments, payload protoreflect.MessageDescriptor) {
	if about := payloadIntroduction.ReplaceAllString(c.cell(payload), ""); about != "" {
		fmt.Fprintf(out, "%s%s\n\n", strings.ToUpper(about[:1]), about[1:])
	}
	fmt.Fprint(out, "| field of `payload` | type | meaning |\n|---|---|---|\n")
	describeFields(out, c, payload, "")
	fmt.Fprintln(out)
}

// describeFields writes a row for each field, and for each field of messages within.
func describeFields(out *strings.Builder, c *comments, message protoreflect.MessageDescriptor, prefix string) {
	for field := range jsonFields(message) {
		fmt.Fprintf(out, "| `%s%s` | %s | %s |\n", prefix, field.JSONName(), jsonType(field), c.cell(field))
		if isObject(field) {
			describeFields(out, c, field.Message(), prefix+field.JSONName()+".")
		}
	}
}

func isObject(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.MessageKind && field.Message().FullName() != timestampName
}

const timestampName = "google.protobuf.Timestamp"

// jsonType returns the type of a field in the JSON form.
func jsonType(field protoreflect.FieldDescriptor) string {
	switch {
	case isObject(field):
		return "object"
	case field.Kind() == protoreflect.MessageKind:
		return "timestamp"
	case field.Kind() == protoreflect.BoolKind:
		return "boolean"
	case field.Kind() == protoreflect.StringKind, field.Options().(*descriptorpb.FieldOptions).GetJstype() == descriptorpb.FieldOptions_JS_STRING:
		return "string"
	}
	return "integer"
}
