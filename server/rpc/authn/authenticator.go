package authn

import (
	"context"
	"errors"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/peer"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

// Names of the metadata, and over REST of the headers, with which callers authenticate.
const (
	AuthorizationKey = "authorization"
	ClientIDKey      = "client-id"
	ActingUserKey    = "acting-user"
)

const (
	// maxAge is the maximum age of cached knowledge of a token: a revocation is
	// effective on every server after this time.
	maxAge = 2 * time.Second
	// cacheAge is the age up to which a cached token is used. The rest of maxAge is
	// left for slow look-ups.
	cacheAge = 1500 * time.Millisecond
	// lookupTimeout bounds a look-up. The result of a look-up may be as old as its
	// start.
	lookupTimeout = 1900 * time.Millisecond
	// maxLookups is how many look-ups one request waits for. The first look-up may be
	// one that another request began, and its result may be too old when it returns.
	maxLookups = 2
	// Known and unknown tokens are cached separately, so that a flood of made-up tokens
	// does not evict valid ones.
	knownTokens   = 20_000
	unknownTokens = 20_000
)

// Authenticator authenticates callers. For reads, its result may be as old as maxAge.
// Changes check the token again in their transaction.
type Authenticator struct {
	store   *store.Store
	known   *lru.Cache[digest.SHA256, knownToken]
	unknown *lru.Cache[digest.SHA256, time.Time]
	flights singleflight.Group
	// failures bounds the look-ups of secrets that do not exist.
	failures *peer.Failures
}

// knownToken is the state of a token at an instant.
type knownToken struct {
	row    *ent.Token
	scopes []string
	// asked is when the look-up began. skew is the database's time minus the local
	// time.
	asked time.Time
	skew  time.Duration
}

// NewAuthenticator returns an Authenticator that reads tokens from a store.
func NewAuthenticator(s *store.Store) *Authenticator {
	known, _ := lru.New[digest.SHA256, knownToken](knownTokens) // fails only for a size below 1
	unknown, _ := lru.New[digest.SHA256, time.Time](unknownTokens)
	failures := peer.NewFailures(func() time.Time { return s.Clock.Local().Time() })
	return &Authenticator{store: s, known: known, unknown: unknown, failures: failures}
}

// Authenticate returns the caller of a request, from the request's metadata. The
// function value returns the metadata values of a key. address is the address from which the
// request comes; empty if it comes from the server itself.
func (a *Authenticator) Authenticate(ctx context.Context, address string, value func(key string) []string) (*Caller, error) {
	text, err := bearer(value(AuthorizationKey))
	if err != nil {
		return nil, err
	}
	if err := checkToken(text); err != nil {
		return nil, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	token, err := a.lookUp(ctx, address, digest.Of(text))
	if err != nil {
		return nil, err
	}
	now := a.store.Clock.Local().Add(token.skew)
	if err := CheckValidity(token.row.RevokedAt, token.row.ExpiresAt, now); err != nil {
		return nil, err
	}
	switch clients := value(ClientIDKey); {
	case len(clients) == 0 || clients[0] == "":
		return nil, apierr.New(moderatov1.Reason_REASON_CLIENT_ID_MISSING)
	case len(clients) > 1 || clients[0] != token.row.ClientID:
		return nil, apierr.New(moderatov1.Reason_REASON_CLIENT_ID_MISMATCH)
	}
	return token.caller(value(ActingUserKey))
}

// CheckValidity returns an error if a token with these dates is not valid at an
// instant: TOKEN_INVALID if it is revoked, TOKEN_EXPIRED if it has expired.
func CheckValidity(revokedAt, expiresAt *instant.Instant, now instant.Instant) error {
	switch {
	case revokedAt != nil:
		return apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	case expiresAt != nil && *expiresAt <= now:
		return apierr.New(moderatov1.Reason_REASON_TOKEN_EXPIRED)
	}
	return nil
}

func (t *knownToken) caller(actingUser []string) (*Caller, error) {
	c := &Caller{Kind: Kind(t.row.Kind), ClientID: t.row.ClientID, Token: t.row.ID, ExpiresAt: t.row.ExpiresAt, scopes: t.scopes}
	if t.row.UserID != nil {
		c.UserID = *t.row.UserID
	}
	if c.Kind != Service || len(actingUser) == 0 {
		return c, nil
	}
	id, err := uid.Parse(actingUser[0])
	if err != nil || id.IsZero() || len(actingUser) > 1 {
		return nil, apierr.Invalid(apierr.Violation{
			Field: ActingUserKey, Description: "must be a UUID in its 36-character form",
		})
	}
	c.UserID = id
	return c, nil
}

func bearer(headers []string) (string, error) {
	if len(headers) != 1 {
		return "", apierr.New(moderatov1.Reason_REASON_TOKEN_MISSING)
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", apierr.New(moderatov1.Reason_REASON_TOKEN_MISSING)
	}
	return token, nil
}

func (a *Authenticator) lookUp(ctx context.Context, address string, d digest.SHA256) (knownToken, error) {
	token, isKnown := a.known.Get(d)
	if isKnown && time.Since(token.asked) < cacheAge {
		return token, nil
	}
	if asked, ok := a.unknown.Get(d); ok && time.Since(asked) < cacheAge {
		return knownToken{}, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if isKnown {
		return a.askAgain(ctx, d)
	}
	if err := a.MayLookUp(address); err != nil {
		return knownToken{}, err
	}
	token, err := a.askAgain(ctx, d)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)) {
		a.LookedUpInVain(address)
	}
	return token, err
}

// askAgain is ask, and asks again if the result is outdated when it arrives.
func (a *Authenticator) askAgain(ctx context.Context, d digest.SHA256) (knownToken, error) {
	for range maxLookups {
		token, err := a.ask(ctx, d)
		if err != nil || time.Since(token.asked) < maxAge {
			return token, err
		}
	}
	return knownToken{}, &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: errOutdated}
}

