package jsonapi

import "time"

// The first second of year 1 and the last of year 9999, since 1970.
const (
	minSeconds = -62135596800
	maxSeconds = 253402300799
)

// appendTimestamp appends a point in time as a string in ISO 8601, in UTC and
// cut to the millisecond. One that no google.protobuf.Timestamp may hold is
// null.
func appendTimestamp(b []byte, seconds, nanos int64) []byte {
	if seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos >= 1e9 {
		return append(b, "null"...)
	}
	t := time.Unix(seconds, 0).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	millis := int(nanos / 1e6)
	return append(b, '"',
		digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-',
		digit(day/10), digit(day), 'T',
		digit(hour/10), digit(hour), ':',
		digit(minute/10), digit(minute), ':',
		digit(second/10), digit(second), '.',
		digit(millis/100), digit(millis/10), digit(millis), 'Z', '"')
}

// digit is the last decimal digit of n.
func digit(n int) byte { return '0' + byte(n%10) }

// parseTimestamp reads a point in time in the form of RFC 3339, with any
// fraction and any offset. It keeps nanoseconds.
func parseTimestamp(text []byte) (seconds int64, nanos int32, ok bool) {
	var t time.Time
	// Not time.Parse, which also takes a comma and hours of one digit.
	if err := t.UnmarshalText(text); err != nil {
		return 0, 0, false
	}
	seconds = t.Unix()
	if seconds < minSeconds || seconds > maxSeconds {
		return 0, 0, false
	}
	return seconds, int32(t.Nanosecond()), true
}
