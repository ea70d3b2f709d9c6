package main

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// event is an event type with the field of Event that holds its payload.
type event struct {
	*optionsv1.EventType

	field protoreflect.FieldDescriptor
}

func events() (all []event) {
	fields := (*moderatov1.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("payload").Fields()
	for i := range fields.Len() {
		types, _ := proto.GetExtension(fields.Get(i).Options(), optionsv1.E_Event).([]*optionsv1.EventType)
		for _, t := range types {
			all = append(all, event{t, fields.Get(i)})
		}
	}
	return all
}

// pascal returns the name of the event type in camel case, such as ChannelBan.
func (e event) pascal() string {
	var text strings.Builder
	for word := range strings.FieldsFuncSeq(e.GetName(), func(r rune) bool { return r == '.' || r == '_' }) {
		text.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return text.String()
}

// notification is the name of the schema of events of the type.
func (e event) notification() string { return e.pascal() + "Notification" }

// hearers describes who hears events of an audience.
var hearers = map[optionsv1.Audience]string{
	optionsv1.Audience_AUDIENCE_PUBLIC:     "Any user, and any app that names the channel. Scope: `" + authn.UsersRead + "`.",
	optionsv1.Audience_AUDIENCE_CHANNEL:    "The channel's owner and its moderators, and apps to which the owner granted the scope. Scope: `" + authn.UsersRead + "`.",
	optionsv1.Audience_AUDIENCE_MODERATORS: "The channel's owner and its moderators, but no apps. Scope: `" + authn.ChannelModerate + "`.",
}

// describeEvent returns what the payload of an event says, and who hears it.
func (d *document) describeEvent(e event) string {
	return d.comments.of(e.field.Message()) + "\n\n" + hearers[e.GetAudience()]
}

// addEvents adds the schemas of the events: one for each type, and Event for all of them.
func (d *document) addEvents() {
	d.schemas["EventMetadata"] = d.fieldsOf((*moderatov1.EventMetadata)(nil).ProtoReflect().Descriptor(), inResponse)
	d.schemas["LiveEventMetadata"] = d.liveMetadata()
	var all []object
	for _, e := range events() {
		metadata := ref("schemas", "EventMetadata")
		if e.GetLive() {
			metadata = ref("schemas", "LiveEventMetadata")
		} else if e.GetAlsoLive() {
			metadata = object{{"anyOf", []object{metadata, ref("schemas", "LiveEventMetadata")}}}
		}
		d.schemas[e.notification()] = object{
			{"type", "object"},
			{"description", "An event `" + e.GetName() + "`. " + d.describeEvent(e)},
			{"properties", object{
				{"metadata", object{{"allOf", []object{
					metadata,
					{{"properties", object{{"subscriptionType", object{{"type", "string"}, {"const", e.GetName()}}}}}, {"required", []string{"subscriptionType"}}},
				}}}},
				{"payload", d.message(e.field.Message(), inResponse)},
			}},
			{"required", []string{"metadata", "payload"}},
		}
		all = append(all, ref("schemas", e.notification()))
	}
	d.schemas["Event"] = object{
		{"description", "A change in a channel. `metadata.subscriptionType` says which one, and thereby what the payload holds."},
		{"anyOf", all},
	}
	d.schemas["MissedMessages"] = object{
		{"type", "object"},
		{"description", "The data of the event `missed` of a stream: the listener lost messages, because it did not receive them fast enough."},
		{"properties", object{{"missedMessages", object{
			{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"description", "How many live events were lost."},
		}}}},
		{"required", []string{"missedMessages"}},
	}
}

// liveMetadata is EventMetadata without the sequence, which a live event does not have.
func (d *document) liveMetadata() object {
	m := (*moderatov1.EventMetadata)(nil).ProtoReflect().Descriptor()
	schema := d.fieldsOf(m, inResponse)
	properties, _ := get(schema, "properties").(object)
	required, _ := get(schema, "required").([]string)
	last := len(properties) - 1 // sequence
	return object{
		{"type", "object"}, {"description", "The metadata of a live event, which has no sequence."},
		{"properties", properties[:last]}, {"required", required[:last]},
	}
}

// eventExample returns an example of an event.
func (d *document) eventExample(e event) object {
	payload := d.golden.payloads[e.GetName()]
	if payload == nil {
		payload = d.example(e.field.Message(), inResponse)
	}
	metadata := object{
		{"messageId", exampleEventID}, {"messageType", "notification"}, {"subscriptionType", e.GetName()}, {"subscriptionVersion", "1"},
		{"messageTimestamp", "2026-11-20T12:00:00.000Z"}, {"channelId", cmp.Or(get(payload, "channelId"), any(exampleChannel))}, {"sequence", 1042},
	}
	if e.GetLive() {
		metadata = metadata[:len(metadata)-1]
	}
	return object{{"metadata", metadata}, {"payload", ordered(payload, e.field.Message())}}
}

// webhooks returns the deliveries of webhooks, one for each type.
func (d *document) webhooks() object {
	all := object{}
	for _, e := range events() {
		last, responses := []object{ref("parameters", "ModeratoCursor"), ref("parameters", "Traceparent")}, deliveryResponses
		if e.GetLive() {
			last, responses = []object{ref("parameters", "ModeratoMissedMessages")}, liveDeliveryResponses
		}
		all = append(all, member{e.GetName(), object{{"post", object{
			{"operationId", "receive" + e.pascal()},
			{"summary", e.GetName()},
			{"description", d.describeEvent(e)},
			{"tags", []string{"Webhooks"}},
			{"security", []object{}},
			{"parameters", append([]object{
				ref("parameters", "WebhookId"), ref("parameters", "WebhookTimestamp"), ref("parameters", "WebhookSignature"),
			}, last...)},
			{"requestBody", object{
				{"required", true},
				{"content", object{{"application/json", object{
					{"schema", ref("schemas", e.notification())}, {"example", d.eventExample(e)},
				}}}},
			}},
			{"responses", responses},
		}}}})
	}
	return all
}

// deliveryResponses is how a receiver responds.
var deliveryResponses = object{
	{"2XX", object{{"description", "The event is delivered."}}},
	{"410", object{{"description", "The webhook is disabled immediately."}}},
	{"429", object{{"description", "The delivery is repeated after the time in `Retry-After`."}}},
	{"503", object{{"description", "The delivery is repeated after the time in `Retry-After`."}}},
	{"default", object{{"description", "The delivery failed and is repeated, for up to 3 days. A redirect is a failure."}}},
}

// liveDeliveryResponses is how a receiver responds to a live event, which is not repeated.
var liveDeliveryResponses = object{
	{"2XX", object{{"description", "The event is delivered."}}},
	{"default", object{{"description", "The event is lost. This server sends the webhook no live event for a while: for the time in `Retry-After` if there is one, for a minute after 410, and otherwise for a second at first and up to a minute after further failures."}}},
}

// webhookParameters are the headers of a delivery, as Standard Webhooks specifies them.
var webhookParameters = object{
	{"WebhookId", deliveryHeader("webhook-id", "The event's id, the same for every attempt.", object{{"type", "string"}, {"format", "uuid"}}, exampleEventID)},
	{"WebhookTimestamp", deliveryHeader("webhook-timestamp", "The time of the attempt, in Unix seconds.", object{{"type", "integer"}, {"format", "int64"}}, 1795176000)},
	{"WebhookSignature", deliveryHeader("webhook-signature", "`v1,` and the base64 of HMAC-SHA256 of `<id>.<timestamp>.<body>`. Two signatures, separated by a space, for 24 hours after the secret was rotated.",
		object{{"type", "string"}}, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")},
	{"ModeratoCursor", deliveryHeader("moderato-cursor", "The cursor with which an event stream resumes after the event. It is not signed.", object{{"type", "string"}}, exampleCursor)},
	{"ModeratoMissedMessages", optional(deliveryHeader("moderato-missed-messages", "How many live events the same server did not deliver to this webhook since the previous message. It is not signed.",
		object{{"type", "integer"}, {"format", "int64"}}, 3))},
	{"Traceparent", optional(deliveryHeader("traceparent", "The span of the attempt, as W3C Trace Context has it, if the call that caused the event was traced. It is not signed.",
		object{{"type", "string"}}, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))},
}

// optional returns a header that only some deliveries have.
func optional(header object) object {
	return slices.DeleteFunc(slices.Clone(header), func(m member) bool { return m.name == "required" })
}

func deliveryHeader(name, description string, schema object, example any) object {
	return object{{"name", name}, {"in", "header"}, {"required", true}, {"description", description}, {"schema", schema}, {"example", example}}
}