// MayLookUp bounds the look-ups of tokens and tickets from an address, because made-up ones cost
// a read of the database each. It returns RATE_LIMITED if too many were looked up in vain.
func (a *Authenticator) MayLookUp(address string) error {
	if address == "" {
		return nil
	}
	if wait := a.failures.Wait(address); wait > 0 {
		return &apierr.Error{
			Reason:     moderatov1.Reason_REASON_RATE_LIMITED,
			Message:    "Too many tokens from this network are unknown. Wait for the time in Retry-After.",
			RetryAfter: wait,
		}
	}
	return nil
}

// LookedUpInVain counts a token or ticket that does not exist.
func (a *Authenticator) LookedUpInVain(address string) {
	if address != "" {
		a.failures.Add(address)
	}
}

var errOutdated = errors.New("the token was read too slowly, so the result is out of date")

// ask looks a token up in the store. Concurrent requests for a token share one look-up,
// which continues if the first of them is cancelled.
func (a *Authenticator) ask(ctx context.Context, d digest.SHA256) (knownToken, error) {
	flight := a.flights.DoChan(string(d[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		return a.read(ctx, d)
	})
	select {
	case <-ctx.Done():
		return knownToken{}, ctx.Err()
	case result := <-flight:
		if result.Err != nil {
			return knownToken{}, result.Err
		}
		return result.Val.(knownToken), nil
	}
}

// unavailable classifies the error of a look-up. If the look-up timed out, the error is
// UNAVAILABLE: the store was too slow, and the call has not begun.
func (a *Authenticator) unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second, Cause: err}
	}
	return a.store.Classify(err)
}

func (a *Authenticator) read(ctx context.Context, d digest.SHA256) (knownToken, error) {
	asked := time.Now()
	row, err := a.store.Read.Token.Get(ctx, d)
	if ent.IsNotFound(err) {
		a.unknown.Add(d, asked)
		return knownToken{}, apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	}
	if err != nil {
		return knownToken{}, a.unavailable(ctx, err)
	}
	now, err := a.store.Clock.Now(ctx, a.store.Read)
	if err != nil {
		return knownToken{}, a.unavailable(ctx, err)
	}
	token := knownToken{row: row, scopes: strings.Fields(row.Scopes), asked: asked, skew: now.Sub(a.store.Clock.Local())}
	a.known.Add(d, token)
	return token, nil
}
