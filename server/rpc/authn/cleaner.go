package authn

import (
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// cleanInterval is how often expired tokens are removed.
	cleanInterval = time.Minute
	// keptAfterExpiry is how long an expired token is stored. During that time its
	// holder gets TOKEN_EXPIRED, and afterwards TOKEN_INVALID.
	keptAfterExpiry = 24 * time.Hour
)

// ExpireTokens returns the job that removes expired tokens.
func ExpireTokens(s *store.Store) jobs.Job {
	return jobs.Expire(s, "remove expired tokens", "tokens", "expires_at", keptAfterExpiry, cleanInterval)
}
