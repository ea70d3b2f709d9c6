// Package secrets makes and checks the texts of tokens and other secrets: a prefix that names
// the kind, random characters, and a checksum. The checksum lets the server refuse a damaged
// secret without a look-up, and lets a secret scanner recognise one.
package secrets

import (
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"
)

// PrefixLength is the length of the prefixes.
const PrefixLength = 4

const (
	randomLength   = 30 // base62: 178 bits
	checksumLength = 6
	maxLength      = 255
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// New returns a new secret with a prefix.
func New(prefix string) (string, error) {
	var random strings.Builder
	for range randomLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", err
		}
		random.WriteByte(base62[n.Int64()])
	}
	body := prefix + random.String()
	sum := checksum(body)
	return body + string(sum[:]), nil
}

// IsWhole reports whether a text has the form of a secret, and its checksum.
func IsWhole(text string) bool {
	if len(text) < PrefixLength+randomLength+checksumLength || len(text) > maxLength {
		return false
	}
	for i := PrefixLength; i < len(text); i++ {
		if !isBase62(text[i]) {
			return false
		}
	}
	body := text[:len(text)-checksumLength]
	sum := checksum(body)
	return string(sum[:]) == text[len(body):]
}

func isBase62(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// checksum returns the CRC-32 of a secret's body in base62, as in the tokens of other
// platforms.
func checksum(body string) [checksumLength]byte {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [checksumLength]byte
	for i := range out {
		out[len(out)-1-i] = base62[sum%62]
		sum /= 62
	}
	return out
}
