package signin

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/fair"
)

// newHandler returns a handler whose limits allow perMinute requests of an address.
func newHandler(perMinute int) *handler {
	return &handler{
		Options: Options{Log: slog.New(slog.DiscardHandler), Observe: func(string, string, time.Duration) {}},
		limits:  newLimits(perMinute, func() time.Time { return time.Unix(1, 0) }),
	}
}

// receive has the handler serve a request from an address.
func receive(t *testing.T, h *handler, address string, serve func(*exchange) error) error {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/oauth2/authorize", nil)
	r.RemoteAddr = address
	return h.recorded(serve)(httptest.NewRecorder(), r)
}

// TestCallersWithoutCredentialsAreOneOwner checks that whoever can send from many addresses has
// no share of the database for each.
func TestCallersWithoutCredentialsAreOneOwner(t *testing.T) {
	t.Parallel()
	h := newHandler(0)
	owners := map[fair.Owner]bool{}
	for i := range 10 {
		_ = receive(t, h, fmt.Sprintf("192.0.2.%d:1024", i), func(x *exchange) error {
			owners[fair.FromContext(x.r.Context()).Owner] = true
			return nil
		})
	}
	if len(owners) != 1 || owners[fair.Owner{}] {
		t.Errorf("got the owners %v, want one, other than the server itself", owners)
	}
}

// TestSignInsOfAllAddressesAreLimited begins sign-ins from many addresses.
func TestSignInsOfAllAddressesAreLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address func(i int) string
		want    int
	}{
		"an address":   {func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1024+i) }, 10},
		"a /64":        {func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1024", i) }, 10},
		"a /56":        {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1024", i%256) }, 40},
		"a /48":        {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1024", i) }, 160},
		"all together": {func(i int) string { return fmt.Sprintf("[2001:db8:%x::1]:1024", i) }, 300},
	} {
		h := newHandler(100)
		began := 0
		for i := range 1000 {
			if receive(t, h, c.address(i), func(x *exchange) error { return h.limits.begin(x) }) == nil {
				began++
			}
		}
		if began != c.want {
			t.Errorf("%s: %d sign-ins began, want %d", name, began, c.want)
		}
	}
}
