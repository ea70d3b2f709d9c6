package moderato

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// cursorHeader is the header of a delivery that holds the cursor of the event.
const cursorHeader = "Moderato-Cursor"

// maxDelivery bounds the body of a delivery in bytes; every event is smaller.
const maxDelivery = 1 << 20

// Delivery is an event that a webhook delivers.
type Delivery struct {
	// ID is the id of the delivery, which is the same if it is repeated.
	ID string
	// Cursor is where a stream resumes after the event.
	Cursor string
	// Event is the event. Its payload is nil if this version of the package does not
	// know the type.
	Event *moderatov1.Event
	// Body is the event as it was sent.
	Body []byte
}

// Receiver verifies the deliveries of a webhook.
type Receiver struct{ webhook *standardwebhooks.Webhook }

// NewReceiver returns a Receiver for a webhook with a secret, as CreateWebhook returned
// it.
func NewReceiver(secret string) (*Receiver, error) {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, fmt.Errorf("moderato: the secret of the webhook: %w", err)
	}
	return &Receiver{webhook}, nil
}

// Verify returns the event of a delivery with a body and headers. It returns an error if
// the signature is not the webhook's, or is older than five minutes.
func (r *Receiver) Verify(body []byte, header http.Header) (*Delivery, error) {
	if err := r.webhook.Verify(body, header); err != nil {
		return nil, fmt.Errorf("moderato: the delivery is not of this webhook: %w", err)
	}
	event, err := parseEvent(body)
	if err != nil {
		return nil, fmt.Errorf("moderato: the delivery holds no event: %w", err)
	}
	return &Delivery{ID: header.Get("Webhook-Id"), Cursor: header.Get(cursorHeader), Event: event, Body: body}, nil
}

// Handler returns an HTTP handler that calls handle with each delivery. It responds with
// 204, with 401 if the delivery is not the webhook's, and with 500 if handle returns an
// error: the server then repeats the delivery later.
func (r *Receiver) Handler(handle func(*http.Request, *Delivery) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxDelivery))
		if err != nil {
			http.Error(w, "The body cannot be read.", http.StatusBadRequest)
			return
		}
		delivery, err := r.Verify(body, request.Header)
		if err != nil {
			http.Error(w, "The signature is not valid.", http.StatusUnauthorized)
			return
		}
		if err := handle(request, delivery); err != nil {
			http.Error(w, "The event was not handled.", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// parseEvent parses the JSON form of an event, in which the type names the kind of the
// payload.
func parseEvent(body []byte) (*moderatov1.Event, error) {
	var parts struct{ Metadata, Payload json.RawMessage }
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, err
	}
	if len(parts.Metadata) == 0 {
		return nil, errors.New("there is no metadata")
	}
	read := protojson.UnmarshalOptions{DiscardUnknown: true}
	event := &moderatov1.Event{Metadata: &moderatov1.EventMetadata{}}
	if err := read.Unmarshal(parts.Metadata, event.Metadata); err != nil {
		return nil, err
	}
	field := payloadFields[event.GetMetadata().GetSubscriptionType()]
	if field == nil {
		return event, nil
	}
	return event, read.Unmarshal(parts.Payload, event.ProtoReflect().Mutable(field).Message().Interface())
}

// payloadFields holds the field of the payload of each event type.
var payloadFields = func() map[string]protoreflect.FieldDescriptor {
	byType := map[string]protoreflect.FieldDescriptor{}
	fields := (*moderatov1.Event)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		types, _ := proto.GetExtension(fields.Get(i).Options(), optionsv1.E_Event).([]*optionsv1.EventType)
		for _, t := range types {
			byType[t.GetName()] = fields.Get(i)
		}
	}
	return byType
}()
