package main

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// boundsOf returns the bounds of a field together with those of its format; nil if it has
// none.
func boundsOf(f protoreflect.FieldDescriptor) *optionsv1.Bounds {
	bounds, _ := proto.GetExtension(f.Options(), optionsv1.E_Bounds).(*optionsv1.Bounds)
	if bounds == nil {
		return nil
	}
	return validate.Resolve(bounds)
}

// text returns the members of the schema of a text.
func (d *document) text(f protoreflect.FieldDescriptor, comment string) (members object) {
	if strings.Contains(comment, "a UUID in") || strings.Contains(comment, "UUIDs in") {
		return object{{"format", "uuid"}}
	}
	b := boundsOf(f)
	if len(b.GetValues()) > 0 {
		return object{{"enum", b.GetValues()}}
	}
	switch {
	case b == nil, b.GetFormat() == optionsv1.Format_FORMAT_LANGUAGE, // bounds of the canonical form
		strings.Contains(comment, "are ignored"): // bounds of what remains
		return nil
	case b.GetFormat() == optionsv1.Format_FORMAT_URL:
		members = object{{"format", "uri"}}
	}
	if b.GetMinLength() > 0 {
		members = append(members, member{"minLength", b.GetMinLength()})
	}
	if b.GetMaxLength() > 0 {
		members = append(members, member{"maxLength", b.GetMaxLength()})
	}
	if b.GetCharacters() != "" {
		members = append(members, member{"pattern", pattern(b.GetCharacters())})
	}
	return members
}

// pattern returns the regular expression of a text of characters, as Bounds declares them.
func pattern(characters string) string {
	class := ""
	for item := range strings.FieldsSeq(characters) {
		if item == "-" { // elsewhere it makes a range
			item = `\-`
		}
		class += item
	}
	return "^[" + class + "]*$"
}

// numberBounds returns the members of the schema of a number.
func numberBounds(f protoreflect.FieldDescriptor) (members object) {
	b := boundsOf(f)
	if b == nil || f.IsList() {
		return nil
	}
	members = object{{"minimum", b.GetMin()}}
	if b.GetMax() != 0 {
		members = append(members, member{"maximum", b.GetMax()})
	}
	return members
}
