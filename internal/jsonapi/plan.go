package jsonapi

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// plan holds everything that the encoder and the decoder need to know about a message
// type, so that they do not look it up for every message.
type plan struct {
	desc   protoreflect.MessageDescriptor
	form   form
	fields []field           // in the order of declaration
	byName map[string]*field // by JSON name, with the inlined fields
	names  int               // number of entries in byName
	oneofs int               // number of oneofs, synthetic ones included
}

// form is the JSON form of a message type.
type form uint8

const (
	formObject    form = iota
	formTimestamp      // google.protobuf.Timestamp: a string
	formStruct         // google.protobuf.Struct: an object of any members
	formList           // google.protobuf.ListValue: an array of any values
	formValue          // google.protobuf.Value: any value
)

// The indexes in plan.fields of the fields of types that are not written as objects of
// their fields.
const (
	timestampSeconds = 0
	timestampNanos   = 1

	structFields = 0
	listValues   = 0

	valueNull   = 0
	valueNumber = 1
	valueString = 2
	valueBool   = 3
	valueStruct = 4
	valueList   = 5
)

// shape is the number of values that a field holds.
type shape uint8

const (
	shapeSingle shape = iota
	shapeList
	shapeMap
)

// field is the plan of one field.
type field struct {
	desc     protoreflect.FieldDescriptor
	index    int    // in plan.fields; those of inlined fields follow
	inlined  bool   // the fields of the message are written as fields of the enclosing one
	outer    *field // the inlined field that the field belongs to; else nil
	name     string // the JSON name
	key      []byte // `,"name":`
	shape    shape
	presence bool   // the zero value and an unset field differ
	omitted  bool   // the zero value is not written
	unset    string // JSON for an unset field with presence
	oneof    protoreflect.OneofDescriptor
	mapKey   protoreflect.Kind // of a map's keys
	value    valueType         // of the value, the elements or the map's values
}

// valueType is the type of one value.
type valueType struct {
	kind    protoreflect.Kind
	enum    protoreflect.EnumDescriptor // of enums
	message *plan                       // of messages and groups, else nil
	quoted  bool                        // an integer that is a string in JSON
}

// plans holds the finished plans by descriptor. The key is the descriptor and
// not its name, because two descriptors may share a name.
var plans sync.Map

// planOf returns the plan of a message type.
func planOf(desc protoreflect.MessageDescriptor) *plan {
	if p, ok := plans.Load(desc); ok {
		return p.(*plan)
	}
	built := make(map[protoreflect.MessageDescriptor]*plan)
	p := build(desc, built)
	// Plans are published together, when all are complete, because the plans of a
	// recursive type refer to each other.
	for desc, p := range built {
		plans.LoadOrStore(desc, p)
	}
	return p
}

// of returns the plan of m, which is nearly always p itself. It differs if m is a
// generated message in a field of a dynamic message.
func (p *plan) of(m protoreflect.Message) *plan {
	if p.desc == m.Descriptor() {
		return p
	}
	return planOf(m.Descriptor())
}

// build returns the plan of a message type. It adds the plan, and the plans of all types
// to which the type refers, to built.
func build(desc protoreflect.MessageDescriptor, built map[protoreflect.MessageDescriptor]*plan) *plan {
	if p, ok := built[desc]; ok {
		return p
	}
	if p, ok := plans.Load(desc); ok {
		return p.(*plan)
	}
	fields := desc.Fields()
	p := &plan{
		desc:   desc,
		form:   formOf(desc),
		fields: make([]field, fields.Len()),
		byName: make(map[string]*field, fields.Len()),
		oneofs: desc.Oneofs().Len(),
	}
	built[desc] = p
	for i := range p.fields {
		f := &p.fields[i]
		*f = buildField(fields.Get(i), built)
		f.index = i
		if !f.inlined {
			p.byName[f.name] = f
		}
	}
	p.names = len(p.fields)
	p.addInlined()
	return p
}

// addInlined adds the fields of inlined messages to byName.
func (p *plan) addInlined() {
	for i := range p.fields {
		outer := &p.fields[i]
		if !outer.inlined {
			continue
		}
		for _, inner := range outer.value.message.fields {
			inner.outer, inner.index = outer, p.names
			p.byName[inner.name] = &inner
			p.names++
		}
	}
}

// hasOption reports whether a field declares an option that is true or false.
func hasOption(desc protoreflect.FieldDescriptor, option protoreflect.ExtensionType) bool {
	has, _ := proto.GetExtension(desc.Options(), option).(bool)
	return has
}

// isQuoted reports whether a field declares, with jstype = JS_STRING, that its integer is
// a string in JSON.
func isQuoted(desc protoreflect.FieldDescriptor) bool {
	options, ok := desc.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetJstype() == descriptorpb.FieldOptions_JS_STRING
}

func formOf(desc protoreflect.MessageDescriptor) form {
	switch desc.FullName() {
	case "google.protobuf.Timestamp":
		return formTimestamp
	case "google.protobuf.Struct":
		return formStruct
	case "google.protobuf.ListValue":
		return formList
	case "google.protobuf.Value":
		return formValue
	default:
		return formObject
	}
}

func buildField(desc protoreflect.FieldDescriptor, built map[protoreflect.MessageDescriptor]*plan) field {
	f := field{
		desc:     desc,
		name:     desc.JSONName(),
		presence: desc.HasPresence(),
		unset:    "null",
		omitted:  hasOption(desc, optionsv1.E_OmitEmpty),
		inlined:  hasOption(desc, optionsv1.E_Inlined),
	}
	f.key = append(AppendString([]byte{','}, f.name), ':')
	if oneof := desc.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		f.oneof = oneof
	}
	value := desc
	switch {
	case desc.IsMap():
		f.shape = shapeMap
		f.mapKey = desc.MapKey().Kind()
		value = desc.MapValue()
	case desc.IsList():
		f.shape = shapeList
	}
	f.value.kind = value.Kind()
	f.value.quoted = isQuoted(value)
	switch f.value.kind {
	case protoreflect.EnumKind:
		f.value.enum = value.Enum()
	case protoreflect.MessageKind, protoreflect.GroupKind:
		f.value.message = build(value.Message(), built)
		if f.value.message.form == formStruct {
			f.unset = "{}"
		}
	}
	return f
}
