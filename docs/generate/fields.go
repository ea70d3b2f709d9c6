package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	_ "github.com/moderato-live/moderato/gen/moderato/platform/v1" // registers its messages
	_ "github.com/moderato-live/moderato/gen/moderato/v1"          // registers its messages
)

// contractFiles returns the files of the contract in a stable order, the public ones first.
func contractFiles() []protoreflect.FileDescriptor {
	var found []protoreflect.FileDescriptor
	for _, name := range []protoreflect.FullName{"moderato.v1", "moderato.platform.v1"} {
		first := len(found)
		protoregistry.GlobalFiles.RangeFilesByPackage(name, func(file protoreflect.FileDescriptor) bool {
			found = append(found, file)
			return true
		})
		slices.SortFunc(found[first:], func(a, b protoreflect.FileDescriptor) int { return strings.Compare(a.Path(), b.Path()) })
	}
	return found
}

// formatTexts describes the formats.
var formatTexts = map[optionsv1.Format]string{
	optionsv1.Format_FORMAT_USERNAME:      "name of a user",
	optionsv1.Format_FORMAT_CLIENT_ID:     "id of a client",
	optionsv1.Format_FORMAT_SLUG:          "name as used in URLs",
	optionsv1.Format_FORMAT_URL:           "http or https URL",
	optionsv1.Format_FORMAT_LANGUAGE:      "BCP 47 language tag, in its canonical form",
	optionsv1.Format_FORMAT_ACTIVITY_TYPE: "type of an activity",
	optionsv1.Format_FORMAT_OBJECT:        "JSON object, with numbers of at most 2^53 - 1",

	optionsv1.Format_FORMAT_SANCTION_REASON:  "reason of a ban or mute",
	optionsv1.Format_FORMAT_SANCTION_SECONDS: "duration of a ban or mute, in seconds",
}

func formats(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Formats\n\n| format | meaning | accepted values |\n|---|---|---|\n")
	values := optionsv1.Format(0).Descriptor().Values()
	for i := range values.Len() {
		if bounds, _ := proto.GetExtension(values.Get(i).Options(), optionsv1.E_FormatBounds).(*optionsv1.Bounds); bounds != nil {
			format := optionsv1.Format(values.Get(i).Number())
			fmt.Fprintf(out, "| %s | %s | %s |\n", formatName(format), formatTexts[format], describe(bounds))
		}
	}
}

func formatName(f optionsv1.Format) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(f.String(), "FORMAT_")), "_", " ")
}

func fields(out *bufio.Writer) {
	fmt.Fprint(out, "\n## Fields\n\nThe bounds of the fields of requests, and of the records that the backends put and import. An empty value of an optional field is always accepted.\n\n"+
		"| field | accepted values |\n|---|---|\n")
	for _, file := range contractFiles() {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			for j := range message.Fields().Len() {
				field := message.Fields().Get(j)
				if bounds, _ := proto.GetExtension(field.Options(), optionsv1.E_Bounds).(*optionsv1.Bounds); bounds != nil {
					fmt.Fprintf(out, "| %s.%s | %s |\n", message.Name(), field.JSONName(), describe(bounds))
				}
			}
		}
	}
}

// describe describes the values that bounds accept.
func describe(b *optionsv1.Bounds) string {
	var parts []string
	add := func(isDeclared bool, format string, args ...any) {
		if isDeclared {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	isNumber := b.GetMaxLength() == 0 && b.GetMaxItems() == 0 && b.GetFormat() == 0 && len(b.GetValues()) == 0 && b.GetMaxBytes() == 0
	add(b.GetFormat() != 0, "[%s](#formats)", formatName(b.GetFormat()))
	add(b.GetMaxLength() != 0, "%d to %d characters", b.GetMinLength(), b.GetMaxLength())
	add(b.GetCharacters() != "", "only `%s`", b.GetCharacters())
	add(len(b.GetValues()) > 0, "`%s`", strings.Join(b.GetValues(), "`, `"))
	add(isNumber && b.GetMax() != 0, "%d to %d", b.GetMin(), b.GetMax())
	add(isNumber && b.GetMax() == 0, "%d or more", b.GetMin())
	add(b.GetDefaultValue() != 0, "%d if unset", b.GetDefaultValue())
	add(b.GetMaxItems() != 0 && b.GetMinItems() == 0, "at most %d values", b.GetMaxItems())
	add(b.GetMinItems() != 0, "%d to %d values", b.GetMinItems(), b.GetMaxItems())
	add(b.GetMaxBytes() != 0, "at most %d bytes of JSON", b.GetMaxBytes())
	add(b.GetMaxDepth() != 0, "at most %d levels", b.GetMaxDepth())
	return strings.Join(parts, "; ")
}
