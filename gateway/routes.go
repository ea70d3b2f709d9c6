package gateway

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
)

// operation is what is served for a method at a path. The facade checks a request with it before
// the runtime's mux calls the generated handler.
type operation struct {
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

// ServeHTTP implements http.Handler.
func (o *operation) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handle(w, r) }

// addRoutes adds the operations that the services declare, the stream of events, and endpoints.
func (f *facade) addRoutes(endpoints []Endpoint) {
	for rpc := range rpcs {
		o := &operation{handle: f.call, input: rpc.Input()}
		if size, _ := proto.GetExtension(rpc.Options(), optionsv1.E_MaxBodyBytes).(int32); size > 0 {
			o.maxBody = int64(size)
		}
		if hasETag, _ := proto.GetExtension(rpc.Options(), optionsv1.E_HasEtag).(bool); hasETag {
			o.handle = tagged(f.call)
		}
		f.routes.Handle(patternOf(rpc), o)
	}
	f.routes.Handle(http.MethodGet+" "+eventsPath, &operation{handle: f.streamEvents})
	for _, e := range endpoints {
		f.routes.Handle(e.Method+" "+e.Path, e.operation())
	}
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

// patternOf returns the pattern of http.ServeMux for the HTTP annotation of a method. The mux
// panics if a variable in the path is no whole segment.
func patternOf(rpc protoreflect.MethodDescriptor) string {
	rule, _ := proto.GetExtension(rpc.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return http.MethodGet + " " + p.Get
	case *annotations.HttpRule_Post:
		return http.MethodPost + " " + p.Post
	case *annotations.HttpRule_Delete:
		return http.MethodDelete + " " + p.Delete
	}
	panic(rpc.FullName() + ": the facade serves GET, POST and DELETE")
}

// operationOf returns the operation of a request; nil if there is none.
func (f *facade) operationOf(r *http.Request) *operation {
	if r.URL.RawPath != "" || !isPlain(r.URL.Path) {
		return nil
	}
	handler, _ := f.routes.Handler(r)
	found, _ := handler.(*operation)
	return found
}

// isPlain reports whether a path is one that http.ServeMux does not redirect, and has no segment
// that begins with a dot, which clients and proxies resolve, except that of RFC 8615.
func isPlain(at string) bool {
	return strings.HasPrefix(at, "/") && path.Clean(at) == at && !strings.Contains(strings.TrimPrefix(at, "/.well-known"), "/.")
}

// allowed returns the methods at a path, as the header Allow lists them; empty if nothing is
// served there.
func (f *facade) allowed(at string) string {
	if !isPlain(at) {
		return ""
	}
	r := &http.Request{Method: http.MethodOptions, URL: &url.URL{Path: at}} // nothing handles the method
	refusal, _ := f.routes.Handler(r)
	header := headerOnly{}
	refusal.ServeHTTP(header, r)
	if methods := http.Header(header).Get("Allow"); methods != "" {
		return methods + ", " + http.MethodOptions
	}
	return ""
}

// headerOnly is a response of which only the header counts.
type headerOnly http.Header

// Header implements http.ResponseWriter.
func (h headerOnly) Header() http.Header { return http.Header(h) }

// Write implements http.ResponseWriter.
func (headerOnly) Write(text []byte) (int, error) { return len(text), nil }

// WriteHeader implements http.ResponseWriter.
func (headerOnly) WriteHeader(int) {}
