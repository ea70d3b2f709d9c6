// Package cursor seals places in lists into opaque cursors. A cursor is encrypted and
// authenticated with a key of the platform's: nobody can forge one, and what it holds
// (such as how many events the platform has) shows to nobody.
package cursor

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrInvalid is the error of a text that is no cursor of the list for which it is
// used.
var ErrInvalid = errors.New("not a cursor of this list")

// ErrNoKey is the error of a store that has no key.
var ErrNoKey = errors.New("there is no key for cursors; migrate the database")

const (
	// SecretSize is the size of a key's secret in bytes.
	SecretSize = 32

	idSize   = 2
	sealSize = 16
	// blockSize is what the length of a place is rounded up to, so that the length of a
	// cursor tells little about it.
	blockSize = 16
	// maxLength is longer than any cursor is.
	maxLength = 1024

	// refreshInterval is after how long the keys are read again: a new one is soon used
	// on every server, and a deleted one is soon refused.
	refreshInterval = 30 * time.Second
	// missInterval is the same when a cursor names an unknown key, which may be a new
	// one of another server's.
	missInterval = time.Second
	loadTimeout  = 2 * time.Second

	// minAge is how old a key must be before cursors are sealed with it, if there is
	// another: by then every server has read it.
	minAge = refreshInterval + 15*time.Second
)

// Key is a key for cursors. Its id is written into each cursor.
type Key struct {
	ID     uint16
	Secret []byte
	// Age is how long ago the key was created.
	Age time.Duration
}

// Sealer seals and opens cursors. Its methods may be called concurrently.
type Sealer struct {
	load func(context.Context) ([]Key, error)

	keys    atomic.Pointer[keyring]
	loading sync.Mutex
}

// NewSealer returns a Sealer over the keys that load reads, oldest first.
func NewSealer(load func(context.Context) ([]Key, error)) *Sealer { return &Sealer{load: load} }

// keyring is the keys as they were at a time.
type keyring struct {
	sealing *sealingKey // with which cursors are sealed
	byID    map[uint16]*sealingKey
	read    time.Time
}

// sealingKey is a key with what is derived from its secret.
type sealingKey struct {
	id      uint16
	macKey  []byte
	encrypt cipher.Block
}

func newSealingKey(k Key) (*sealingKey, error) {
	derive := func(purpose string) ([]byte, error) {
		return hkdf.Key(sha256.New, k.Secret, nil, "moderato cursor "+purpose, SecretSize)
	}
	macKey, err := derive("authentication")
	if err != nil {
		return nil, err
	}
	encryptionKey, err := derive("encryption")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(encryptionKey)
	if err != nil {
		return nil, err
	}
	return &sealingKey{k.ID, macKey, block}, nil
}

// seal returns the synthetic initialization vector for a place (RFC 5297): it
// authenticates the place, and places that are equal have equal cursors.
func (k *sealingKey) seal(list string, place []byte) []byte {
	mac := hmac.New(sha256.New, k.macKey)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(list)))
	mac.Write(length[:])
	mac.Write([]byte(list))
	mac.Write(place)
	return mac.Sum(nil)[:sealSize]
}

// Seal makes a cursor of a place in a list. list names the operation and its filters:
// the cursor is good for nothing else.
func (s *Sealer) Seal(ctx context.Context, list string, place any) (string, error) {
	body, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("cursor: %w", err)
	}
	ring, err := s.keyring(ctx)
	if err != nil {
		return "", err
	}
	for len(body)%blockSize != 0 {
		body = append(body, ' ')
	}
	k := ring.sealing
	sealed := binary.BigEndian.AppendUint16(make([]byte, 0, idSize+sealSize+len(body)), k.id)
	sealed = append(sealed, k.seal(list, body)...)
	cipher.NewCTR(k.encrypt, sealed[idSize:]).XORKeyStream(body, body)
	return base64.RawURLEncoding.EncodeToString(append(sealed, body...)), nil
}

// Open reads a cursor of a list into place. Its error is ErrInvalid if the text is no
// cursor of this list.
func (s *Sealer) Open(ctx context.Context, list, cursor string, place any) error {
	if len(cursor) > maxLength || strings.ContainsAny(cursor, "\r\n") { // which the decoder would skip
		return ErrInvalid
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(data) < idSize+sealSize {
		return ErrInvalid
	}
	k, err := s.key(ctx, binary.BigEndian.Uint16(data))
	if err != nil {
		return err
	}
	sealed, body := data[idSize:idSize+sealSize], data[idSize+sealSize:]
	cipher.NewCTR(k.encrypt, sealed).XORKeyStream(body, body)
	if !hmac.Equal(sealed, k.seal(list, body)) || json.Unmarshal(bytes.TrimRight(body, " "), place) != nil {
		return ErrInvalid
	}
	return nil
}

// key returns the key with an id. An unknown one may be new.
func (s *Sealer) key(ctx context.Context, id uint16) (*sealingKey, error) {
	ring, err := s.keyring(ctx)
	if err != nil {
		return nil, err
	}
	if k := ring.byID[id]; k != nil {
		return k, nil
	}
	s.loading.Lock() // whoever reads the keys now may find it
	defer s.loading.Unlock()
	if ring = s.keys.Load(); time.Since(ring.read) >= missInterval {
		if ring, err = s.read(ctx); err != nil {
			return nil, err
		}
		s.keys.Store(ring)
	}
	if k := ring.byID[id]; k != nil {
		return k, nil
	}
	return nil, ErrInvalid
}

// keyring returns the keys. They are read again after a while; where others read them
// already, or reading fails, the former ones do.
func (s *Sealer) keyring(ctx context.Context) (*keyring, error) {
	former := s.keys.Load()
	if former != nil && (time.Since(former.read) < refreshInterval || !s.loading.TryLock()) {
		return former, nil
	}
	if former == nil {
		s.loading.Lock()
	}
	defer s.loading.Unlock()
	if present := s.keys.Load(); present != former { // somebody was first
		return present, nil
	}
	ring, err := s.read(ctx)
	if err != nil {
		if former == nil {
			return nil, err
		}
		ring = &keyring{former.sealing, former.byID, time.Now()} // and is tried again later
	}
	s.keys.Store(ring)
	return ring, nil
}

func (s *Sealer) read(ctx context.Context) (*keyring, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	keys, err := s.load(ctx)
	if err == nil && len(keys) == 0 {
		err = ErrNoKey
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys for cursors: %w", err)
	}
	ring := &keyring{byID: map[uint16]*sealingKey{}, read: time.Now()}
	for _, key := range keys { // the oldest first
		k, err := newSealingKey(key)
		if err != nil {
			return nil, err
		}
		ring.byID[k.id] = k
		if ring.sealing == nil || key.Age >= minAge {
			ring.sealing = k
		}
	}
	return ring, nil
}
