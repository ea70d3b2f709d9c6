package moderato

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const (
	// maxAttempts is how often a call is sent at most.
	maxAttempts = 5
	// maxRetryAfter is the longest time that the server may ask to wait before a retry.
	maxRetryAfter = time.Minute
	// maxJitter spreads the retries of clients that are to wait for the same time.
	maxJitter = 250 * time.Millisecond
)

// methodName names a method in a service config.
type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method"`
}

// unaryMethods returns the methods of the contract, without the streaming ones.
func unaryMethods() []protoreflect.MethodDescriptor {
	var found []protoreflect.MethodDescriptor
	for _, pkg := range []protoreflect.FullName{
		moderatov1.File_moderato_v1_moderation_proto.Package(), platformv1.File_moderato_platform_v1_access_proto.Package(),
	} {
		protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				methods := file.Services().Get(i).Methods()
				for j := range methods.Len() {
					if method := methods.Get(j); !method.IsStreamingClient() && !method.IsStreamingServer() {
						found = append(found, method)
					}
				}
			}
			return true
		})
	}
	return found
}

// isChange reports whether a method has side effects. Then the server accepts an
// idempotency key for it.
func isChange(method protoreflect.MethodDescriptor) bool {
	options, ok := method.Options().(*descriptorpb.MethodOptions)
	return !ok || options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

// serviceConfig returns the gRPC service config: a call is retried, with backoff, if the
// server cannot be reached or the connection breaks. The server's own errors follow
// response headers, and gRPC does not retry a call whose response has begun: see
// retryRefused.
func serviceConfig() string {
	var names []methodName
	for _, method := range unaryMethods() {
		names = append(names, methodName{string(method.Parent().FullName()), string(method.Name())})
	}
	text, err := json.Marshal(map[string]any{
		"methodConfig": []any{map[string]any{
			"name": names,
			"retryPolicy": map[string]any{
				"maxAttempts": maxAttempts, "initialBackoff": "0.2s", "maxBackoff": "5s", "backoffMultiplier": 2.5,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}},
		// When most calls fail, retries would only add load.
		"retryThrottling": map[string]any{"maxTokens": 100, "tokenRatio": 0.5},
	})
	if err != nil {
		panic(err) // it holds only strings and numbers
	}
	return string(text)
}

// methods maps the names of the contract's unary methods, as gRPC spells them, to whether
// they are changes.
var methods = func() map[string]bool {
	found := map[string]bool{}
	for _, method := range unaryMethods() {
		found[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())] = isChange(method)
	}
	return found
}()

// retryRefused makes a call, and repeats it when the server says after which time. The
// call must be a read, or a change with an idempotency key.
func retryRefused(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := errorOf(call())
		wait, ok := retryWait(err)
		if !ok || attempt == maxAttempts {
			return err
		}
		wait += rand.N(maxJitter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return errorOf(status.FromContextError(err).Err())
		}
	}
}

// retryWait returns how long to wait before a call that failed is repeated, and reports
// whether that is of use.
func retryWait(err error) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter <= 0 || e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	switch e.Reason {
	case moderatov1.Reason_REASON_RATE_LIMITED, moderatov1.Reason_REASON_OVERLOADED,
		moderatov1.Reason_REASON_UNAVAILABLE, moderatov1.Reason_REASON_IDEMPOTENCY_KEY_IN_USE:
		return e.RetryAfter, true
	}
	return 0, false
}

// sleep waits. It returns the error of ctx if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
