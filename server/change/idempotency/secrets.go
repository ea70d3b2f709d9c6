package idempotency

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// parse returns the idempotency key that a caller sent.
func parse(sent []string) (string, error) {
	invisible := func(r rune) bool { return r < '!' || r > '~' }
	description := ""
	switch {
	case len(sent) != 1:
		description = fmt.Sprintf("must be given once, but is given %d times", len(sent))
	case sent[0] == "":
		description = "must not be empty"
	case len(sent[0]) > maxKeyLength:
		description = fmt.Sprintf("has %d characters, but must have at most %d", len(sent[0]), maxKeyLength)
	case strings.ContainsFunc(sent[0], invisible):
		at := strings.IndexFunc(sent[0], invisible) + 1 // what is before it is ASCII
		description = fmt.Sprintf("must consist of visible ASCII characters, without spaces; character %d is another one", at)
	default:
		return sent[0], nil
	}
	return "", apierr.Invalid(apierr.Violation{Field: MetadataKey, Description: description})
}

// secrets is what is derived from an idempotency key, the client, the user and the method.
// Only the id is stored, from which neither the key nor the other two can be computed. So
// the stored row reveals nothing: a response can contain a new token, or the name of a user
// who is erased meanwhile.
type secrets struct {
	id     digest.SHA256
	mac    []byte
	cipher cipher.AEAD
}

func deriveSecrets(key, clientID string, userID uid.ID, method string) (secrets, error) {
	info := strings.Join([]string{"moderato idempotency", clientID, userID.String(), method}, "\x00")
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, info, 3*sha256.Size)
	if err != nil {
		return secrets{}, fmt.Errorf("idempotency: %w", err)
	}
	s := secrets{mac: derived[sha256.Size : 2*sha256.Size]}
	copy(s.id[:], derived)
	block, err := aes.NewCipher(derived[2*sha256.Size:])
	if err == nil {
		s.cipher, err = cipher.NewGCMWithRandomNonce(block)
	}
	return s, err
}

// digestOf returns the digest of the arguments of a call.
func (s *secrets) digestOf(arguments []byte) (d digest.SHA256) {
	mac := hmac.New(sha256.New, s.mac)
	mac.Write(arguments)
	mac.Sum(d[:0])
	return d
}

// seal encrypts the response to a request.
func (s *secrets) seal(response []byte, request digest.SHA256) []byte {
	return s.cipher.Seal(nil, nil, response, request[:])
}

// errDamaged is the error for a stored response that this package did not store so.
var errDamaged = errors.New("idempotency: the stored response is damaged")

// open decrypts the response to a request.
func (s *secrets) open(sealed []byte, request digest.SHA256) ([]byte, error) {
	response, err := s.cipher.Open(nil, nil, sealed, request[:])
	if err != nil {
		return nil, errDamaged
	}
	return response, nil
}

// method is a method of the contract.
type method struct {
	name   string
	output protoreflect.MessageType
}

// methodOf returns the method with a full name as gRPC has it.
func methodOf(name string) (*method, error) {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", ".")))
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	declared, ok := d.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("idempotency: %s is not a method", name)
	}
	output, err := protoregistry.GlobalTypes.FindMessageByName(declared.Output().FullName())
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return &method{name, output}, nil
}
