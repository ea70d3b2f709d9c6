package jsonapi

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// The first second of year 1 and the last second of year 9999, in Unix time.
const (
	minSeconds = -62135596800
	maxSeconds = 253402300799
)

// appendTimestamp appends a point in time as a string in ISO 8601, in UTC and truncated
// to the millisecond. Values that are not valid in a google.protobuf.Timestamp are null.
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

// digit returns the last decimal digit of n in ASCII.
func digit(n int) byte { return '0' + byte(n%10) }

// ParseTimestamp converts the text of a JSON string to a point in time. It returns what is
// wrong with the text, or an empty string.
func ParseTimestamp(text string) (t *timestamppb.Timestamp, wrong string) {
	seconds, nanos, ok := parseTimestamp([]byte(text))
	if !ok {
		return nil, descTimestamp
	}
	return &timestamppb.Timestamp{Seconds: seconds, Nanos: nanos}, ""
}

// parseTimestamp parses a point in time in the form of RFC 3339, with any fraction, of
// which nine digits are kept, and any offset. It does not use package time, which also
// accepts hours of one digit, a comma before the fraction and offsets of any size.
func parseTimestamp(text []byte) (seconds int64, nanos int32, ok bool) {
	r := timeReader{rest: text, ok: true}
	year := r.digits(4)
	r.mark('-')
	month := r.digits(2)
	r.mark('-')
	day := r.digits(2)
	r.letter('T')
	hour := r.digits(2)
	r.mark(':')
	minute := r.digits(2)
	r.mark(':')
	second := r.digits(2)
	if r.next() == '.' {
		nanos = r.fraction()
	}
	offset := r.offset()
	if !r.ok || len(r.rest) > 0 || hour > 23 || minute > 59 || second > 59 {
		return 0, 0, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day {
		return 0, 0, false // the day does not exist, and Date returned another
	}
	seconds = t.Unix() - int64(offset)
	return seconds, nanos, minSeconds <= seconds && seconds <= maxSeconds
}

// timeReader reads the parts of a timestamp. ok becomes false at the first mistake;
// results after that are meaningless.
type timeReader struct {
	rest []byte
	ok   bool
}

// next returns the next byte without consuming it, or 0 at the end.
func (r *timeReader) next() byte {
	if len(r.rest) == 0 {
		return 0
	}
	return r.rest[0]
}

// mark consumes the byte c.
func (r *timeReader) mark(c byte) {
	if r.next() != c {
		r.ok = false
		return
	}
	r.rest = r.rest[1:]
}

// letter consumes a letter in either case, as RFC 3339 has it. upper is in upper case.
func (r *timeReader) letter(upper byte) {
	if r.next() == upper|0x20 {
		upper |= 0x20
	}
	r.mark(upper)
}

// digits consumes a number of exactly n digits and returns it.
func (r *timeReader) digits(n int) int {
	if len(r.rest) < n {
		r.ok = false
		return 0
	}
	number := 0
	for _, c := range r.rest[:n] {
		if c < '0' || c > '9' {
			r.ok = false
			return 0
		}
		number = number*10 + int(c-'0')
	}
	r.rest = r.rest[n:]
	return number
}

// fraction consumes a point and at least one digit, and returns the nanoseconds.
func (r *timeReader) fraction() (nanos int32) {
	r.mark('.')
	nanos = int32(r.digits(1)) * 1e8
	for unit := int32(1e7); r.ok && '0' <= r.next() && r.next() <= '9'; unit /= 10 {
		nanos += int32(r.digits(1)) * unit
	}
	return nanos
}

// offset consumes Z or an offset and returns it in seconds.
func (r *timeReader) offset() int {
	sign := 1
	switch r.next() {
	case 'Z', 'z':
		r.letter('Z')
		return 0
	case '-':
		r.mark('-')
		sign = -1
	default:
		r.mark('+')
	}
	hours := r.digits(2)
	r.mark(':')
	minutes := r.digits(2)
	if hours > 23 || minutes > 59 {
		r.ok = false
	}
	return sign * (hours*60 + minutes) * 60
}
