package authz

import (
	"iter"
	"net/http"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Permitted yields the methods that accept the kind and the scopes of a caller's token,
// in the order of the contract, with their rules. The methods may still refuse a call
// because of the relation that the rule requires.
func Permitted(c *authn.Caller) iter.Seq2[protoreflect.MethodDescriptor, Rule] {
	return func(yield func(protoreflect.MethodDescriptor, Rule) bool) {
		for method := range Methods() {
			rule, ok := Table[nameOf(method)]
			if ok && rule.Check(c) == nil && !yield(method, rule) {
				return
			}
		}
	}
}

// RelationName returns the name of the relation that the rule requires, such as owner, or
// an empty string if it requires none.
func (r Rule) RelationName() string {
	if r.Relation == anyone {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(r.Relation.String(), "RELATION_"))
}

// HTTP returns the HTTP method and the path at which the contract annotates a method, or
// empty strings if only gRPC serves it. The path names its variables as JSON does.
func HTTP(method protoreflect.MethodDescriptor) (verb, path string) {
	verb, path = annotated(method)
	for i := range method.Input().Fields().Len() {
		f := method.Input().Fields().Get(i)
		path = strings.ReplaceAll(path, "{"+string(f.Name())+"}", "{"+f.JSONName()+"}")
	}
	return verb, path
}

func annotated(method protoreflect.MethodDescriptor) (verb, path string) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch {
	case rule.GetGet() != "":
		return http.MethodGet, rule.GetGet()
	case rule.GetPost() != "":
		return http.MethodPost, rule.GetPost()
	case rule.GetDelete() != "":
		return http.MethodDelete, rule.GetDelete()
	}
	return "", ""
}
