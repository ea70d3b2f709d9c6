package validate

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// Bind makes f validate a field within bounds, as if the contract declared them.
func (f *Fields) Bind(field string, bounds *optionsv1.Bounds) *Fields {
	f.message = protoreflect.FullName(fmt.Sprint("test.", bounds))
	declared()[fieldName{f.message, strings.TrimSuffix(field, "[]")}] = Resolve(bounds)
	return f
}
