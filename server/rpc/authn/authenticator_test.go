package authn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestAuthenticateReturnsCallerOfToken(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		a := authn.NewAuthenticator(s)
		for _, c := range []struct {
			name          string
			token         authn.NewToken
			actingUser    string
			user          uid.ID
			reads, writes bool
			accepted      [3]bool // where user, app and service tokens are
		}{
			{"user", authn.NewToken{Kind: authn.User, Scopes: []string{authn.UsersRead}}, "", servertest.Viewer, true, false, [3]bool{true, false, false}},
			{"user with an acting user", authn.NewToken{Kind: authn.User}, servertest.Owner.String(), servertest.Viewer, false, false, [3]bool{true, false, false}},
			{"app", authn.NewToken{Kind: authn.App, Scopes: authn.Scopes()}, "", uid.ID{}, true, true, [3]bool{false, true, false}},
			{"app with an acting user", authn.NewToken{Kind: authn.App}, servertest.Owner.String(), uid.ID{}, false, false, [3]bool{false, true, false}},
			{"service", authn.NewToken{Kind: authn.Service}, "", uid.ID{}, true, true, [3]bool{false, true, true}},
			{"service for a user", authn.NewToken{Kind: authn.Service}, servertest.Owner.String(), servertest.Owner, true, true, [3]bool{true, false, true}},
		} {
			text := issued(t, s, c.token)
			md := request(text)
			if c.actingUser != "" {
				md.Set(authn.ActingUserKey, c.actingUser)
			}
			got, err := a.Authenticate(context.Background(), "", md.Get)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if got.Kind != c.token.Kind || got.ClientID != client(c.token.Kind) || got.UserID != c.user || got.Token != digest.Of(text) {
				t.Errorf("%s: got %+v, want kind %s, client %s, user %s", c.name, got, c.token.Kind, client(c.token.Kind), c.user)
			}
			if got.ActsAsUser() == c.user.IsZero() {
				t.Errorf("%s: got ActsAsUser %t, want %t", c.name, got.ActsAsUser(), !c.user.IsZero())
			}
			if got.HasScope(authn.UsersRead) != c.reads || got.HasScope(authn.ChannelModerate) != c.writes || (c.token.Kind != authn.Service && got.HasScope("users")) {
				t.Errorf("%s: got the wrong scopes: %+v", c.name, got)
			}
			for i, kind := range []authn.Kind{authn.User, authn.App, authn.Service} {
				if is := got.IsAccepted([]authn.Kind{kind}); is != c.accepted[i] {
					t.Errorf("%s: where %s tokens are accepted: got %t, want %t", c.name, kind, is, c.accepted[i])
				}
			}
		}
	})
}

func TestBearerSchemeIgnoresCase(t *testing.T) {
	s := openWorld(t, storetest.SQLite(t))
	a := authn.NewAuthenticator(s)
	text := issued(t, s, authn.NewToken{Kind: authn.User})
	for _, header := range []string{"Bearer ", "bearer ", "BEARER ", "Bearer   "} {
		md := request(text)
		md.Set(authn.AuthorizationKey, header+text)
		if _, err := a.Authenticate(context.Background(), "", md.Get); err != nil {
			t.Errorf("%q and the token: %v", header, err)
		}
	}
}

func TestDamagedTokenIsRejectedWithoutLookup(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		good := issued(t, s, authn.NewToken{Kind: authn.User})
		s.Close() // any lookup fails
		a := authn.NewAuthenticator(s)
		for name, text := range damagedTokens() {
			if text == "" || strings.TrimSpace(text) != text {
				continue // no token at all, or a token with spaces around it
			}
			md := request(good)
			md.Set(authn.AuthorizationKey, "Bearer "+text)
			if _, err := a.Authenticate(context.Background(), "", md.Get); !errors.Is(err, errInvalid) {
				t.Errorf("%s: got %v, want TOKEN_INVALID", name, err)
			}
		}
		flipped := []byte(good)
		flipped[10]++
		if _, err := authenticate(a, string(flipped)); !errors.Is(err, errInvalid) {
			t.Errorf("one character changed: got %v, want TOKEN_INVALID", err)
		}
		if _, err := authenticate(a, good); err == nil || errors.Is(err, errInvalid) {
			t.Errorf("a good token that cannot be looked up: got %v, want another error", err)
		}
	})
}

func TestTokenIsInvalidFromExpirationOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		now := freeze(t, s)
		text := issued(t, s, authn.NewToken{Kind: authn.User, Lifetime: time.Hour})
		for _, c := range []struct {
			name string
			a    *authn.Authenticator
		}{
			{"read anew", authn.NewAuthenticator(s)},
			{"known already", authn.NewAuthenticator(s)},
		} {
			if c.name == "known already" {
				s.Clock.Freeze(now)
				if _, err := authenticate(c.a, text); err != nil {
					t.Errorf("%s, immediately: %v", c.name, err)
				}
			}
			s.Clock.Freeze(now.Add(time.Hour - time.Millisecond))
			if _, err := authenticate(c.a, text); err != nil {
				t.Errorf("%s, a millisecond before the end: %v", c.name, err)
			}
			s.Clock.Freeze(now.Add(time.Hour))
			if _, err := authenticate(c.a, text); !errors.Is(err, errExpired) {
				t.Errorf("%s, at the end: got %v, want TOKEN_EXPIRED", c.name, err)
			}
		}
	})
}

// inBubble runs a test with the World on SQLite in a synctest bubble; the clock of the
// store is frozen.
func inBubble(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	s := openWorld(t, storetest.SQLite(t))
	freeze(t, s)
	synctest.Test(t, func(t *testing.T) { test(t, s) })
}

func TestConcurrentFirstUsesShareOneLookup(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		answer := make(chan struct{})
		count := lookUps(s, func() error { <-answer; return nil })
		a := authn.NewAuthenticator(s)
		errs := make([]error, 50)
		var callers sync.WaitGroup
		for i := range errs {
			callers.Go(func() { _, errs[i] = authenticate(a, text) })
		}
		synctest.Wait() // all 50 wait for the lookup
		close(answer)
		callers.Wait()
		if err := errors.Join(errs...); err != nil || count.Load() != 1 {
			t.Errorf("got %d look-ups and %v, want 1 and no error", count.Load(), err)
		}
	})
}

func TestLookupContinuesWhenFirstCallerCancels(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		answer := make(chan struct{})
		count := lookUps(s, func() error { <-answer; return nil })
		a := authn.NewAuthenticator(s)
		ctx, giveUp := context.WithCancel(context.Background())
		var first, second error
		var callers sync.WaitGroup
		callers.Go(func() { _, first = a.Authenticate(ctx, "", request(text).Get) })
		synctest.Wait()
		callers.Go(func() { _, second = authenticate(a, text) })
		synctest.Wait()
		giveUp()
		synctest.Wait()
		close(answer)
		callers.Wait()
		if !errors.Is(first, context.Canceled) || second != nil || count.Load() != 1 {
			t.Errorf("got %v, %v and %d look-ups, want %v, no error and 1", first, second, count.Load(), context.Canceled)
		}
	})
}

func TestFailedLookupIsNotCached(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		broken := errors.New("broken")
		fail := broken
		lookUps(s, func() error { return fail })
		a := authn.NewAuthenticator(s)
		if _, err := authenticate(a, text); !errors.Is(err, broken) {
			t.Errorf("got %v, want the store's error", err)
		}
		fail = nil
		if _, err := authenticate(a, text); err != nil {
			t.Errorf("when the store is back: %v", err)
		}
	})
}

