package jsonapi

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. It escapes the characters that JSON requires,
// and U+2028 and U+2029, which some JSON parsers treat as line ends. Bytes that are not
// UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0 // start of the part that is copied unchanged
	for i := plainPrefix(s); i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = append(b, s[start:i]...)
				b = appendEscape(b, c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, s[start:i]...)
			b = append(b, "\uFFFD"...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(b, s[start:i]...)
			b = append(b, `\u202`...)
			b = append(b, hexDigits[r&0xF])
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// plainPrefix returns the length of a prefix of s that is copied unchanged. Nearly all
// strings need no change, so it checks eight bytes at a time. The length is a multiple
// of eight.
func plainPrefix(s string) int {
	const (
		each = 0x0101010101010101 // multiplied by a byte: that byte in each of the eight
		high = 0x80 * each
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		eight := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// A subtraction borrows into the high bit of a byte that is less than the
		// subtrahend: a control character, or, after the exclusive or, an equal byte.
		other := eight | (eight - ' '*each) | ((eight ^ '"'*each) - each) | ((eight ^ '\\'*each) - each)
		if other&high != 0 {
			break
		}
	}
	return i
}

// appendEscape appends the escape of an ASCII character that a string cannot contain.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}

// appendFloat appends the shortest number that parses as f, in the notation of
// ECMAScript. Infinities and NaN, which JSON does not have, are null.
func appendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, bits)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-09 becomes e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
