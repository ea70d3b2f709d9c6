// Package uid holds the identifiers of users, channels, messages and events. They are
// UUIDs, stored as 16 bytes so that every database orders and compares them in the same
// way.
package uid

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// ID is a UUID. The zero value names nothing.
type ID [16]byte

// ErrSyntax is the error for a text that is not a UUID in its 36-character form.
var ErrSyntax = errors.New("not a UUID in its 36-character form")

// New returns an identifier that sorts after those made before it (UUIDv7), so that
// rows are inserted at the end of their table.
func New() ID { return ID(uuid.Must(uuid.NewV7())) }

// Parse parses the 36-character form, in upper or lower case.
func Parse(s string) (ID, error) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrSyntax
	}
	var compact [32]byte
	n := copy(compact[:], s[:8])
	n += copy(compact[n:], s[9:13])
	n += copy(compact[n:], s[14:18])
	n += copy(compact[n:], s[19:23])
	copy(compact[n:], s[24:])
	var id ID
	if _, err := hex.Decode(id[:], compact[:]); err != nil {
		return ID{}, ErrSyntax
	}
	return id, nil
}

// MustParse is Parse for texts that are known to be valid. It panics if they are not.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("uid: %q: %v", s, err))
	}
	return id
}

// String returns the 36-character form in lower case.
func (id ID) String() string {
	var b [36]byte
	hex.Encode(b[:8], id[:4])
	b[8] = '-'
	hex.Encode(b[9:13], id[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], id[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], id[8:10])
	b[23] = '-'
	hex.Encode(b[24:], id[10:])
	return string(b[:])
}

// Text returns the text of an ID that may be missing; nil for nil.
func Text(id *ID) *string {
	if id == nil {
		return nil
	}
	return new(id.String())
}

// Texts returns the texts of some IDs.
func Texts(ids []ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// IsZero reports whether the ID is the zero value.
func (id ID) IsZero() bool { return id == ID{} }

// Value returns the form of the ID in the database.
func (id ID) Value() (driver.Value, error) { return id[:], nil }

// Scan reads the form of the ID in the database.
func (id *ID) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != len(id) {
		return fmt.Errorf("uid: cannot read an ID from %T", src)
	}
	copy(id[:], b)
	return nil
}

// MarshalText returns the form of String, for JSON.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses a text as Parse does, for JSON.
func (id *ID) UnmarshalText(text []byte) error {
	var err error
	*id, err = Parse(string(text))
	return err
}
