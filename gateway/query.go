package gateway

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/moderato-live/moderato/server/fault"
)

// queryParser reads query strings as the interface has them: JSON names only,
// `name[]` or `name` for a repeated field, unknown keys ignored. The runtime's
// own takes snake_case and reads `name[]` as the key of a map.
type queryParser struct{}

// Parse sets the fields of a request and answers everything that is wrong.
func (queryParser) Parse(request proto.Message, values url.Values, _ *utilities.DoubleArray) error {
	m := request.ProtoReflect()
	fields := m.Descriptor().Fields()
	var violations violationsError
	for key, texts := range values {
		name, isArray := strings.CutSuffix(key, "[]")
		field := fields.ByJSONName(name)
		if field == nil || (isArray && !field.IsList()) {
			continue
		}
		if problem := setField(m, field, texts); problem != "" {
			violations = append(violations, fault.Violation{Field: key, Description: problem})
		}
	}
	if len(violations) == 0 {
		return nil
	}
	slices.SortFunc(violations, func(a, b fault.Violation) int { return strings.Compare(a.Field, b.Field) })
	return violations
}

// setField answers what is wrong with the values, or nothing.
func setField(m protoreflect.Message, field protoreflect.FieldDescriptor, texts []string) string {
	if !field.IsList() {
		if len(texts) > 1 {
			return "must be given once"
		}
		value, problem := parseScalar(field.Kind(), texts[0])
		if problem == "" {
			m.Set(field, value)
		}
		return problem
	}
	list := m.Mutable(field).List()
	for _, text := range texts {
		value, problem := parseScalar(field.Kind(), text)
		if problem != "" {
			return problem
		}
		list.Append(value)
	}
	return ""
}

func parseScalar(kind protoreflect.Kind, text string) (value protoreflect.Value, problem string) {
	switch kind {
	case protoreflect.StringKind:
		if strings.ToValidUTF8(text, "") != text {
			return value, "must be valid UTF-8"
		}
		return protoreflect.ValueOfString(text), ""
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return value, "must be an integer"
		}
		return protoreflect.ValueOfInt32(int32(n)), ""
	case protoreflect.Int64Kind:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return value, "must be an integer"
		}
		return protoreflect.ValueOfInt64(n), ""
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return value, "must be true or false"
		}
		return protoreflect.ValueOfBool(text == "true"), ""
	}
	return value, "cannot be given in a query"
}
