package gateway

import (
	"errors"
	"fmt"
	"io"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/jsonapi"
)

const contentType = "application/json"

// marshaler reads bodies and writes envelopes.
type marshaler struct{}

const (
	envelopeStart = `{"success":true,"message":"success"`
	firstBuffer   = 512
)

// Marshal writes the envelope around a response: a message, or the list that
// the method's response_body names. A message type without fields has no data.
func (marshaler) Marshal(response any) ([]byte, error) {
	b := append(make([]byte, 0, firstBuffer), envelopeStart...)
	if m, ok := response.(proto.Message); ok {
		if jsonapi.HasContent(m) {
			b = jsonapi.Append(append(b, `,"data":`...), m)
		}
		return append(b, '}'), nil
	}
	b, ok := jsonapi.AppendList(append(b, `,"data":`...), response)
	if !ok {
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
	err := jsonapi.Unmarshal(data, m, jsonapi.Options{})
	var wrong *jsonapi.Error
	if !errors.As(err, &wrong) {
		return err
	}
	violations := make(violationsError, len(wrong.Violations))
	for i, v := range wrong.Violations {
		violations[i] = fault.Violation{Field: v.Field, Description: v.Description}
	}
	return violations
}

// NewDecoder reads a body.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(request any) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read body: %w", err)
		}
		return m.Unmarshal(data, request)
	})
}

// NewEncoder writes envelopes.
func (m marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(response any) error {
		data, err := m.Marshal(response)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
}

// ContentType is that of every body.
func (marshaler) ContentType(any) string { return contentType }
