package jsonapi_test

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	// The files that the test types import.
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
)

// Types with kinds of fields that the project's messages do not use yet. They follow the
// same rules: edition 2023, implicit presence by default.
var (
	kindsFile  = newKindsFile()
	scalarType = typeNamed("Scalars")
	optType    = typeNamed("Optionals")
	listType   = typeNamed("Lists")
	mapType    = typeNamed("Maps")
	choiceType = typeNamed("Choice")
	freeType   = typeNamed("Free")
	nodeType   = typeNamed("Node")
	emptyType  = typeNamed("Empty")
)

var kindTypes = []protoreflect.MessageType{
	scalarType, optType, listType, mapType, choiceType, freeType, nodeType, emptyType,
}

// empty returns an empty message of a test type.
func empty(t protoreflect.MessageType) proto.Message { return t.New().Interface() }

func typeNamed(name protoreflect.Name) protoreflect.MessageType {
	return dynamicpb.NewMessageType(kindsFile.Messages().ByName(name))
}

const (
	typDouble   = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	typFloat    = descriptorpb.FieldDescriptorProto_TYPE_FLOAT
	typInt64    = descriptorpb.FieldDescriptorProto_TYPE_INT64
	typUint64   = descriptorpb.FieldDescriptorProto_TYPE_UINT64
	typInt32    = descriptorpb.FieldDescriptorProto_TYPE_INT32
	typFixed64  = descriptorpb.FieldDescriptorProto_TYPE_FIXED64
	typFixed32  = descriptorpb.FieldDescriptorProto_TYPE_FIXED32
	typBool     = descriptorpb.FieldDescriptorProto_TYPE_BOOL
	typString   = descriptorpb.FieldDescriptorProto_TYPE_STRING
	typMessage  = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	typBytes    = descriptorpb.FieldDescriptorProto_TYPE_BYTES
	typUint32   = descriptorpb.FieldDescriptorProto_TYPE_UINT32
	typEnum     = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	typSfixed32 = descriptorpb.FieldDescriptorProto_TYPE_SFIXED32
	typSfixed64 = descriptorpb.FieldDescriptorProto_TYPE_SFIXED64
	typSint32   = descriptorpb.FieldDescriptorProto_TYPE_SINT32
	typSint64   = descriptorpb.FieldDescriptorProto_TYPE_SINT64
)

type fieldDef = *descriptorpb.FieldDescriptorProto

func newKindsFile() protoreflect.FileDescriptor {
	file := &descriptorpb.FileDescriptorProto{
		Name:       proto.String("jsonapi/kinds.proto"),
		Package:    proto.String("kinds"),
		Dependency: []string{"google/protobuf/struct.proto", "google/protobuf/timestamp.proto"},
		Syntax:     proto.String("editions"),
		Edition:    descriptorpb.Edition_EDITION_2023.Enum(),
		Options: &descriptorpb.FileOptions{Features: &descriptorpb.FeatureSet{
			FieldPresence: descriptorpb.FeatureSet_IMPLICIT.Enum(),
		}},
		EnumType: []*descriptorpb.EnumDescriptorProto{{
			Name: proto.String("Color"),
			Value: []*descriptorpb.EnumValueDescriptorProto{
				{Name: proto.String("COLOR_UNSPECIFIED"), Number: proto.Int32(0)},
				{Name: proto.String("COLOR_RED"), Number: proto.Int32(1)},
				{Name: proto.String("COLOR_BLUE"), Number: proto.Int32(2)},
			},
		}},
		MessageType: []*descriptorpb.DescriptorProto{
			message("Scalars",
				// Not in the order of their numbers: the order of declaration decides.
				def(20, "a_string", typString), def(1, "a_double", typDouble), def(2, "a_float", typFloat),
				def(3, "a_bool", typBool), def(4, "an_int32", typInt32), def(5, "an_int64", typInt64),
				def(6, "a_uint32", typUint32), def(7, "a_uint64", typUint64), def(8, "a_sint32", typSint32),
				def(9, "a_sint64", typSint64), def(10, "a_fixed32", typFixed32), def(11, "a_fixed64", typFixed64),
				def(12, "an_sfixed32", typSfixed32), def(13, "an_sfixed64", typSfixed64),
				def(14, "some_bytes", typBytes), def(15, "a_color", typEnum, ".kinds.Color"),
			),
			message("Optionals",
				explicit(def(1, "text", typString)), explicit(def(2, "count", typUint64)),
				explicit(def(3, "flag", typBool)), explicit(def(4, "color", typEnum, ".kinds.Color")),
				explicit(def(5, "bytes", typBytes)), explicit(def(6, "ratio", typDouble)),
				def(7, "at", typMessage, ".google.protobuf.Timestamp"), def(8, "node", typMessage, ".kinds.Node"),
			),
			message("Lists",
				repeated(def(1, "strings", typString)), repeated(def(2, "ints", typInt64)),
				repeated(def(3, "colors", typEnum, ".kinds.Color")), repeated(def(4, "nodes", typMessage, ".kinds.Node")),
				repeated(def(5, "times", typMessage, ".google.protobuf.Timestamp")), repeated(def(6, "bytes", typBytes)),
				repeated(def(7, "bools", typBool)), repeated(def(8, "doubles", typDouble)),
				repeated(def(9, "values", typMessage, ".google.protobuf.Value")),
				repeated(def(10, "structs", typMessage, ".google.protobuf.Struct")),
				repeated(def(11, "arrays", typMessage, ".google.protobuf.ListValue")),
			),
			mapMessage(),
			choiceMessage(),
			message("Free",
				def(1, "struct", typMessage, ".google.protobuf.Struct"),
				def(2, "value", typMessage, ".google.protobuf.Value"),
				def(3, "list", typMessage, ".google.protobuf.ListValue"),
			),
			message("Node",
				def(1, "name", typString), def(2, "child", typMessage, ".kinds.Node"),
				repeated(def(3, "more_nodes", typMessage, ".kinds.Node")),
				def(4, "extra", typMessage, ".google.protobuf.Struct"),
			),
			message("Empty"),
		},
	}
	desc, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return desc
}

