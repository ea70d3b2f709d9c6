package prepared_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store/prepared"
)

// TestDialTimeoutIsNetworkError checks that a caller can tell a database that cannot be
// reached from the end of its own time.
func TestDialTimeoutIsNetworkError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err := prepared.Dial(ctx, "tcp", "127.0.0.1:1")
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v, want a timeout of the network", err)
	}
}
