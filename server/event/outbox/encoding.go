package outbox

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

// JSON returns the JSON encoding of the event, which contains the payload as it was stored,
// with the default picture for empty ones.
// The listeners share it. It must not be modified.
func (e *Event) JSON() []byte { return e.json() }

// ProtoReflect returns the message of a stream that holds the event. It makes an Event a
// proto.Message, so that a stream can send the Event itself: gRPC encodes this message,
// and the REST facade, which runs in the same process, writes the shared JSON.
func (e *Event) ProtoReflect() protoreflect.Message { return e.response.ProtoReflect() }

// JSON returns the JSON encoding of an event. Use Event.JSON for an event that was read
// from the store.
func JSON(e *moderatov1.Event) []byte {
	payload := []byte("{}")
	m := e.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("payload")); f != nil {
		payload = jsonapi.Marshal(m.Get(f).Message().Interface())
	}
	return encode(e.GetMetadata(), payload)
}

func encode(meta *moderatov1.EventMetadata, payload []byte) []byte {
	b := appendMetadata([]byte(`{"metadata":`), meta)
	b = append(append(b, `,"payload":`...), payload...)
	return append(b, '}')
}

// appendMetadata appends the metadata of an event. A live event has no sequence.
func appendMetadata(b []byte, meta *moderatov1.EventMetadata) []byte {
	if meta.GetSequence() > 0 {
		return jsonapi.Append(b, meta)
	}
	for i, field := range []struct{ name, value string }{
		{"messageId", meta.GetMessageId()},
		{"messageType", meta.GetMessageType()},
		{"subscriptionType", meta.GetSubscriptionType()},
		{"subscriptionVersion", meta.GetSubscriptionVersion()},
		{"messageTimestamp", instant.OfProto(meta.GetMessageTimestamp()).String()},
		{"channelId", meta.GetChannelId()},
	} {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b = append(append(append(b, separator, '"'), field.name...), `":"`...)
		b = append(append(b, field.value...), '"') // neither ids nor names need escaping
	}
	return append(b, '}')
}
