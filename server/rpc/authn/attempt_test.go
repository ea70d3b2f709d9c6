package authn_test

import (
	"context"
	"errors"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestMadeUpTokensAreLookedUpAtABoundedRate sends made-up tokens whose checksum is right. The
// tokens that are in use at the same address, and other addresses, are not affected.
func TestMadeUpTokensAreLookedUpAtABoundedRate(t *testing.T) {
	s := openWorld(t, storetest.SQLite(t))
	freeze(t, s)
	a := authn.NewAuthenticator(s)
	inUse, fresh := issued(t, s, authn.NewToken{Kind: authn.User}), issued(t, s, authn.NewToken{Kind: authn.User})
	from := func(address, text string) error {
		_, err := a.Authenticate(context.Background(), address, request(text).Get)
		return err
	}
	if err := from("192.0.2.1:1024", inUse); err != nil {
		t.Fatal(err)
	}
	count := lookUps(s, nil)
	limited := apierr.New(moderatov1.Reason_REASON_RATE_LIMITED)
	const attempts = 300
	for i := range attempts {
		text, err := authn.NewText(authn.User)
		if err != nil {
			t.Fatal(err)
		}
		if err := from("192.0.2.1:1024", text); !errors.Is(err, errInvalid) && !errors.Is(err, limited) || i < 50 && errors.Is(err, limited) {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	if got := count.Load(); got != 100 {
		t.Errorf("%d made-up tokens cost %d look-ups, want 100", attempts, got)
	}
	if err := from("192.0.2.1:1024", fresh); !errors.Is(err, limited) {
		t.Errorf("a token that was never seen: got %v, want RATE_LIMITED", err)
	}
	if err := from("192.0.2.1:1024", inUse); err != nil {
		t.Errorf("a token in use: %v", err)
	}
	if err := from("192.0.2.2:1024", fresh); err != nil {
		t.Errorf("another address: %v", err)
	}
}
