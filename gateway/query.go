package gateway

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// queryParser parses query strings. It accepts only JSON names, and `name[]`, `name`
// and `name[0]` for a repeated field. Unknown names are ignored, unless they are
// misspelt names. The runtime's own parser accepts snake_case and reads `name[]` as the
// key of a map.
type queryParser struct {
	// beside holds the names of parameters that are no fields of the request. The caller of
	// Parse reads them.
	beside []string
}

// Parse sets the fields of a request. Its error is an *apierr.Error with all violations, up
// to apierr.MaxViolations.
//
// A parameter with the name of a variable in the path is ignored; inPath has these fields.
func (p queryParser) Parse(request proto.Message, values url.Values, inPath *utilities.DoubleArray) error {
	m := request.ProtoReflect()
	var violations []apierr.Violation
	for _, key := range slices.SortedFunc(maps.Keys(values), compareKeys) {
		if len(violations) == apierr.MaxViolations {
			break
		}
		problem := ""
		if field := fieldOf(m.Descriptor(), key); field != nil {
			if inPath != nil && inPath.HasCommonPrefix([]string{string(field.Name())}) {
				continue
			}
			problem = setField(m, field, values[key])
		} else if !slices.Contains(p.beside, key) {
			problem = p.refuseParameter(m.Descriptor(), key)
		} else if len(values[key]) > 1 {
			problem = givenTwice
		}
		if problem != "" {
			violations = append(violations, apierr.Violation{Field: apierr.Truncate(key, maxShownKey), Description: problem})
		}
	}
	if len(violations) == 0 {
		return nil
	}
	return apierr.Invalid(violations...)
}

// givenTwice is what is wrong with a repeated parameter that has one value.
const givenTwice = "must be given once"

// maxShownKey is the length in bytes at which a violation truncates the key of a
// parameter.
const maxShownKey = 64

// fieldOf returns the field that a key names, or nil if there is none.
func fieldOf(m protoreflect.MessageDescriptor, key string) protoreflect.FieldDescriptor {
	name, index, isIndexed := strings.Cut(key, "[")
	field := m.Fields().ByJSONName(name)
	if field == nil || (isIndexed && (!field.IsList() || !isIndex(index))) {
		return nil
	}
	return field
}

// isIndex reports whether text is the part after the opening bracket of `name[]` or
// `name[0]`.
func isIndex(text string) bool {
	digits, isClosed := strings.CutSuffix(text, "]")
	return isClosed && len(digits) <= 4 && strings.Trim(digits, "0123456789") == ""
}

// compareKeys compares keys so that name[2] sorts before name[10].
func compareKeys(a, b string) int {
	nameA, _, _ := strings.Cut(a, "[")
	nameB, _, _ := strings.Cut(b, "[")
	return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// timestampName is the only message that a parameter can have as its value.
var timestampName = (*timestamppb.Timestamp)(nil).ProtoReflect().Descriptor().FullName()

// setField sets a field. It returns what is wrong with the values, or an empty string.
func setField(m protoreflect.Message, field protoreflect.FieldDescriptor, texts []string) string {
	if !field.IsList() {
		if len(texts) > 1 {
			return givenTwice
		}
		value, problem := parseValue(field, texts[0])
		if problem == "" {
			m.Set(field, value)
		}
		return problem
	}
	list := m.Mutable(field).List()
	for _, text := range texts {
		value, problem := parseValue(field, text)
		if problem != "" {
			return problem
		}
		list.Append(value)
	}
	return ""
}

// parseValue converts the text of a parameter to a value of a field. It returns what is wrong
// with the text, or an empty string.
func parseValue(field protoreflect.FieldDescriptor, text string) (value protoreflect.Value, problem string) {
	switch kind := field.Kind(); kind {
	case protoreflect.StringKind:
		if strings.ToValidUTF8(text, "") != text {
			return value, "must be valid UTF-8"
		}
		return protoreflect.ValueOfString(text), ""
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return jsonapi.ParseInteger(text, kind)
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return value, "must be true or false"
		}
		return protoreflect.ValueOfBool(text == "true"), ""
	case protoreflect.MessageKind:
		if field.Message().FullName() == timestampName {
			at, problem := jsonapi.ParseTimestamp(text)
			return protoreflect.ValueOfMessage(at.ProtoReflect()), problem
		}
	}
	return value, "cannot be given in a query"
}
