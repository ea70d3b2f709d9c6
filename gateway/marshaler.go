package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

const contentType = "application/json"

// envelopeStart is how the envelope of every response begins.
const envelopeStart = `{"success":true,"message":"success"`

// marshaler reads request bodies and writes response envelopes.
type marshaler struct{}

// Marshal returns the envelope of a response, which is a message or the list that the
// method's response_body names. The envelope of a message type without fields has no
// data.
func (marshaler) Marshal(response any) ([]byte, error) {
	const size = 4 << 10 // most envelopes are shorter
	b := append(make([]byte, 0, size), envelopeStart...)
	if message, ok := response.(proto.Message); ok {
		if jsonapi.HasContent(message) {
			b = jsonapi.Append(append(b, `,"data":`...), message)
		}
	} else if b, ok = jsonapi.AppendList(append(b, `,"data":`...), response); !ok {
		return nil, fmt.Errorf("a %T cannot be the data of an envelope", response)
	}
	return append(b, '}'), nil
}

// Unmarshal reads a body into a request.
func (marshaler) Unmarshal(data []byte, request any) error {
	m, ok := request.(proto.Message)
	if !ok {
		return fmt.Errorf("a body cannot be read into a %T", request)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return apierr.Invalid(apierr.Violation{Description: "must be a JSON object; this operation takes its arguments there"})
	}
	err := jsonapi.Unmarshal(data, m, jsonapi.Options{Refuse: refuseField})
	var wrong *jsonapi.Error
	if !errors.As(err, &wrong) {
		return err
	}
	violations := make([]apierr.Violation, len(wrong.Violations))
	for i, v := range wrong.Violations {
		violations[i] = apierr.Violation{Field: v.Field, Description: v.Description}
	}
	return apierr.Invalid(violations...)
}

// NewDecoder returns a decoder that reads a body from r.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(request any) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read body: %w", err)
		}
		return m.Unmarshal(data, request)
	})
}

// NewEncoder returns an encoder that writes envelopes to w.
func (m marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(response any) error {
		data, err := m.Marshal(response)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
}

// ContentType returns the content type, which is the same for every body.
func (marshaler) ContentType(any) string { return contentType }
