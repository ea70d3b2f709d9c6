// Package digest holds SHA-256 digests as they are stored.
package digest

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
)

// SHA256 is a digest of 32 bytes.
type SHA256 [sha256.Size]byte

// Of returns the digest of a text.
func Of(text string) SHA256 { return sha256.Sum256([]byte(text)) }

// Value returns the form of the digest in the database.
func (d SHA256) Value() (driver.Value, error) { return d[:], nil }

// Scan reads the form of the digest in the database.
func (d *SHA256) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != len(d) {
		return fmt.Errorf("digest: cannot read a SHA-256 from %T", src)
	}
	copy(d[:], b)
	return nil
}
