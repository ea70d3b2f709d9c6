// Package requestid gives each request an id, by which its response, its log records
// and its events can be found.
package requestid

import (
	"context"

	"github.com/moderato-live/moderato/internal/secrets"
	"github.com/moderato-live/moderato/internal/uid"
)

// Header is the HTTP header, and MetadataKey the metadata key, that carries the id. A
// caller may choose the id, so that one id can identify a request in all parts of a
// platform.
const (
	Header      = "X-Request-Id"
	MetadataKey = "x-request-id"
)

const maxLength = 64

// ContextKey is the key under which the context of a request holds its id.
type ContextKey struct{}

// Accept returns the proposed id if it is valid, which is 1 to 64 characters of A-Z a-z
// 0-9 _ . -, or else a new id. A token or another secret is not valid, because the id is
// logged and stored.
func Accept(proposed []string) string {
	if len(proposed) == 1 && isFit(proposed[0]) && !secrets.IsWhole(proposed[0]) {
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

// FromContext returns the id of the request of ctx, or an empty string if there is
// none.
func FromContext(ctx context.Context) string {
	id, _ := ctx.Value(ContextKey{}).(string)
	return id
}
