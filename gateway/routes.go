package gateway

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// routes holds the operations of each path, as the .proto annotations declare them. A
// variable segment of a path is anySegment. The facade checks a request with them before the
// runtime's mux calls the generated handler.
type routes map[string]operations

// anySegment matches a segment of a path, as path.Match has it. Segments that begin with a
// dot are none: clients and proxies resolve them.
const anySegment = "[^./]*"

// variable matches a variable in the path of an annotation.
var variable = regexp.MustCompile(`\{[a-z_]+\}`)

// at returns the operations of a path, and the path with anySegment for its variables; nil if
// nothing is served there.
func (r routes) at(at string) (operations, string) {
	if found := r[at]; found != nil {
		return found, at
	}
	for pattern, found := range r {
		if matches, _ := path.Match(pattern, at); matches {
			return found, pattern
		}
	}
	return nil, ""
}

// operations holds the operations of one path, sorted by method.
type operations []operation

type operation struct {
	method string
	handle http.HandlerFunc
	// isForm is true if the body is no JSON, and the handler reads it.
	isForm bool
	// readsQuery is true if the handler parses the query.
	readsQuery bool
	// maxBody is the maximum size of the body in bytes, if it is not maxBodyBytes.
	maxBody int64
	// input is the message that a body is decoded into; nil if the handler decodes it.
	input protoreflect.MessageDescriptor
}

// by returns the operation for a method, or nil if there is none. HEAD has the operation of
// GET, because net/http sends only the header of the response.
func (o operations) by(method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range o {
		if o[i].method == method {
			return &o[i]
		}
	}
	return nil
}

// allowed returns the methods as the Allow header lists them.
func (o operations) allowed() string {
	var methods strings.Builder
	for i := range o {
		methods.WriteString(o[i].method + ", ")
		if o[i].method == http.MethodGet {
			methods.WriteString(http.MethodHead + ", ")
		}
	}
	return methods.String() + http.MethodOptions
}

// findRoutes collects the HTTP annotations of the services.
func (f *facade) findRoutes() (routes, error) {
	found := routes{}
	for rpc := range rpcs {
		method, path, err := route(rpc)
		if err != nil {
			return nil, err
		}
		handle := f.call
		if hasETag, _ := proto.GetExtension(rpc.Options(), optionsv1.E_HasEtag).(bool); hasETag {
			handle = tagged(handle)
		}
		found.add(variable.ReplaceAllString(path, anySegment), operation{method: method, handle: handle, maxBody: maxBodyOf(rpc), input: rpc.Input()})
	}
	return found, nil
}

// rpcs yields the methods of the services.
func rpcs(yield func(protoreflect.MethodDescriptor) bool) {
	for _, s := range services {
		annotated := s.file.Services()
		for i := range annotated.Len() {
			methods := annotated.Get(i).Methods()
			for j := range methods.Len() {
				if !yield(methods.Get(j)) {
					return
				}
			}
		}
	}
}

func (r routes) add(path string, o operation) {
	r[path] = append(r[path], o)
	slices.SortFunc(r[path], func(a, b operation) int { return strings.Compare(a.method, b.method) })
}

// maxBodyOf returns the maximum size of a body that a method declares; 0 if it declares
// none.
func maxBodyOf(rpc protoreflect.MethodDescriptor) int64 {
	size, _ := proto.GetExtension(rpc.Options(), optionsv1.E_MaxBodyBytes).(int32)
	return int64(size)
}

func route(rpc protoreflect.MethodDescriptor) (method, path string, err error) {
	rule, _ := proto.GetExtension(rpc.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		method, path = http.MethodGet, p.Get
	case *annotations.HttpRule_Post:
		method, path = http.MethodPost, p.Post
	case *annotations.HttpRule_Delete:
		method, path = http.MethodDelete, p.Delete
	}
	if fixed := variable.ReplaceAllString(path, ""); path == "" || strings.ContainsAny(fixed, "{}*?[") {
		return "", "", fmt.Errorf("%s: the facade serves GET, POST and DELETE at paths whose variables are whole segments", rpc.FullName())
	}
	return method, path, nil
}
