package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// routes are the methods of each path, as the .proto annotations name them.
type routes map[string]methods

type methods []string

func (m methods) has(method string) bool { return slices.Contains(m, method) }

// String is the methods as the Allow header lists them.
func (m methods) String() string {
	return strings.Join(append(slices.Clone(m), http.MethodOptions), ", ")
}

// findRoutes collects the HTTP annotations of the services. Every path of the
// interface is fixed text.
func findRoutes() (routes, error) {
	found := routes{eventsPath: {http.MethodGet}}
	for _, s := range services {
		annotated := s.file.Services()
		for i := range annotated.Len() {
			rpcs := annotated.Get(i).Methods()
			for j := range rpcs.Len() {
				method, path, err := route(rpcs.Get(j))
				if err != nil {
					return nil, err
				}
				found[path] = append(found[path], method)
			}
		}
	}
	for _, m := range found {
		slices.Sort(m)
	}
	return found, nil
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
	if path == "" || strings.ContainsAny(path, "{*") {
		return "", "", fmt.Errorf("%s: the facade serves GET, POST and DELETE at fixed paths", rpc.FullName())
	}
	return method, path, nil
}
