package jsonapi

import (
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Messages of generated types are read from their Go structs, which costs half as much
// as protoreflect. A message type with a field that is not a plain struct field, such as
// a oneof or a map, is read through protoreflect. Both ways produce the same text.

// direct holds the positions of a message type's fields in the generated struct: the
// index of each field, in the order of plan.fields.
type direct struct {
	kind   reflect.Type // a pointer to the struct
	fields []int
}

// directOf returns the positions of the fields of a type in its generated struct, or
// nil if messages of the type must be read through protoreflect.
func directOf(p *plan) *direct {
	generated, err := protoregistry.GlobalTypes.FindMessageByName(p.desc.FullName())
	if err != nil || generated.Descriptor() != p.desc || p.form != formObject {
		return nil
	}
	kind := reflect.TypeOf(generated.Zero().Interface())
	if kind.Kind() != reflect.Pointer || kind.Elem().Kind() != reflect.Struct {
		return nil
	}
	state, _ := kind.Elem().FieldByName("state")
	if state.Tag.Get("protogen") != "open.v1" { // other layouts have private fields
		return nil
	}
	byNumber := fieldsByNumber(kind.Elem())
	d := &direct{kind: kind, fields: make([]int, len(p.fields))}
	for i := range p.fields {
		f := &p.fields[i]
		at, ok := byNumber[strconv.Itoa(int(f.desc.Number()))]
		if !ok || f.shape == shapeMap || f.value.kind == protoreflect.GroupKind {
			return nil
		}
		d.fields[i] = at
	}
	return d
}

// fieldsByNumber returns the indexes of a generated struct's fields by their numbers in
// the .proto. The number is the second part of the tag: "bytes,1,opt,name=id".
func fieldsByNumber(generated reflect.Type) map[string]int {
	found := map[string]int{}
	for i := range generated.NumField() {
		if parts := strings.Split(generated.Field(i).Tag.Get("protobuf"), ","); len(parts) > 1 {
			found[parts[1]] = i
		}
	}
	return found
}

// structOf returns the struct of a message, and reports whether the fields of the
// message can be read from it.
func (p *plan) structOf(m protoreflect.Message) (v reflect.Value, ok bool) {
	if p.direct == nil {
		return v, false
	}
	pointer := reflect.ValueOf(m.Interface())
	if pointer.Type() != p.direct.kind || pointer.IsNil() {
		return v, false
	}
	return pointer.Elem(), true
}

// appendStruct appends the message whose struct is v.
func appendStruct(b []byte, v reflect.Value, p *plan) []byte {
	b = append(b, '{')
	for i := range p.fields {
		f := &p.fields[i]
		value := v.Field(p.direct.fields[i])
		if f.inlined {
			if from := len(b); !value.IsNil() {
				b = inline(appendGo(b, value, &f.value), from)
			}
			continue
		}
		key := f.key
		if i == 0 {
			key = key[1:] // without the comma
		}
		b = append(b, key...)
		switch {
		case f.shape == shapeList:
			b = appendSlice(b, value, &f.value)
		case f.presence && value.IsNil():
			b = append(b, f.unset...)
		default:
			b = appendGo(b, value, &f.value)
		}
	}
	return append(b, '}')
}

func appendSlice(b []byte, values reflect.Value, t *valueType) []byte {
	b = append(b, '[')
	for i := range values.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendGo(b, values.Index(i), t)
	}
	return append(b, ']')
}

// appendGo appends one value that a struct holds.
func appendGo(b []byte, v reflect.Value, t *valueType) []byte {
	switch v.Kind() {
	case reflect.String:
		return AppendString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int32:
		if t.kind == protoreflect.EnumKind {
			return appendEnum(b, protoreflect.EnumNumber(v.Int()), t.enum)
		}
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Int64:
		return appendInteger(b, v.Int(), t)
	case reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32:
		return appendFloat(b, v.Float(), 32)
	case reflect.Float64:
		return appendFloat(b, v.Float(), 64)
	case reflect.Slice:
		return appendValue(b, protoreflect.ValueOfBytes(v.Bytes()), t)
	default:
		if t.message == nil { // a pointer to a scalar: a field with presence
			return appendGo(b, v.Elem(), t)
		}
		return appendPointer(b, v, t)
	}
}

// appendPointer appends the message to which v points.
func appendPointer(b []byte, v reflect.Value, t *valueType) []byte {
	if d := t.message.direct; d != nil && v.Type() == d.kind && !v.IsNil() {
		return appendStruct(b, v.Elem(), t.message)
	}
	switch m := v.Interface().(type) {
	case *timestamppb.Timestamp:
		return appendTimestamp(b, m.GetSeconds(), int64(m.GetNanos()))
	case proto.Message:
		return appendMessage(b, m.ProtoReflect(), t.message)
	}
	return append(b, "null"...)
}
