package logging

import (
	"log/slog"
	"time"
)

// Milliseconds returns a duration as an attribute whose name ends in _ms, with three decimals:
// in JSON, slog writes durations as nanoseconds, and in text with changing units.
func Milliseconds(name string, d time.Duration) slog.Attr {
	return slog.Float64(name, float64(d.Microseconds())/1000)
}
