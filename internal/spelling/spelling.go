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

// Nearest returns the field of a message whose name resembles name most: it differs in few
// letters, or one of the names contains the other. Only the fields for which among returns
// true are considered. It returns nil if none resembles it.
func Nearest(m protoreflect.MessageDescriptor, name string, among func(protoreflect.FieldDescriptor) bool) protoreflect.FieldDescriptor {
	if len(name) > maxName {
		return nil
	}
	name = Fold(name)
	var nearest protoreflect.FieldDescriptor
	least := max(1, len(name)/4) + 1 // more differences make another name
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if !among(f) {
			continue
		}
		difference := distance(name, Fold(f.JSONName()))
		if contains(name, Fold(f.JSONName())) {
			difference = min(difference, 1)
		}
		if difference < least {
			nearest, least = f, difference
		}
	}
	return nearest
}

// leastPart is the length from which on a part of a name says what is meant.
const leastPart = 4

// contains reports whether one of two names contains the other.
func contains(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= leastPart && strings.Contains(b, a)
}

// distance returns how many letters must be inserted, deleted, replaced or exchanged with
// their neighbour to make b of a.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
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
