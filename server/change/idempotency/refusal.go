package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// Refuse declares, in the transaction of a refusal that changes something, with which error the
// method refuses the call. If the call has an idempotency key, the transaction stores the error,
// and a repeat gets it again. The transaction must then commit, and the method return the error.
func Refuse(ctx context.Context, refusal *apierr.Error) {
	if c, ok := ctx.Value(store.HookKey{}).(*call); ok {
		c.refusal = refusal
	}
}

// storedRefusal is a refusal as it is stored.
type storedRefusal struct {
	Reason     moderatov1.Reason `json:"reason"`
	Message    string            `json:"message,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	RetryAfter time.Duration     `json:"retryAfter,omitempty"`
}

// sealRefusal encrypts a refusal. It is authenticated as one, so that no response is taken for it.
func (c *call) sealRefusal() ([]byte, error) {
	r := c.refusal
	text, err := json.Marshal(storedRefusal{r.Reason, r.Message, r.Metadata, r.RetryAfter})
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return c.cipher.Seal(nil, nil, text, c.refused()), nil
}

// openRefusal decrypts what is stored, and reports whether it is a refusal.
func (c *call) openRefusal(sealed []byte) (r storedRefusal, ok bool) {
	text, err := c.cipher.Open(nil, nil, sealed, c.refused())
	ok = err == nil && json.Unmarshal(text, &r) == nil
	return r, ok
}

// answer returns the refusal as it was.
func (r storedRefusal) answer() *apierr.Error {
	return &apierr.Error{Reason: r.Reason, Message: r.Message, Metadata: r.Metadata, RetryAfter: r.RetryAfter}
}

// refused is what authenticates the refusal of the request.
func (c *call) refused() []byte { return append(c.request[:], "refusal"...) }
