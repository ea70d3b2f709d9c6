package gateway

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/internal/spelling"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// limiting holds the folded names of fields with which clients of other APIs limit or
// explain a change. An operation that does not have such a field refuses it, because a
// ban whose duration was ignored would be permanent.
var limiting = map[string]bool{}

func init() {
	for _, name := range []string{"duration", "durationSeconds", "expiresAt", "permanent", "reason"} {
		limiting[spelling.Fold(name)] = true
	}
}

// limitingWords are parts of the folded names of such fields, and limitingNames are whole
// ones. An operation that has a reason or a duration refuses every field whose name contains
// such a word or is such a name.
var (
	limitingWords = []string{"duration", "expir", "hour", "length", "minute", "permanent", "period", "reason", "second", "timeout", "ttl", "until"}
	limitingNames = []string{"day", "end", "endat", "endsat", "endtime", "for", "week"}
)

// refuseField returns why an unknown field of a body is refused, or an empty string if
// it is ignored.
func refuseField(m protoreflect.MessageDescriptor, name, path string) string {
	if meant := spelling.Suggest(m, name); meant != nil {
		return unknownName("field", path, meant.JSONName())
	}
	rule, _ := proto.GetExtension(m.Options(), optionsv1.E_UnknownFields).(optionsv1.UnknownFields)
	isLimiting := limiting[spelling.Fold(name)]
	among := anyField
	if rule == optionsv1.UnknownFields_UNKNOWN_FIELDS_REFUSED_IF_SIMILAR {
		among = protoreflect.FieldDescriptor.HasPresence // the optional fields
	}
	meant := spelling.Nearest(m, name, among)
	switch {
	case isLimiting && meant != nil:
		return "is not supported by this operation; did you mean " + meant.JSONName() + "?"
	case isLimiting:
		return "is not supported by this operation; " + knownFields(m)
	case meant != nil:
		return unknownName("field", path, meant.JSONName())
	case rule == optionsv1.UnknownFields_UNKNOWN_FIELDS_UNSPECIFIED, isLimitingName(name):
		return "is not a known field; " + knownFields(m)
	}
	return ""
}

func anyField(protoreflect.FieldDescriptor) bool { return true }

func isLimitingName(name string) bool {
	folded := spelling.Fold(name)
	return slices.Contains(limitingNames, folded) ||
		slices.ContainsFunc(limitingWords, func(word string) bool { return strings.Contains(folded, word) })
}

// knownFields lists the fields of a message.
func knownFields(m protoreflect.MessageDescriptor) string {
	names := make([]string, m.Fields().Len())
	for i := range names {
		names[i] = m.Fields().Get(i).JSONName()
	}
	return "the known fields are " + strings.Join(names, ", ")
}

// refuseParameter returns why an unknown query parameter is refused, or an empty string
// if it is ignored.
func (p queryParser) refuseParameter(m protoreflect.MessageDescriptor, name string) string {
	if meant := spelling.Suggest(m, name); meant != nil {
		if meant.IsList() {
			return unknownName("parameter", name, meant.JSONName()+"[]")
		}
		return unknownName("parameter", name, meant.JSONName())
	}
	for _, meant := range p.beside {
		if spelling.Fold(meant) == spelling.Fold(name) {
			return unknownName("parameter", name, meant)
		}
	}
	return ""
}

// refuseOptions refuses the query of an operation with a body if it has an option, such as
// durationSeconds or dryRun. Other parameters are ignored.
func refuseOptions(m protoreflect.MessageDescriptor, query url.Values) *apierr.Error {
	var violations []apierr.Violation
	for _, name := range slices.Sorted(maps.Keys(query)) {
		meant := spelling.Suggest(m, name)
		isOption := meant != nil && (meant.HasPresence() || meant.Kind() == protoreflect.BoolKind)
		if isOption || limiting[spelling.Fold(name)] {
			violations = append(violations, apierr.Violation{Field: name, Description: "is not read from the query; this operation takes its arguments in the body"})
		}
	}
	if len(violations) == 0 {
		return nil
	}
	return apierr.Invalid(violations...)
}

func unknownName(what, name, meant string) string {
	return fmt.Sprintf("%s%s %s; did you mean %s?", apierr.UnknownPrefix, what, name, meant)
}
