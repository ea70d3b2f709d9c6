package main

import (
	"iter"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// usage is where a schema is used. In a request, fields may be missing. A response has all
// of them.
type usage string

const (
	inRequest  usage = "Input"
	inResponse usage = ""
)

// message returns a reference to the schema of a message, which it adds to the document.
func (d *document) message(m protoreflect.MessageDescriptor, use usage) object {
	switch m.FullName() {
	case "google.protobuf.Timestamp":
		return object{{"type", "string"}, {"format", "date-time"}}
	case "google.protobuf.Struct":
		return object{{"type", "object"}, {"additionalProperties", true}}
	}
	name := string(m.Name())
	if !strings.HasSuffix(name, "Request") {
		name += string(use)
	}
	if _, isKnown := d.schemas[name]; !isKnown {
		d.schemas[name] = nil // a message may contain itself
		d.schemas[name] = d.fieldsOf(m, use)
	}
	return ref("schemas", name)
}

// fieldsOf returns the schema of a message as an object of its fields.
func (d *document) fieldsOf(m protoreflect.MessageDescriptor, use usage) object {
	properties, required := object{}, []string{}
	for f, isOptional := range jsonFields(m) {
		properties = append(properties, member{f.JSONName(), d.field(f, use)})
		if !isOptional && (use == inResponse || d.isRequired(f)) {
			required = append(required, f.JSONName())
		}
	}
	schema := object{{"type", "object"}, {"description", d.comments.of(m)}, {"properties", properties}}
	if len(required) > 0 {
		schema = schema.with(member{"required", required})
	}
	if use == inRequest && refusesUnknown(m) {
		schema = schema.with(member{"additionalProperties", false})
	}
	return schema
}

// refusesUnknown reports whether a body with a field that the message does not have is
// always refused.
func refusesUnknown(m protoreflect.MessageDescriptor) bool {
	rule, _ := proto.GetExtension(m.Options(), optionsv1.E_UnknownFields).(optionsv1.UnknownFields)
	return rule == optionsv1.UnknownFields_UNKNOWN_FIELDS_UNSPECIFIED
}

// jsonFields returns the fields of the JSON form of a message, and whether each may be
// missing: because it is omitted if empty, is one of a choice, or belongs to a message that is written inline and
// not set.
func jsonFields(m protoreflect.MessageDescriptor) iter.Seq2[protoreflect.FieldDescriptor, bool] {
	return func(yield func(protoreflect.FieldDescriptor, bool) bool) {
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if is, _ := proto.GetExtension(f.Options(), optionsv1.E_Inlined).(bool); !is {
				isOmitted, _ := proto.GetExtension(f.Options(), optionsv1.E_OmitEmpty).(bool)
				choice := f.ContainingOneof()
				if !yield(f, isOmitted || choice != nil && !choice.IsSynthetic()) {
					return
				}
				continue
			}
			for inner := range jsonFields(f.Message()) {
				if !yield(inner, true) {
					return
				}
			}
		}
	}
}

// isRequired reports whether a field of a request is required, as its comment says.
func (d *document) isRequired(f protoreflect.FieldDescriptor) bool {
	return strings.HasPrefix(d.comments.of(f), "Required.")
}

// field returns the schema of a field. In a request, null counts as not given.
func (d *document) field(f protoreflect.FieldDescriptor, use usage) object {
	comment := d.comments.of(f)
	schema := d.values(f, use, comment)
	if (use == inResponse && isNullable(f, comment)) || (use == inRequest && !d.isRequired(f)) {
		schema = nullable(schema)
	}
	return schema.with(member{"description", comment})
}

// values returns the schema of a field without its description.
func (d *document) values(f protoreflect.FieldDescriptor, use usage, comment string) object {
	schema := d.value(f, use, comment)
	if f.IsList() {
		schema = object{{"type", "array"}, {"items", schema}}
		if limit := boundsOf(f).GetMaxItems(); limit > 0 {
			schema = schema.with(member{"maxItems", limit})
		}
	}
	return schema
}

// isNullable reports whether a field of a response can be null. A message that is not set
// is null, but most messages are always set: the comment says which are not.
func isNullable(f protoreflect.FieldDescriptor, comment string) bool {
	return f.HasPresence() && (f.Message() == nil || strings.Contains(comment, "null"))
}

// nullable returns a schema that accepts null as well.
func nullable(schema object) object {
	if schema[0].name == "type" {
		schema = append(object{{"type", []any{schema[0].value, "null"}}}, schema[1:]...)
		for i, m := range schema {
			if values, isList := m.value.([]string); isList && m.name == "enum" {
				var all []any
				for _, v := range values {
					all = append(all, v)
				}
				all = append(all, nil)
				schema[i].value = all
			}
		}
		return schema
	}
	return object{{"anyOf", []object{schema, {{"type", "null"}}}}}
}

// value returns the schema of the value of a field, or of its elements.
func (d *document) value(f protoreflect.FieldDescriptor, use usage, comment string) object {
	switch f.Kind() {
	case protoreflect.MessageKind:
		if f.Message().FullName() == "google.protobuf.ListValue" { // a list whose presence counts
			return object{{"type", "array"}, {"items", object{{"type", "string"}, {"enum", boundsOf(f).GetValues()}}}, {"maxItems", boundsOf(f).GetMaxItems()}}
		}
		return d.message(f.Message(), use)
	case protoreflect.BoolKind:
		return object{{"type", "boolean"}}
	case protoreflect.StringKind:
		return append(object{{"type", "string"}}, d.text(f, comment)...)
	}
	if options, ok := f.Options().(*descriptorpb.FieldOptions); ok && options.GetJstype() == descriptorpb.FieldOptions_JS_STRING {
		return object{{"type", "string"}, {"pattern", "^-?[0-9]+$"}}
	}
	return append(object{{"type", "integer"}, {"format", f.Kind().String()}}, numberBounds(f)...)
}