func message(name string, fields ...fieldDef) *descriptorpb.DescriptorProto {
	return &descriptorpb.DescriptorProto{Name: proto.String(name), Field: fields}
}

func def(number int32, name string, typ descriptorpb.FieldDescriptorProto_Type, typeName ...string) fieldDef {
	f := &descriptorpb.FieldDescriptorProto{
		Name:   proto.String(name),
		Number: proto.Int32(number),
		Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		Type:   typ.Enum(),
	}
	if len(typeName) > 0 {
		f.TypeName = proto.String(typeName[0])
	}
	return f
}

func repeated(f fieldDef) fieldDef {
	f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	return f
}

func explicit(f fieldDef) fieldDef {
	f.Options = &descriptorpb.FieldOptions{Features: &descriptorpb.FeatureSet{
		FieldPresence: descriptorpb.FeatureSet_EXPLICIT.Enum(),
	}}
	return f
}

func mapMessage() *descriptorpb.DescriptorProto {
	m := message("Maps")
	add := func(name, entry string, key descriptorpb.FieldDescriptorProto_Type, value fieldDef) {
		m.NestedType = append(m.NestedType, &descriptorpb.DescriptorProto{
			Name:    proto.String(entry),
			Field:   []fieldDef{def(1, "key", key), value},
			Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
		})
		number := int32(len(m.NestedType))
		m.Field = append(m.Field, repeated(def(number, name, typMessage, ".kinds.Maps."+entry)))
	}
	add("labels", "LabelsEntry", typString, def(2, "value", typString))
	add("by_int", "ByIntEntry", typInt32, def(2, "value", typString))
	add("by_uint", "ByUintEntry", typUint64, def(2, "value", typBool))
	add("by_bool", "ByBoolEntry", typBool, def(2, "value", typInt64))
	add("nodes", "NodesEntry", typString, def(2, "value", typMessage, ".kinds.Node"))
	return m
}

func choiceMessage() *descriptorpb.DescriptorProto {
	m := message("Choice",
		def(1, "before", typString),
		def(2, "a_text", typString), def(3, "a_number", typInt32), def(4, "a_node", typMessage, ".kinds.Node"),
		def(5, "other_flag", typBool), def(6, "other_time", typMessage, ".google.protobuf.Timestamp"),
		def(7, "after", typString),
	)
	for _, f := range m.Field[1:4] {
		f.OneofIndex = proto.Int32(0)
	}
	for _, f := range m.Field[4:6] {
		f.OneofIndex = proto.Int32(1)
	}
	m.OneofDecl = []*descriptorpb.OneofDescriptorProto{
		{Name: proto.String("kind")}, {Name: proto.String("other")},
	}
	return m
}

// generated returns the Go type of a message of the project.
func generated(desc protoreflect.MessageDescriptor) protoreflect.MessageType {
	typ, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName())
	if err != nil {
		panic(err)
	}
	return typ
}
