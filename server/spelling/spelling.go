// Package spelling finds the field that a caller probably meant. An unknown name is
// usually ignored, because the caller may be newer than the server. A misspelt name must
// not be ignored, because the request would silently mean something else.
package spelling

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// known holds the fields of each message type by their folded names.
var known sync.Map // of protoreflect.FullName to map[string]protoreflect.FieldDescriptor

// Suggest returns the field of a message whose name differs from name only in case,
// underscores, hyphens, a plural s, or brackets. It returns nil if there is none.
func Suggest(m protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	fields, ok := known.Load(m.FullName())
	if !ok {
		fields, _ = known.LoadOrStore(m.FullName(), foldedFields(m))
	}
	return fields.(map[string]protoreflect.FieldDescriptor)[Fold(name)]
}

func foldedFields(m protoreflect.MessageDescriptor) map[string]protoreflect.FieldDescriptor {
	fields := map[string]protoreflect.FieldDescriptor{}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		fields[Fold(f.JSONName())] = f
	}
	return fields
}

// maxName is longer than the name of any field, so a longer name is not a misspelt one.
const maxName = 64

// Fold returns the form that the spellings of a name have in common.
func Fold(name string) string {
	if len(name) > maxName {
		return name
	}
	if bracket := strings.IndexByte(name, '['); bracket > 0 {
		name = name[:bracket]
	}
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	return strings.TrimSuffix(name, "s")
}
