package jsonapi

import (
	"strconv"
	"strings"
	"unicode"
)

// Descriptions of what is wrong with a text or a value. A description never contains a
// value, which may be a secret.
const (
	descEmpty     = "a JSON object is required"
	descNotObject = "must be a JSON object"
	descTrailing  = "must be a single JSON object, without anything after it"
	descSyntax    = "is not well-formed JSON"
	descUnicode   = "is not valid Unicode"
	descDepth     = "is nested deeper than 32 levels"

	descDuplicate = "is given more than once"
	descUnknown   = "is not a known field"

	descString    = "must be a string"
	descBytes     = "must be a base64 string"
	descInteger   = "must be an integer"
	descNumber    = "must be a number"
	descBool      = "must be true or false"
	descObject    = "must be an object"
	descArray     = "must be an array"
	descTimestamp = "must be a timestamp such as 2026-01-31T18:00:00.000Z"
)

// Violation is one mistake in a text.
type Violation struct {
	// Field is the path of the field as the client wrote it, such as "banUserId",
	// "user.displayName" or "scopes[2]". It is empty for the text as a whole.
	Field string
	// Description says what is wrong. It continues the sentence that Field begins.
	Description string
}

// Error reports why a text was refused. It lists all violations, in the order of the
// text, but at most the first hundred violations of single fields, so that the response
// to a text stays small.
type Error struct {
	Violations []Violation
}

// Error returns the violations in one line.
func (e *Error) Error() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i > 0 {
			b.WriteString("; ")
		}
		switch {
		case v.Field != "":
			b.WriteString(strings.Map(printable, v.Field))
			b.WriteByte(' ')
		case v.Description != descEmpty:
			b.WriteString("the text ")
		}
		b.WriteString(v.Description)
	}
	return b.String()
}

// printable replaces a character that is not printable. Clients choose unknown keys,
// which must not break the line.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// step is one step of a path: the name of a member of an object, or the index
// of an element of an array.
type step struct {
	name  string
	index int // -1 for a name
}

const (
	// maxName is how many characters of a key a path shows. Field names are shorter;
	// unknown keys may be longer.
	maxName = 64
	// maxPath is the length in bytes after which a path ends in an ellipsis, so that a
	// violation costs little, however deeply its field is nested.
	maxPath = 256
)

// pathText returns a path as text, such as "user.scopes[2]".
func pathText(path []step) string {
	var b []byte
	for i, s := range path {
		if len(b) > maxPath {
			b = append(b, "…"...)
			break
		}
		if s.index >= 0 {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			continue
		}
		if i > 0 {
			b = append(b, '.')
		}
		if s.name == "" {
			b = append(b, `""`...) // otherwise it would look like the text as a whole
			continue
		}
		b = append(b, cut(s.name)...)
	}
	return string(b)
}

// cut returns s, or its first maxName characters and an ellipsis if it is longer.
func cut(s string) string {
	count := 0
	for i := range s {
		if count == maxName {
			return s[:i] + "…"
		}
		count++
	}
	return s
}
