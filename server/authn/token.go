// Package authn authenticates callers. It holds tokens, clients, and the caller of a
// request.
package authn

import (
	"crypto/rand"
	"errors"
	"hash/crc32"
	"math/big"
	"strings"
)

// Kind is a kind of token.
type Kind string

// The kinds of token, each with its prefix.
const (
	User    Kind = "user"    // acts as a signed-in user
	App     Kind = "app"     // acts as the application
	Service Kind = "service" // one of the platform's own backends
)

var prefixes = map[Kind]string{User: "mdu_", App: "mda_", Service: "mds_"}

// Scopes that a token can have.
const (
	UsersRead       = "users.read"
	ChannelModerate = "channel.moderate"
)

// Scopes returns all scopes.
func Scopes() []string { return []string{UsersRead, ChannelModerate} }

const (
	prefixLength   = 4
	secretLength   = 30 // base62: 178 bits
	checksumLength = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var errDamaged = errors.New("not an access token")

// newToken returns the text of a new token: a prefix, random characters, and a
// checksum. The checksum lets the server refuse a damaged token without a look-up, and
// lets a secret scanner recognise a token.
func newToken(kind Kind) (string, error) { return newText(prefixes[kind]) }

// newText returns a new text of the form of a token.
func newText(prefix string) (string, error) {
	var secret strings.Builder
	for range secretLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", err
		}
		secret.WriteByte(base62[n.Int64()])
	}
	body := prefix + secret.String()
	sum := checksum(body)
	return body + string(sum[:]), nil
}

// checkToken returns an error if a text does not have the form of a token. It runs on
// every call.
func checkToken(text string) error {
	if len(text) < prefixLength || !isPrefix(text[:prefixLength]) {
		return errDamaged
	}
	return checkText(text)
}

// checkText returns an error if a text does not have the form of a token, whatever its
// prefix is.
func checkText(text string) error {
	if len(text) < prefixLength+secretLength+checksumLength || len(text) > 255 {
		return errDamaged
	}
	for i := prefixLength; i < len(text); i++ {
		if !isBase62(text[i]) {
			return errDamaged
		}
	}
	body := text[:len(text)-checksumLength]
	if sum := checksum(body); string(sum[:]) != text[len(body):] {
		return errDamaged
	}
	return nil
}

func isPrefix(text string) bool {
	return text == prefixes[User] || text == prefixes[App] || text == prefixes[Service]
}

func isBase62(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// checksum returns the CRC-32 of a token's body in base62, as in the tokens of other
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