func TestCachedTokenIsRefreshedWithin2s(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		count := lookUps(s, nil)
		a := authn.NewAuthenticator(s)
		for range 100 {
			if _, err := authenticate(a, text); err != nil {
				t.Fatal(err)
			}
		}
		if count.Load() != 1 {
			t.Errorf("100 concurrent uses: got %d look-ups, want 1", count.Load())
		}
		if _, err := authn.Revoke(context.Background(), s, text, nil); err != nil {
			t.Fatal(err)
		}
		revoked := time.Now()
		for {
			_, err := authenticate(a, text) // using the token does not extend its lifetime in the cache
			if errors.Is(err, errInvalid) {
				break
			}
			if elapsed := time.Since(revoked); err != nil || elapsed >= 2*time.Second {
				t.Fatalf("got %v %s after the revocation, want TOKEN_INVALID within 2s", err, elapsed)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if count.Load() != 2 {
			t.Errorf("got %d look-ups, want 2", count.Load())
		}
	})
}

// TestLookupFromBeforeRevocationIsDiscarded has a lookup read the token and return 4 s
// later. Meanwhile the token is revoked, and other callers join the lookup.
func TestLookupFromBeforeRevocationIsDiscarded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		isFirst := true
		s.Read.Token.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
			return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
				value, err := next.Query(ctx, q)
				if isFirst {
					isFirst = false
					time.Sleep(4 * time.Second) // ignores the context
					return value, err
				}
				return value, err
			})
		}))
		a := authn.NewAuthenticator(s)
		var first, joined error
		var callers sync.WaitGroup
		callers.Go(func() { _, first = authenticate(a, text) })
		time.Sleep(time.Second)
		err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Token.UpdateOneID(digest.Of(text)).SetRevokedAt(1).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2900 * time.Millisecond)
		callers.Go(func() { _, joined = authenticate(a, text) })
		callers.Wait()
		for name, err := range map[string]error{"the first": first, "one that joined": joined} {
			if !errors.Is(err, errInvalid) && !errors.Is(err, apierr.New(moderatov1.Reason_REASON_UNAVAILABLE)) {
				t.Errorf("%s: got %v, want that the token is refused", name, err)
			}
		}
	})
}

func TestUnknownTokenIsCached(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		ctx := context.Background()
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		row := storetest.Must(s.Read.Token.Get(ctx, digest.Of(text)))
		write := func(body func(tx *ent.Tx) error) {
			t.Helper()
			err := s.Write(ctx, func(_ context.Context, tx *ent.Tx, _ store.Attempt) error { return body(tx) })
			if err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx *ent.Tx) error { return tx.Token.DeleteOne(row).Exec(ctx) })
		count := lookUps(s, nil)
		a := authn.NewAuthenticator(s)
		for range 100 {
			if _, err := authenticate(a, text); !errors.Is(err, errInvalid) {
				t.Fatalf("got %v, want TOKEN_INVALID", err)
			}
		}
		if count.Load() != 1 {
			t.Errorf("100 uses of an unknown token: got %d look-ups, want 1", count.Load())
		}
		write(func(tx *ent.Tx) error {
			return tx.Token.Create().SetID(row.ID).SetKind(row.Kind).SetClientID(row.ClientID).SetUserID(*row.UserID).
				SetScopes(row.Scopes).SetIssuedAt(row.IssuedAt).SetNillableExpiresAt(row.ExpiresAt).Exec(ctx)
		})
		time.Sleep(2 * time.Second)
		if _, err := authenticate(a, text); err != nil {
			t.Errorf("2s after it became known: %v", err)
		}
	})
}

func TestUnknownTokensDoNotEvictValidTokens(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Store) {
		text := issued(t, s, authn.NewToken{Kind: authn.User})
		unknown := errors.New("only one look-up is real")
		real := true
		count := lookUps(s, func() error {
			if real {
				return nil
			}
			return unknown
		})
		a := authn.NewAuthenticator(s)
		if _, err := authenticate(a, text); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := authenticate(a, sealed(fmt.Sprintf("mdu_%030d", i))); !errors.Is(err, errInvalid) {
				t.Fatalf("got %v, want TOKEN_INVALID", err)
			}
		}
		real = false
		if _, err := authenticate(a, text); err != nil || count.Load() != 101 {
			t.Errorf("got %v and %d look-ups, want no error and 101", err, count.Load())
		}
	})
}
