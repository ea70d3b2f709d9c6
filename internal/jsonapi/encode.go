// Package jsonapi implements the JSON form of Moderato's messages, which is used on the
// wire, in import files and in the event log.
//
// The form is not that of protojson: every field is always written, 64-bit integers are
// numbers, timestamps have exactly three fraction digits, the same message always
// produces the same text, and the error for a refused text lists everything that is
// wrong with it.
//
// A message is an object of its fields, in the order of their declaration, under their
// lowerCamelCase names. Fields without presence are written with their zero value, unless they declare omit_empty.
// Fields with presence that are not set are null, and a google.protobuf.Struct that is
// not set is {}. Only the member of a oneof that is set is written. If a message is
// declared as inlined and is set, its fields are written as fields of the enclosing
// message. Numbers of every width are JSON numbers, enum values are their names, bytes
// are base64, and maps are objects with sorted keys. google.protobuf.Timestamp is a string in ISO 8601, and
// google.protobuf.Struct, Value and ListValue are plain JSON. The other well-known types
// of Protocol Buffers are ordinary messages.
package jsonapi

import (
	"cmp"
	"encoding/base64"
	"reflect"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Append appends the JSON form of m to b. A nil interface is null. A nil pointer is an
// empty message, as everywhere in Protocol Buffers.
func Append(b []byte, m proto.Message) []byte {
	if m == nil {
		return append(b, "null"...)
	}
	r := m.ProtoReflect()
	return appendMessage(b, r, planOf(r.Descriptor()))
}

// Marshal returns the JSON form of m, as Append writes it.
func Marshal(m proto.Message) []byte { return Append(nil, m) }

// AppendList appends the JSON array of the messages in list, which is a slice of a
// message type, such as []*UserSummary: the value that grpc-gateway passes to a
// marshaler for a response_body. A nil slice and a nil interface are []. If list is
// anything else, AppendList appends nothing and returns false.
func AppendList(b []byte, list any) ([]byte, bool) {
	if list == nil {
		return append(b, "[]"...), true
	}
	messages := reflect.ValueOf(list)
	if messages.Kind() != reflect.Slice || !messages.Type().Elem().Implements(messageType) {
		return b, false
	}
	b = append(b, '[')
	for i := range messages.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		m, _ := messages.Index(i).Interface().(proto.Message)
		b = Append(b, m)
	}
	return append(b, ']'), true
}

var messageType = reflect.TypeFor[proto.Message]()

// HasContent reports whether the type of m has any field. A type without fields means
// "no data" in the envelope of the REST facade.
func HasContent(m proto.Message) bool {
	return m != nil && m.ProtoReflect().Descriptor().Fields().Len() > 0
}

func appendMessage(b []byte, m protoreflect.Message, p *plan) []byte {
	switch p = p.of(m); p.form {
	case formTimestamp:
		seconds := m.Get(p.fields[timestampSeconds].desc).Int()
		nanos := m.Get(p.fields[timestampNanos].desc).Int()
		return appendTimestamp(b, seconds, nanos)
	case formStruct:
		return appendField(b, m, &p.fields[structFields])
	case formList:
		return appendField(b, m, &p.fields[listValues])
	case formValue:
		return appendAny(b, m, p)
	}
	return appendFields(b, m, p)
}

// appendFields appends a message as an object of its fields.
func appendFields(b []byte, m protoreflect.Message, p *plan) []byte {
	b = append(b, '{')
	start := len(b)
	for i := range p.fields {
		f := &p.fields[i]
		set := !f.presence || m.Has(f.desc)
		if f.omitted && !m.Has(f.desc) || !set && (f.oneof != nil || f.inlined) {
			continue
		}
		if f.inlined {
			from := len(b)
			b = inline(appendField(b, m, f), from)
			continue
		}
		key := f.key
		if len(b) == start {
			key = key[1:] // without the comma
		}
		b = append(b, key...)
		if set {
			b = appendField(b, m, f)
		} else {
			b = append(b, f.unset...)
		}
	}
	return append(b, '}')
}

// inline turns the object that begins at from into further fields of the enclosing object.
func inline(b []byte, from int) []byte {
	b[from] = ','
	return b[:len(b)-1]
}

// appendAny appends a google.protobuf.Value.
func appendAny(b []byte, m protoreflect.Message, p *plan) []byte {
	for i := range p.fields {
		if i != valueNull && m.Has(p.fields[i].desc) {
			return appendField(b, m, &p.fields[i])
		}
	}
	return append(b, "null"...)
}

// appendField appends the value of a field of m.
func appendField(b []byte, m protoreflect.Message, f *field) []byte {
	v := m.Get(f.desc)
	switch f.shape {
	case shapeList:
		values := v.List()
		b = append(b, '[')
		for i := range values.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, values.Get(i), &f.value)
		}
		return append(b, ']')
	case shapeMap:
		return appendMap(b, v.Map(), f)
	default:
		return appendValue(b, v, &f.value)
	}
}

func appendMap(b []byte, m protoreflect.Map, f *field) []byte {
	keys := make([]protoreflect.MapKey, 0, m.Len())
	for key := range m.Range {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y protoreflect.MapKey) int { return compareKeys(x, y, f.mapKey) })
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, key.String()) // numbers in decimal, true and false
		b = append(b, ':')
		b = appendValue(b, m.Get(key), &f.value)
	}
	return append(b, '}')
}

func compareKeys(x, y protoreflect.MapKey, kind protoreflect.Kind) int {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind,
		protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return cmp.Compare(x.Int(), y.Int())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind,
		protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return cmp.Compare(x.Uint(), y.Uint())
	default: // strings; false sorts before true
		return cmp.Compare(x.String(), y.String())
	}
}

// appendValue appends one value.
func appendValue(b []byte, v protoreflect.Value, t *valueType) []byte {
	switch t.kind {
	case protoreflect.StringKind:
		return AppendString(b, v.String())
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind,
		protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return appendInteger(b, v.Int(), t)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind,
		protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(b, v.Uint(), 10)
	case protoreflect.FloatKind:
		return appendFloat(b, v.Float(), 32)
	case protoreflect.DoubleKind:
		return appendFloat(b, v.Float(), 64)
	case protoreflect.EnumKind:
		return appendEnum(b, v.Enum(), t.enum)
	case protoreflect.BytesKind:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.Bytes())
		return append(b, '"')
	default: // messages and groups
		return appendMessage(b, v.Message(), t.message)
	}
}

// appendInteger appends an integer, within quotation marks if its field declares so.
func appendInteger(b []byte, n int64, t *valueType) []byte {
	if !t.quoted {
		return strconv.AppendInt(b, n, 10)
	}
	return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
}

// appendEnum appends the name of an enum value, or its number if it has no name, for
// example because a newer version of a program sent it.
func appendEnum(b []byte, number protoreflect.EnumNumber, desc protoreflect.EnumDescriptor) []byte {
	if value := desc.Values().ByNumber(number); value != nil {
		return AppendString(b, string(value.Name()))
	}
	return strconv.AppendInt(b, int64(number), 10)
}
