package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// ErrCursor is a text that is no cursor of the list for which it is used.
var ErrCursor = errors.New("not a cursor of this list")

const cursorSeal = 8

// EncodeCursor makes an opaque cursor of a place in a list. list names the
// operation and what it is filtered by: elsewhere the cursor is no good.
func EncodeCursor(list string, place any) (string, error) {
	body, err := json.Marshal(place)
	if err != nil {
		return "", errors.Join(ErrCursor, err)
	}
	return base64.RawURLEncoding.EncodeToString(append(seal(list, body), body...)), nil
}

// DecodeCursor reads a cursor of a list into place; ErrCursor if it is none.
func DecodeCursor(list, cursor string, place any) error {
	if strings.ContainsAny(cursor, "\r\n") { // which the decoder would skip
		return ErrCursor
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(data) < cursorSeal {
		return ErrCursor
	}
	body := data[cursorSeal:]
	if !bytes.Equal(data[:cursorSeal], seal(list, body)) || json.Unmarshal(body, place) != nil {
		return ErrCursor
	}
	return nil
}

// seal tells a damaged or foreign cursor from a good one. It is no secret: a
// cursor holds only what its rows showed.
func seal(list string, body []byte) []byte {
	h := sha256.New()
	h.Write([]byte(list))
	h.Write([]byte{0})
	h.Write(body)
	return h.Sum(nil)[:cursorSeal]
}
