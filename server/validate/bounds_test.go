package validate

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// TestRequestsDeclareTheirBounds fails for a page size, or a list that a caller sends,
// whose bounds the contract does not declare.
func TestRequestsDeclareTheirBounds(t *testing.T) {
	requests := 0
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			if !strings.HasPrefix(string(message.FullName()), "moderato.") || !strings.HasSuffix(string(message.Name()), "Request") {
				continue
			}
			requests++
			for j := range message.Fields().Len() {
				field := message.Fields().Get(j)
				isList := field.IsList() && field.Message() == nil
				if (isList || field.Name() == "limit") && declared()[fieldName{message.FullName(), field.JSONName()}] == nil {
					t.Errorf("%s declares no bounds", field.FullName())
				}
			}
		}
		return true
	})
	if requests == 0 {
		t.Error("the contract has no requests")
	}
}
