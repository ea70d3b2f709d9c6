package oauth_test

import (
	"net/http"
	"testing"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestRevokedTokensStayRevoked revokes the tokens of a holder, and then tries what could bring
// new ones.
func TestRevokedTokensStayRevoked(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for name, h := range map[string]oauth.Holder{
			"client": {ClientID: web}, "user": {UserID: servertest.Raider}, "client and user": {ClientID: web, UserID: servertest.Raider},
		} {
			c, other := s.config(web, authn.UsersRead, authn.OfflineAccess), s.config(rival, authn.UsersRead, authn.OfflineAccess)
			mine, others := s.signIn(t, c, servertest.Raider), s.signIn(t, other, servertest.Viewer)
			verifier := oauth2.GenerateVerifier()
			code := s.code(t, c, verifier, servertest.Raider)
			n, err := oauth.RevokeTokens(t.Context(), s.Store, h)
			if err != nil || n == 0 {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
			if row, err := authn.Introspect(t.Context(), s.Store, mine.AccessToken); row != nil || err != nil {
				t.Errorf("%s: the access token is valid (%v)", name, err)
			}
			s.refresh(t, c, mine.RefreshToken).want(t, name+": the refresh token", http.StatusBadRequest, "invalid_grant")
			s.redeem(t, c, code, verifier).want(t, name+": a code under way", http.StatusBadRequest, "invalid_grant")
			s.refresh(t, other, others.RefreshToken).want(t, name+": another's refresh token", http.StatusOK, "")
			if row, err := authn.Introspect(t.Context(), s.Store, others.AccessToken); row == nil || err != nil {
				t.Errorf("%s: another's access token is not valid (%v)", name, err)
			}
		}
	})
}
