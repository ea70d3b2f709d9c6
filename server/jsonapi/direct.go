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

// Messages of generated types are read from their Go structs, which costs half of
// what protoreflect does. Whatever is not a plain field there, a oneof or a map,
// makes its whole message go the other way. The text is the same on both.

// direct is where the fields of a message type are in the struct that was generated
// for it: the index of each, in the order of plan.fields.
type direct struct {
	kind   reflect.Type // a pointer to the struct
	fields []int
}

// directOf is the direct way into messages of a type; nil if there is none.
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
	if state.Tag.Get("protogen") != "open.v1" { // of other layouts the fields are nobody else's
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

// fieldsByNumber are the indexes of a generated struct's fields by their numbers in
// the .proto, which stand second in the tag: "bytes,1,opt,name=id".
func fieldsByNumber(generated reflect.Type) map[string]int {
	found := map[string]int{}
	for i := range generated.NumField() {
		if parts := strings.Split(generated.Field(i).Tag.Get("protobuf"), ","); len(parts) > 1 {
			found[parts[1]] = i
		}
	}
	return found
}

// structOf is the struct of a message, if its fields can be read from there.
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

// appendStruct appends a message, of which v is the struct.
func appendStruct(b []byte, v reflect.Value, p *plan) []byte {
	b = append(b, '{')
	for i := range p.fields {
		f := &p.fields[i]
		key := f.key
		if i == 0 {
			key = key[1:] // without the comma
		}
		b = append(b, key...)
		value := v.Field(p.direct.fields[i])
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
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32:
		return appendFloat(b, v.Float(), 32)
	case reflect.Float64:
		return appendFloat(b, v.Float(), 64)
	case reflect.Slice:
		return appendValue(b, protoreflect.ValueOfBytes(v.Bytes()), t)
	default:
		if t.message == nil { // a field that may be missing
			return appendGo(b, v.Elem(), t)
		}
		return appendPointer(b, v, t)
	}
}

// appendPointer appends a message to which v points.
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
