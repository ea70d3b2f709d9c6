// Package cursor seals places in lists into opaque cursors. A cursor is encrypted and
// authenticated with a key of the platform, so that clients can neither forge a cursor
// nor read its content, such as the number of events of the platform.
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

// ErrInvalid is the error of a text that is not a cursor of the list for which it is
// used.
var ErrInvalid = errors.New("not a cursor of this list")

// ErrNoKey is the error of a store without keys.
var ErrNoKey = errors.New("there is no key for cursors; migrate the database")

const (
	// SecretSize is the size of a key's secret in bytes.
	SecretSize = 32

	idSize   = 2
	sealSize = 16
	// blockSize is the multiple in bytes to which a place is padded, so that the length
	// of a cursor reveals little about the place.
	blockSize = 16
	// maxLength bounds the length of a cursor in bytes; every valid cursor is shorter.
	maxLength = 1024

	// refreshInterval is the time after which the keys are read again, so that every
	// server soon uses a new key and rejects a deleted one.
	refreshInterval = 30 * time.Second
	// missInterval is the same when a cursor names an unknown key, which another server
	// may have created.
	missInterval = time.Second
	loadTimeout  = 2 * time.Second

	// minAge is the age from which a key is used to seal cursors, unless it is the
	// oldest key: at that age every server has read the key.
	minAge = refreshInterval + 15*time.Second
)

// Key is a key for cursors. Each cursor contains the id of its key.
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

// NewSealer returns a Sealer that uses the keys that load returns, oldest first.
func NewSealer(load func(context.Context) ([]Key, error)) *Sealer { return &Sealer{load: load} }

// keyring holds the keys that were read at one time.
type keyring struct {
	sealing *sealingKey // seals new cursors
	byID    map[uint16]*sealingKey
	read    time.Time
}

// sealingKey is a key with the keys that are derived from its secret.
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

// seal returns the synthetic initialization vector for a place (RFC 5297). It
// authenticates the place; equal places have equal cursors.
func (k *sealingKey) seal(list string, place []byte) []byte {
	mac := hmac.New(sha256.New, k.macKey)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(list)))
	mac.Write(length[:])
	mac.Write([]byte(list))
	mac.Write(place)
	return mac.Sum(nil)[:sealSize]
}

// Seal returns a cursor for a place in a list. list identifies the operation and its
// filters: the cursor is valid for no other list.
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

// Open decodes a cursor of a list into place. It returns ErrInvalid if the text is not a
// cursor of this list.
func (s *Sealer) Open(ctx context.Context, list, cursor string, place any) error {
	if len(cursor) > maxLength || strings.ContainsAny(cursor, "\r\n") { // the decoder would skip them
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

// key returns the key with an id. If the id is unknown, key reads the keys again, because
// the key may be new.
func (s *Sealer) key(ctx context.Context, id uint16) (*sealingKey, error) {
	ring, err := s.keyring(ctx)
	if err != nil {
		return nil, err
	}
	if k := ring.byID[id]; k != nil {
		return k, nil
	}
	s.loading.Lock() // a concurrent reader may find the key
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

// keyring returns the keys. It reads them again after refreshInterval. It returns the
// former keys while another caller is reading them, and when reading fails.
func (s *Sealer) keyring(ctx context.Context) (*keyring, error) {
	former := s.keys.Load()
	if former != nil && (time.Since(former.read) < refreshInterval || !s.loading.TryLock()) {
		return former, nil
	}
	if former == nil {
		s.loading.Lock()
	}
	defer s.loading.Unlock()
	if present := s.keys.Load(); present != former { // another caller was first
		return present, nil
	}
	ring, err := s.read(ctx)
	if err != nil {
		if former == nil {
			return nil, err
		}
		ring = &keyring{former.sealing, former.byID, time.Now()} // retried after refreshInterval
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
