package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/outbox"
)

// audiences describes who hears events of an audience.
var audiences = map[optionsv1.Audience]string{
	optionsv1.Audience_AUDIENCE_PUBLIC:     "anyone, with `users.read`",
	optionsv1.Audience_AUDIENCE_CHANNEL:    "owner, moderators, and apps that the owner allows, with `users.read`",
	optionsv1.Audience_AUDIENCE_MODERATORS: "owner and moderators, with `channel.moderate`",
}

// eventsPart returns the generated part of docs/event-types.md.
func eventsPart(c comments) (string, error) {
	var table, sections strings.Builder
	fmt.Fprint(&table, "## Types\n\n| type | origin | who hears it |\n|---|---|---|\n")
	fields := (*moderatov1.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("payload").Fields()
	for i := range fields.Len() {
		declared, _ := proto.GetExtension(fields.Get(i).Options(), optionsv1.E_Event).([]*optionsv1.EventType)
		for j, event := range declared {
			origin := strings.ToLower(strings.TrimPrefix(event.GetOrigin().String(), "ORIGIN_"))
			if event.GetLive() {
				origin += ", live"
			}
			fmt.Fprintf(&table, "| [`%s`](#%[1]s) | %s | %s |\n", event.GetName(), origin, audiences[event.GetAudience()])
			fmt.Fprintf(&sections, "\n## `%s`\n\nWho hears it: %s.\n\n", event.GetName(), audiences[event.GetAudience()])
			if j == 0 {
				describePayload(&sections, c, fields.Get(i).Message())
			} else {
				fmt.Fprintf(&sections, "The payload has the fields of [`%s`](#%[1]s).\n\n", declared[0].GetName())
			}
			example, err := exampleJSON(fields.Get(i), event)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&sections, "```json\n%s\n```\n", example)
		}
	}
	metadata := (*moderatov1.EventMetadata)(nil).ProtoReflect().Descriptor()
	fmt.Fprint(&table, "\n## Metadata\n\nEvery event has the same `metadata`:\n\n| field | type | meaning |\n|---|---|---|\n")
	describeFields(&table, c, metadata, "")
	return table.String() + sections.String(), nil
}

// introduction is the first sentence of a payload's comment, or the part of it up to a
// colon, which names only the types of the payload.
var introduction = regexp.MustCompile("^\\w+ is the payload of (?:[^.:`]|`[^`]*`)*[.:] *")

func describePayload(out *strings.Builder, c comments, payload protoreflect.MessageDescriptor) {
	if about := introduction.ReplaceAllString(c.text(payload), ""); about != "" {
		fmt.Fprintf(out, "%s%s\n\n", strings.ToUpper(about[:1]), about[1:])
	}
	fmt.Fprint(out, "| field of `payload` | type | meaning |\n|---|---|---|\n")
	describeFields(out, c, payload, "")
	fmt.Fprintln(out)
}

// describeFields writes a row for each field, and for each field of messages within.
func describeFields(out *strings.Builder, c comments, message protoreflect.MessageDescriptor, prefix string) {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		fmt.Fprintf(out, "| `%s%s` | %s | %s |\n", prefix, field.JSONName(), jsonType(field), c.text(field))
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
	case field.Kind() == protoreflect.StringKind, isQuoted(field):
		return "string"
	}
	return "integer"
}

// exampleJSON returns an example of an event in its JSON form, with indents.
func exampleJSON(field protoreflect.FieldDescriptor, declared *optionsv1.EventType) ([]byte, error) {
	event := &moderatov1.Event{Metadata: &moderatov1.EventMetadata{}}
	payload := event.ProtoReflect().Mutable(field).Message()
	for _, m := range []protoreflect.Message{event.Metadata.ProtoReflect(), payload} {
		if err := fill(m, declared.GetName()); err != nil {
			return nil, err
		}
	}
	event.Metadata.SubscriptionType = declared.GetName()
	for _, name := range exampleNulls[declared.GetName()] {
		payload.Clear(payload.Descriptor().Fields().ByName(name))
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, outbox.JSON(event), "", "  "); err != nil {
		return nil, err
	}
	return indented.Bytes(), nil
}

// fill sets every field of a message to its example.
func fill(m protoreflect.Message, event string) error {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if isObject(field) {
			if err := fill(m.Mutable(field).Message(), event); err != nil {
				return err
			}
			continue
		}
		value, err := exampleOf(field, event)
		if err != nil {
			return err
		}
		m.Set(field, value)
	}
	return nil
}

// exampleOf returns the example of a field in an event. The most specific key wins: the
// field in the event, the field in its message, then the field anywhere.
func exampleOf(field protoreflect.FieldDescriptor, event string) (protoreflect.Value, error) {
	keys := []string{event + " " + string(field.Name()), string(field.Parent().Name()) + "." + string(field.Name()), string(field.Name())}
	i := slices.IndexFunc(keys, func(key string) bool { return examples[key] != nil })
	if i < 0 {
		return protoreflect.Value{}, fmt.Errorf("%s has no example", field.FullName())
	}
	return protoreflect.ValueOf(examples[keys[i]]), nil
}
