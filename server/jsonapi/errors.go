package jsonapi

import (
	"strconv"
	"strings"
	"unicode"
)

// What is wrong with a text or a value. Descriptions never repeat a value,
// which may be a secret.
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

// Violation is one thing that is wrong.
type Violation struct {
	// Field is the path of the field as the client wrote it, such as
	// "banUserId", "user.displayName" or "scopes[2]". It is empty for the text
	// as a whole.
	Field string
	// Description continues the sentence that Field begins.
	Description string
}

// Error is why a text was refused: all that is wrong with it, in the order of
// the text. At most the first hundred violations of single fields are listed,
// so that the answer to a text stays small.
type Error struct {
	Violations []Violation
}

// Error is the violations in one line.
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

// printable keeps unknown keys, which clients choose, from breaking the line.
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
	// maxName is how many characters of a key a path shows. Names of fields are
	// shorter; unknown keys need not be.
	maxName = 64
	// maxPath is the length in bytes after which a path ends in an ellipsis: a
	// violation costs little, however deep its field lies.
	maxPath = 256
)

// pathText writes a path as in "user.scopes[2]".
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
			b = append(b, `""`...) // else it would look like the text as a whole
			continue
		}
		b = append(b, cut(s.name)...)
	}
	return string(b)
}

// cut is s, or its beginning and an ellipsis.
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
