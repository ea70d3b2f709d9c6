package tracing

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/XSAM/otelsql"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
)

// GRPC returns the options of a gRPC server whose calls are traced.
func (t *Tracer) GRPC() []grpc.ServerOption {
	if t == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(t.propagator)))}
}

// REST returns a handler that traces the calls among the requests for next. callOf
// returns METHOD PATH of a call, with the names of variables in the path, and an empty string
// for other requests. Of those, and of what else a caller writes, spans have nothing: it may
// be a token.
func (t *Tracer) REST(next http.Handler, callOf func(*http.Request) string) http.Handler {
	if t == nil {
		return next
	}
	traced := otelhttp.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, shown *http.Request) {
		ctx := shown.Context()
		next.ServeHTTP(w, ctx.Value(requestKey{}).(*http.Request).WithContext(ctx))
	}), "", otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(t.propagator))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := callOf(r)
		if call == "" {
			next.ServeHTTP(w, r)
			return
		}
		_, path, _ := strings.Cut(call, " ")
		shown := &http.Request{Method: r.Method, URL: &url.URL{Path: path}, Pattern: call, Header: http.Header{}}
		for _, name := range t.propagator.Fields() {
			if values := r.Header.Values(name); len(values) > 0 {
				shown.Header.Set(name, strings.Join(values, ",")) // a list; a second traceparent makes the first one invalid
			}
		}
		traced.ServeHTTP(w, shown.WithContext(context.WithValue(r.Context(), requestKey{}, r)))
	})
}

// requestKey is the context key of the request of a call.
type requestKey struct{}

// OpenDB opens a database of a kind, whose statements have spans. The spans have the
// statements with placeholders, but neither the arguments nor the texts of errors, which may
// repeat the arguments.
func (t *Tracer) OpenDB(c driver.Connector, kind string) *sql.DB {
	if t == nil {
		return sql.OpenDB(c)
	}
	return otelsql.OpenDB(c,
		otelsql.WithTracerProvider(t.provider),
		otelsql.WithAttributes(attribute.String("db.system.name", kind)),
		otelsql.WithSpanNameFormatter(statementName),
		otelsql.WithSpanErrorAttributesGetter(func(err error) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("error.type", fmt.Sprintf("%T", err))}
		}),
		otelsql.WithSpanOptions(otelsql.SpanOptions{
			OmitConnResetSession: true, OmitConnPrepare: true, OmitRows: true, OmitConnectorConnect: true,
			RecordError: func(error) bool { return false },
			SpanFilter: func(ctx context.Context, _ otelsql.Method, _ string, _ []driver.NamedValue) bool {
				return trace.SpanContextFromContext(ctx).IsSampled()
			},
		}))
}

// statementName returns the operation of a statement, such as INSERT.
func statementName(_ context.Context, method otelsql.Method, text string) string {
	for operation := range strings.FieldsSeq(text) {
		return operation
	}
	return string(method)
}
