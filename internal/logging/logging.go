// Package logging bounds what a server writes to its log.
package logging

import (
	"context"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
)

const (
	// maxValue is the length in bytes to which a value is cut.
	maxValue = 2 << 10
	// maxStack is the length in bytes to which the stack of a panic is cut. It may be
	// longer because the server itself produces it.
	maxStack = 16 << 10

	// StackKey is the key of the attribute that holds the stack of a panic.
	StackKey = "stack"
)

// Bounded returns a handler that cuts long values before it passes records on. The
// causes of errors can repeat what a caller sent, and a caller must not fill the disk
// with log records.
func Bounded(next slog.Handler) slog.Handler { return bounded{next} }

type bounded struct{ slog.Handler }

// Handle cuts the values of a record and passes it on.
func (h bounded) Handle(ctx context.Context, r slog.Record) error {
	cut := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		cut.AddAttrs(bound(a))
		return true
	})
	return h.Handler.Handle(ctx, cut)
}

// WithAttrs returns a handler with further attributes, whose values are cut.
func (h bounded) WithAttrs(attrs []slog.Attr) slog.Handler {
	cut := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cut[i] = bound(a)
	}
	return bounded{h.Handler.WithAttrs(cut)}
}

// WithGroup returns a handler with a group.
func (h bounded) WithGroup(name string) slog.Handler { return bounded{h.Handler.WithGroup(name)} }

func bound(a slog.Attr) slog.Attr {
	limit := maxValue
	if a.Key == StackKey {
		limit = maxStack
	}
	switch value := a.Value.Resolve(); value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(truncate(value.String(), limit))
	case slog.KindAny:
		if err, ok := value.Any().(error); ok {
			a.Value = slog.StringValue(truncate(err.Error(), limit))
		}
	}
	return a
}

// maxPath is the length in bytes to which the path of a request is cut.
const maxPath = 128

// longRun matches what could be a token or another secret, and no UUID.
var longRun = regexp.MustCompile(`[0-9A-Za-z_-]{37,}`)

// Path returns the path of a URL as the log has it: escaped, cut, and without what could be a
// secret.
func Path(u *url.URL) string {
	return truncate(longRun.ReplaceAllString(u.EscapedPath(), "…"), maxPath)
}

// truncate returns text, or its first bytes and an ellipsis if it is longer than limit bytes.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
