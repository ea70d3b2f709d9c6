package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestFileDescriptorLimitIsDivided(t *testing.T) {
	for _, c := range []struct {
		limit             uint64
		streams, attempts int
		isWarning         bool
	}{
		{0, 0, 0, false},
		{1024, 512, 256, true},
		{8191, 4095, 1000, true},
		{8192, 4096, 1000, false},
		{1 << 63, 1 << 20, 1000, false},
	} {
		var log bytes.Buffer
		config := Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
		config.divideDescriptors(t.Context(), c.limit)
		if config.Streams.Total != c.streams || config.WebhookAttempts != c.attempts {
			t.Errorf("%d: got %d streams and %d attempts, want %d and %d", c.limit, config.Streams.Total, config.WebhookAttempts, c.streams, c.attempts)
		}
		if isWarning := strings.Contains(log.String(), "level=WARN"); isWarning != c.isWarning {
			t.Errorf("%d: the log has %q", c.limit, log.String())
		}
	}
}
