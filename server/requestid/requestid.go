// Package requestid gives each request an id by which its answer, its log lines
// and its events can be found.
package requestid

import (
	"context"

	"github.com/moderato-live/moderato/server/uid"
)

// Header is the HTTP header, and MetadataKey the key of metadata, that carries
// the id. A caller may choose it, so that ids go through a whole platform.
const (
	Header      = "X-Request-Id"
	MetadataKey = "x-request-id"
)

const maxLength = 64

// ContextKey is under what the context of a request has its id.
type ContextKey struct{}

// Accept is the proposed id, if it is fit to be one (1 to 64 of A-Z a-z 0-9
// _ . -), or else a new one.
func Accept(proposed []string) string {
	if len(proposed) == 1 && isFit(proposed[0]) {
		return proposed[0]
	}
	return uid.New().String()
}

func isFit(id string) bool {
	if id == "" || len(id) > maxLength {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// FromContext is the id of the present request; empty outside one.
func FromContext(ctx context.Context) string {
	id, _ := ctx.Value(ContextKey{}).(string)
	return id
}
