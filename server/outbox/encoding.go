package outbox

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/eventtype"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jsonapi"
)

// The parts of a frame.
const (
	frameID   = "id: "
	frameData = "\ndata: "
	frameEnd  = "\n\n"
)

// encoding holds the encodings of an event that its listeners share. They are made when
// the first of them is needed, because many events are not: no listener wants them, or
// their listeners use gRPC.
type encoding struct {
	once  sync.Once
	frame []byte
	json  []byte // a part of frame
}

// JSON returns the JSON encoding of the event. It must not be modified.
func (e *Event) JSON() []byte {
	e.encoded.once.Do(e.encode)
	return e.encoded.json
}

// Frame returns the event as Server-Sent Events have it: its cursor and its JSON
// encoding. It must not be modified.
func (e *Event) Frame() []byte {
	e.encoded.once.Do(e.encode)
	return e.encoded.frame
}

func (e *Event) encode() {
	text := JSON(e.Message)
	b := make([]byte, 0, len(frameID)+len(e.Cursor)+len(frameData)+len(text)+len(frameEnd))
	b = append(append(append(b, frameID...), e.Cursor...), frameData...)
	start := len(b)
	b = append(append(b, text...), frameEnd...)
	end := start + len(text)
	e.encoded.frame, e.encoded.json = b, b[start:end:end]
}

// AppendLiveFrame appends a live event, which has no cursor, as Server-Sent Events have it.
func AppendLiveFrame(b []byte, e *moderatov1.Event) []byte {
	return append(append(append(b, frameData[1:]...), JSON(e)...), frameEnd...)
}

// ProtoReflect returns the message of a stream that holds the event. It makes an Event a
// proto.Message, so that a stream can send the Event itself: gRPC encodes this message,
// and the REST facade, which runs in the same process, writes the shared frame.
func (e *Event) ProtoReflect() protoreflect.Message { return e.response.ProtoReflect() }

// JSON returns the JSON encoding of an event. Use Event.JSON for an event that was read
// from the store.
func JSON(e *moderatov1.Event) []byte {
	b := append([]byte(nil), `{"metadata":`...)
	b = appendMetadata(b, e.GetMetadata())
	b = append(b, `,"payload":`...)
	m := e.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("payload")); f != nil {
		b = jsonapi.Append(b, m.Get(f).Message().Interface())
	} else {
		b = append(b, "{}"...)
	}
	return append(b, '}')
}

// appendMetadata appends the metadata of an event. A live event has no sequence.
func appendMetadata(b []byte, meta *moderatov1.EventMetadata) []byte {
	if !eventtype.Type(meta.GetSubscriptionType()).IsLive() {
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
