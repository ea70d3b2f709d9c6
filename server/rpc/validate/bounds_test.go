package validate

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// unbounded lists the texts that have no declared bounds: opaque ones, which the server
// looks up or decrypts, and the week number of votes, which may be a word.
var unbounded = []protoreflect.Name{"cursor", "token", "epoch", "banned_by"}

// mustBeBounded reports whether a field of a request or a record must declare bounds:
// a page size, a list, an object, and a text that is neither a UUID nor unbounded.
func mustBeBounded(field protoreflect.FieldDescriptor) bool {
	switch {
	case field.Name() == "limit", field.IsList() && field.Message() == nil:
		return true
	case field.Message() != nil:
		return field.Message().FullName() == "google.protobuf.Struct"
	case field.Kind() == protoreflect.StringKind && !slices.Contains(unbounded, field.Name()):
		return field.Name() == "client_id" || !strings.HasSuffix("_"+string(field.Name()), "_id")
	}
	return false
}

// TestRequestsDeclareTheirBounds fails for a field of a request or of a record whose
// bounds the contract does not declare.
func TestRequestsDeclareTheirBounds(t *testing.T) {
	requests := 0
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			isRead := strings.HasSuffix(string(message.Name()), "Request") || strings.HasSuffix(string(message.Name()), "Record")
			if !strings.HasPrefix(string(message.FullName()), "moderato.") || !isRead {
				continue
			}
			requests++
			for j := range message.Fields().Len() {
				field := message.Fields().Get(j)
				if mustBeBounded(field) && declared()[fieldName{message.FullName(), field.JSONName()}] == nil {
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
