package jsonapi

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of objects and arrays. Empty arrays, and empty
// objects that are not messages, do not count: they are written for fields that are not
// set, and a message that was read must be readable after it is written.
const maxDepth = 32

// syntaxError reports why a text is not JSON, or not JSON that this package accepts. It
// ends the decoding.
type syntaxError struct {
	description string
	before      []byte // the text up to the error, which is valid UTF-8
}

// Error returns the description and the position. It counts lines and characters from 1, as
// people and editors do.
func (e *syntaxError) Error() string {
	line := bytes.Count(e.before, []byte("\n")) + 1
	column := utf8.RuneCount(e.before[bytes.LastIndexByte(e.before, '\n')+1:]) + 1
	return e.description + " (line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column) + ")"
}

// scanner reads JSON as defined by RFC 8259. Its errors are of type *syntaxError.
type scanner struct {
	data  []byte // valid UTF-8
	pos   int
	depth int
}

func (s *scanner) fail(description string) error {
	return &syntaxError{description: description, before: s.data[:s.pos]}
}

// atEnd reports whether only white space is left. It consumes the white space.
func (s *scanner) atEnd() bool {
	s.peek()
	return s.pos == len(s.data)
}

// peek consumes white space and returns the byte after it, or 0 at the end. That byte
// determines the type of a value.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take consumes white space, and then the byte c if it is next. It reports whether it
// consumed c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.pos == len(s.data) {
		return false
	}
	s.pos++
	return true
}

// literal consumes word, which is null, true or false.
func (s *scanner) literal(word string) error {
	s.peek()
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail(descSyntax)
	}
	s.pos += len(word)
	return nil
}

// number consumes a number and returns its text.
func (s *scanner) number() ([]byte, error) {
	s.peek()
	start := s.pos
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return nil, s.fail(descSyntax)
	}
	if s.accept('.') && !s.digits() {
		return nil, s.fail(descSyntax)
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if !s.digits() {
			return nil, s.fail(descSyntax)
		}
	}
	return s.data[start:s.pos], nil
}

// accept consumes the byte c if it is next, without white space before it. It reports
// whether it consumed c.
func (s *scanner) accept(c byte) bool {
	if s.pos == len(s.data) || s.data[s.pos] != c {
		return false
	}
	s.pos++
	return true
}

// digits consumes decimal digits and reports whether there was at least one.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// text consumes a string and returns its unescaped text, which may share memory with
// the data.
func (s *scanner) text() ([]byte, error) {
	if !s.take('"') {
		return nil, s.fail(descSyntax)
	}
	start := s.pos
	var unescaped []byte // nil before the first escape
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			part := s.data[start:s.pos]
			s.pos++
			if unescaped == nil {
				return part, nil
			}
			return append(unescaped, part...), nil
		case c == '\\':
			unescaped = append(unescaped, s.data[start:s.pos]...)
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			unescaped = utf8.AppendRune(unescaped, r)
			start = s.pos
		case c < ' ':
			return nil, s.fail(descSyntax)
		default:
			s.pos++
		}
	}
	return nil, s.fail(descSyntax)
}

// escape consumes an escape and returns its character. For a surrogate pair, it
// consumes both escapes.
func (s *scanner) escape() (rune, error) {
	begin := s.pos
	s.pos++ // the backslash
	if s.pos == len(s.data) {
		return 0, s.fail(descSyntax)
	}
	c := s.data[s.pos]
	s.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
	default:
		s.pos--
		return 0, s.fail(descSyntax)
	}
	r, err := s.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	// Text that is not Unicode cannot be stored or sent.
	lone := &syntaxError{description: descUnicode, before: s.data[:begin]}
	if !bytes.HasPrefix(s.data[s.pos:], []byte(`\u`)) {
		return 0, lone
	}
	s.pos += len(`\u`)
	low, err := s.hex()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, lone
	}
	return r, nil
}

// hex consumes the four digits of a \u escape and returns their value.
func (s *scanner) hex() (rune, error) {
	var r rune
	for range 4 {
		if s.pos == len(s.data) {
			return 0, s.fail(descSyntax)
		}
		var digit byte
		switch c := s.data[s.pos]; {
		case '0' <= c && c <= '9':
			digit = c - '0'
		case 'a' <= c && c <= 'f':
			digit = c - 'a' + 10
		case 'A' <= c && c <= 'F':
			digit = c - 'A' + 10
		default:
			return 0, s.fail(descSyntax)
		}
		r = r<<4 | rune(digit)
		s.pos++
	}
	return r, nil
}

// object consumes an object. It calls member after each key and its colon. member must
// consume the value.
func (s *scanner) object(member func(key []byte) error) error {
	return s.sequence('{', '}', func(int) error {
		key, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.fail(descSyntax)
		}
		return member(key)
	})
}

// array consumes an array. It calls element before each element. element must consume
// the element.
func (s *scanner) array(element func(index int) error) error {
	return s.sequence('[', ']', element)
}

// sequence consumes two brackets and the items between them, separated by commas. item
// must consume one item.
func (s *scanner) sequence(opening, closing byte, item func(index int) error) error {
	if !s.take(opening) {
		return s.fail(descSyntax)
	}
	if s.take(closing) {
		return nil
	}
	if s.depth == maxDepth {
		return s.fail(descDepth)
	}
	s.depth++
	for index := 0; ; index++ {
		s.peek() // so that errors point after the white space
		if err := item(index); err != nil {
			return err
		}
		if s.take(closing) {
			s.depth--
			return nil
		}
		if !s.take(',') {
			return s.fail(descSyntax)
		}
	}
}

// skip consumes a value of any type.
func (s *scanner) skip() error {
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skip() })
	case '[':
		return s.array(func(int) error { return s.skip() })
	case '"':
		_, err := s.text()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		_, err := s.number()
		return err
	}
}
