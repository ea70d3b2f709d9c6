package middleware

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/moderato-live/moderato/server/tracing"
)

// startSpan starts the span of the call. The parts of a list that is sent in several calls
// have one span, that of the first part.
func (c *call) startSpan() {
	var span tracing.Span
	c.Context, span = c.Tracer.StartCall(c.Context, c.method, c.sent)
	if !span.IsRecording() {
		return
	}
	service, method, _ := strings.Cut(strings.TrimPrefix(c.method, "/"), "/")
	span.Set(
		attribute.String("rpc.system", "grpc"),
		attribute.String("rpc.service", service),
		attribute.String("rpc.method", method),
		attribute.String("moderato.request_id", c.requestID),
		attribute.String("moderato.transport", c.transport),
	)
	if c.stream != nil {
		if route := routeOf(c.method); route != "" {
			span.Set(attribute.String("http.route", route))
		}
	}
}

// span returns the span of the call. The call has no field for it, which an untraced call
// would have too.
func (c *call) span() tracing.Span { return c.Tracer.Current(c.Context) }

// endSpan ends the span of the call. The caller's mistakes are no errors of the server, and
// do not mark its span as failed.
func (c *call) endSpan(o outcome, shown error) {
	span := c.span()
	if !span.IsRecording() {
		return
	}
	span.Set(
		attribute.Int("rpc.grpc.status_code", int(status.Code(shown))),
		attribute.String("moderato.code", o.code),
	)
	if o.isOurs {
		span.Fail(o.code)
	}
	span.End()
}

// knownRoutes caches the results of routeOf by method.
var knownRoutes sync.Map // of string to string

// routeOf returns the path at which the .proto declares that REST serves a method; empty if
// it declares none.
func routeOf(method string) string {
	known, ok := knownRoutes.Load(method)
	if !ok {
		known, _ = knownRoutes.LoadOrStore(method, declaredRoute(method))
	}
	return known.(string)
}

func declaredRoute(method string) string {
	d := descriptorOf(method)
	if d == nil {
		return ""
	}
	rule, _ := proto.GetExtension(d.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return p.Get
	case *annotations.HttpRule_Post:
		return p.Post
	case *annotations.HttpRule_Delete:
		return p.Delete
	}
	return ""
}

// descriptorOf returns the descriptor of a method; nil if the program has none.
func descriptorOf(method string) protoreflect.Descriptor {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", "."))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	return d
}
