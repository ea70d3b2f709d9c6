package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// newSecret returns a new key in the format of Standard Webhooks.
func newSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// sign returns the signature of a delivery with a secret.
func sign(secret, id string, at instant.Instant, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return "", fmt.Errorf("the secret of the webhook: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, at.Time().Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// signatures returns the signatures with all secrets of a webhook that are valid at an
// instant.
func signatures(w *ent.Webhook, id string, at instant.Instant, body []byte) (string, error) {
	all, err := sign(w.Secret, id, at, body)
	if err != nil || w.FormerUntil == nil || at >= *w.FormerUntil {
		return all, err
	}
	former, err := sign(w.FormerSecret, id, at, body)
	return all + " " + former, err
}
