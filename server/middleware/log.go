package middleware

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/tracing"
)

// log writes a log record about the call. Errors of the server have level error.
// Changes, and calls that failed because of the caller, have level info. Reads that
// succeeded or were cancelled, and calls rejected because of overload, have level
// debug. Of what the caller sent, only ids are logged.
func (c *call) log(err error, o outcome, elapsed time.Duration) {
	level := slog.LevelInfo
	switch {
	case o.isOurs:
		level = slog.LevelError
	case (err == nil || o.isGone) && isRead(c.method):
		level = slog.LevelDebug
	case o.isOverload:
		level = slog.LevelDebug // there are many, and the metrics count them
		c.logOverload()
	}
	if !c.Log.Enabled(c, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.requestID),
		slog.String("method", c.method),
		slog.String("transport", c.transport),
		slog.String("code", o.code),
		logging.Milliseconds("duration_ms", elapsed),
	}
	if id := tracing.TraceID(c.Context); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	if c.caller != nil {
		attrs = append(attrs, slog.String("client_id", c.caller.ClientID), slog.String("token_kind", string(c.caller.Kind)))
		if c.caller.ActsAsUser() {
			attrs = append(attrs, slog.String("user_id", c.caller.UserID.String()))
		}
	}
	if c.isReplay {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err), slog.String("address", c.address()))
	}
	c.Log.LogAttrs(c, level, "call", attrs...)
}

// overloadInterval is the minimum time between two warnings about overload in the log.
const overloadInterval = 10 * time.Second

func (c *call) logOverload() {
	now, last := c.start.UnixNano(), c.overloadLogged.Load()
	if now-last >= int64(overloadInterval) && c.overloadLogged.CompareAndSwap(last, now) {
		c.Log.WarnContext(c, "overloaded; rejecting requests that would wait too long", "max_wait", c.MaxWait.String())
	}
}

// reads caches the results of isRead by method.
var reads sync.Map // of string to bool

// isRead reports whether the .proto declares that the method has no side effects. The
// methods of other projects, which are health and reflection, only read.
func isRead(method string) bool {
	known, ok := reads.Load(method)
	if !ok {
		known, _ = reads.LoadOrStore(method, hasNoSideEffects(method))
	}
	return known.(bool)
}

func hasNoSideEffects(method string) bool {
	if !strings.HasPrefix(method, "/moderato.") {
		return true
	}
	d := descriptorOf(method)
	if d == nil {
		return false
	}
	options, _ := d.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
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
