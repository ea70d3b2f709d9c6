package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestFileDescriptorLimitIsDivided(t *testing.T) {
	for _, c := range []struct {
		limit                    uint64
		streams, attempts, idles int
		isWarning                bool
	}{
		{0, 0, 0, 0, false},
		{1024, 408, 256, 128, true},
		{8191, 4095, 1000, 1023, true},
		{8192, 4096, 1000, 1024, false},
		{1 << 63, 1 << 20 * 3 / 4, 1000, 10_000, false},
	} {
		var log bytes.Buffer
		config := Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
		config.divideDescriptors(t.Context(), c.limit)
		if config.Streams.Total != c.streams || config.WebhookAttempts != c.attempts || config.Sockets.Idle != c.idles {
			t.Errorf("%d: got %d streams, %d attempts and %d sockets, want %d, %d and %d",
				c.limit, config.Streams.Total, config.WebhookAttempts, config.Sockets.Idle, c.streams, c.attempts, c.idles)
		}
		if isWarning := strings.Contains(log.String(), "level=WARN"); isWarning != c.isWarning {
			t.Errorf("%d: the log has %q", c.limit, log.String())
		}
	}
}
