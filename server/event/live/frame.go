package live

import "context"

// Frame is a batch of events in the form of Server-Sent Events. A stream whose context
// comes from WithFrames sends it as one message.
type Frame []byte

type frameKey struct{}

// WithFrames returns the context of a stream that takes Frames.
func WithFrames(ctx context.Context) context.Context {
	return context.WithValue(ctx, frameKey{}, true)
}

// HasFrames reports whether a stream takes Frames.
func HasFrames(ctx context.Context) bool { return ctx.Value(frameKey{}) != nil }
