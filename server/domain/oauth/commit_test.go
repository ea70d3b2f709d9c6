package oauth_test

import (
	"net/http"
	"testing"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestLostCommits loses the connection to the database in COMMIT, so that its result is
// unknown, in each step of a sign-in. The step succeeds, and happens once: a code counts as
// used once, and a refresh token as replaced once.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, u store.URL) {
		cutter := &storetest.Cutter{}
		conf := config(u)
		conf.DBLayer = cutter.Layer
		s := open(t, conf)
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":                {storetest.BeforeCommit},
			"before its answer came back":       {storetest.AfterCommit},
			"before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
			"a while before it happens":         {storetest.LateCommit},
		} {
			t.Run(name, func(t *testing.T) {
				cut := func(step string) {
					t.Helper()
					cutter.CutNext(step, cuts...)
				}
				check := func(step string) {
					t.Helper()
					if cutter.Made() != len(cuts) {
						t.Errorf("%s: %d cuts were made, want %d", step, cutter.Made(), len(cuts))
					}
				}
				verifier := oauth2.GenerateVerifier()
				cut("(*Service).create")
				id := request(t, c, verifier)
				check("begin")
				cut("(*Service).Decide")
				code := s.approve(t, id, servertest.Raider, c.Scopes...).Get("code")
				check("approve")
				cut("(*Service).RedeemCode")
				first := s.redeem(t, c, code, verifier)
				check("redeem")
				first.want(t, "redeem", http.StatusOK, "")
				cut("(*Service).Refresh")
				second := s.refresh(t, c, first.text("refresh_token"))
				check("refresh")
				second.want(t, "refresh", http.StatusOK, "")
				for _, a := range []answer{first, second} {
					if !s.works(t, a.text("access_token")) {
						t.Error("an access token does not work")
					}
				}
				third := s.refresh(t, c, second.text("refresh_token"))
				third.want(t, "the next refresh", http.StatusOK, "")
				device := s.device(t, c)
				s.decide(s.requestOf(t, device).GetRequestId(), servertest.Raider, c.Scopes...)
				cut("(*Service).RedeemDevice")
				s.poll(t, c, device).want(t, "device", http.StatusOK, "")
				check("device")
			})
		}
	})
}

// TestRevokedGrantOfCallerWithLostCommit revokes the grant on which the caller's own token
// rests. The repeated attempt must not be refused because the token has ended.
func TestRevokedGrantOfCallerWithLostCommit(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, u store.URL) {
		cutter := &storetest.Cutter{}
		conf := config(u)
		conf.DBLayer = cutter.Layer
		s := open(t, conf)
		c := s.config(web, authn.UsersRead, authn.OfflineAccess)
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":                {storetest.BeforeCommit},
			"before its answer came back":       {storetest.AfterCommit},
			"before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
			"twice before its answer":           {storetest.AfterCommit, storetest.AfterCommit},
			"a while before it happens":         {storetest.LateCommit},
		} {
			mine, others := s.signIn(t, c, servertest.Viewer), s.signIn(t, c, servertest.Owner)
			cutter.CutNext("(*Service).RevokeGrant", cuts...)
			r := s.REST(t, servertest.Credentials{Token: mine.AccessToken, ClientID: web}, http.MethodDelete, "/v1/users/grants", `{"clientId":"web-app"}`)
			if r.Status != http.StatusOK || cutter.Made() != len(cuts) {
				t.Errorf("cut %s: got %d %s, %d cuts", name, r.Status, r.Body, cutter.Made())
			}
			if s.works(t, mine.AccessToken) || !s.works(t, others.AccessToken) {
				t.Errorf("cut %s: want the tokens of the caller ended, and no others", name)
			}
			s.refresh(t, c, mine.RefreshToken).want(t, "refresh", http.StatusBadRequest, "invalid_grant")
		}
	})
}
