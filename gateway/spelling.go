package gateway

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/spelling"
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

// refuseField returns why an unknown field of a body is refused, or an empty string if
// it is ignored.
func refuseField(m protoreflect.MessageDescriptor, name string) string {
	if meant := spelling.Suggest(m, name); meant != nil {
		return unknownName("field", name, meant.JSONName())
	}
	if limiting[spelling.Fold(name)] {
		return "is not supported by this operation"
	}
	return ""
}

// refuseParameter returns why an unknown query parameter is refused, or an empty string
// if it is ignored.
func refuseParameter(m protoreflect.MessageDescriptor, name string) string {
	meant := spelling.Suggest(m, name)
	switch {
	case meant == nil:
		return ""
	case meant.IsList():
		return unknownName("parameter", name, meant.JSONName()+"[]")
	default:
		return unknownName("parameter", name, meant.JSONName())
	}
}

func unknownName(what, name, meant string) string {
	return fmt.Sprintf("%s%s %s; did you mean %s?", apierr.UnknownPrefix, what, name, meant)
}
