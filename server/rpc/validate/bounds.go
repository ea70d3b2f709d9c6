package validate

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	_ "github.com/moderato-live/moderato/gen/moderato/platform/v1" // registers its messages
	_ "github.com/moderato-live/moderato/gen/moderato/v1"          // registers its messages
)

// fieldName identifies a field of the contract by its message and its JSON name.
type fieldName struct {
	message protoreflect.FullName
	field   string
}

// Resolve returns the bounds of a field together with those of its format.
func Resolve(bounds *optionsv1.Bounds) *optionsv1.Bounds {
	format := bounds.GetFormat().Descriptor().Values().ByNumber(bounds.GetFormat().Number())
	resolved := &optionsv1.Bounds{}
	if shared, _ := proto.GetExtension(format.Options(), optionsv1.E_FormatBounds).(*optionsv1.Bounds); shared != nil {
		proto.Merge(resolved, shared)
	}
	proto.Merge(resolved, bounds)
	return resolved
}

// declared holds the bounds of all fields of the contract that declare some.
var declared = sync.OnceValue(func() map[fieldName]*optionsv1.Bounds {
	all := map[fieldName]*optionsv1.Bounds{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			fields := file.Messages().Get(i).Fields()
			for j := range fields.Len() {
				if bounds, _ := proto.GetExtension(fields.Get(j).Options(), optionsv1.E_Bounds).(*optionsv1.Bounds); bounds != nil {
					all[fieldName{file.Messages().Get(i).FullName(), fields.Get(j).JSONName()}] = Resolve(bounds)
				}
			}
		}
		return true
	})
	return all
})

// bounds returns the declared bounds of a field. A field whose bounds are checked must
// declare them: otherwise any value would pass.
func (f *Fields) bounds(field string) *optionsv1.Bounds {
	name := fieldName{f.message, strings.TrimSuffix(field, "[]")}
	bounds := declared()[name]
	if bounds == nil {
		panic(fmt.Sprintf("the contract declares no bounds of %s.%s", name.message, name.field))
	}
	return bounds
}
