package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

func (s *site) device(t *testing.T, c *oauth2.Config) answer {
	t.Helper()
	return s.post(t, "/oauth2/device_authorization", c, url.Values{"scope": {strings.Join(c.Scopes, " ")}})
}

func (s *site) poll(t *testing.T, c *oauth2.Config, device answer) answer {
	t.Helper()
	return s.post(t, "/oauth2/token", c, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device.text("device_code")},
	})
}

// requestOf finds the request of a device, by the code as a person might type it.
func (s *site) requestOf(t *testing.T, device answer) *platformv1.GetRequestResponse {
	t.Helper()
	typed := strings.ToLower(strings.ReplaceAll(device.text("user_code"), "-", " "))
	r, err := s.platform.GetRequest(s.service.Context(), &platformv1.GetRequestRequest{UserCode: typed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDeviceSignsIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(native, authn.UsersRead, authn.OfflineAccess)
		device, err := c.DeviceAuth(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(device.UserCode) ||
			device.VerificationURI != loginURL || device.VerificationURIComplete != loginURL+"&user_code="+device.UserCode ||
			device.Interval != 5 || time.Until(device.Expiry) > 10*time.Minute {
			t.Errorf("got %+v", device)
		}
		shown := s.requestOf(t, answer{Body: map[string]any{"user_code": device.UserCode}})
		if shown.GetUserCode() != device.UserCode || shown.GetClientId() != native || shown.GetRedirectUri() != "" {
			t.Errorf("the page gets %v", shown)
		}
		for range 2 {
			if to, got := s.decide(shown.GetRequestId(), servertest.Viewer, c.Scopes...); to != "" || got != "OK" {
				t.Errorf("approve: got %q, %s", to, got)
			}
		}
		device.Interval = 1
		token, err := c.DeviceAccessToken(context.Background(), device)
		if err != nil || !s.works(t, token.AccessToken) || token.RefreshToken == "" {
			t.Errorf("got %+v, %v", token, err)
		}
		again := s.poll(t, c, answer{Body: map[string]any{"device_code": device.DeviceCode}})
		again.want(t, "a second use", http.StatusBadRequest, "invalid_grant")
	})
}

func TestDeviceWaits(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.Store.Clock.Freeze(s.Store.Clock.Local())
		c := s.config(native, authn.UsersRead)
		device := s.device(t, c)
		device.want(t, "begin", http.StatusOK, "")
		s.poll(t, s.config(rival), device).want(t, "another client", http.StatusBadRequest, "invalid_grant")
		for i, step := range []struct {
			after time.Duration
			want  string
		}{
			{0, "authorization_pending"}, {5 * time.Second, "authorization_pending"}, {3 * time.Second, "slow_down"},
			{8 * time.Second, "slow_down"}, {14 * time.Second, "authorization_pending"},
		} {
			s.Store.Clock.Freeze(s.Store.Clock.Local().Add(step.after))
			if got := s.poll(t, c, device); got.text("error") != step.want {
				t.Errorf("attempt %d, after %s: got %v, want %s", i, step.after, got.Body, step.want)
			}
		}
		refused := s.device(t, c)
		if _, got := s.decide(s.requestOf(t, refused).GetRequestId(), uid.ID{}); got != "OK" {
			t.Errorf("deny: got %s", got)
		}
		s.poll(t, c, refused).want(t, "denied", http.StatusBadRequest, "access_denied")
		s.Store.Clock.Freeze(s.Store.Clock.Local().Add(10 * minute))
		s.poll(t, c, device).want(t, "after 10 minutes", http.StatusBadRequest, "expired_token")
		s.redeem(t, c, device.text("device_code"), oauth2.GenerateVerifier()).want(t, "as a code", http.StatusBadRequest, "invalid_grant")
		s.Store.Clock.Freeze(0)
	})
}

func TestDeviceAsksForScopesOfClient(t *testing.T) {
	s := one(t)
	s.device(t, s.config(native)).want(t, "no scope", http.StatusBadRequest, "invalid_scope")
	s.device(t, s.config(native, "admin")).want(t, "unknown scope", http.StatusBadRequest, "invalid_scope")
}
