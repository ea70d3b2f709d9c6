package oauth_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/ent/grant"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

const minute = time.Minute

// run runs the jobs that remove expired rows.
func run(t *testing.T, s *site) {
	t.Helper()
	for _, table := range oauth.Tables {
		if _, err := table.Expire(tables.Env{Store: s.Store}).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// decide approves or, without scopes, denies a request.
func (s *site) decide(id string, user uid.ID, scopes ...string) (redirectTo, reason string) {
	var err error
	if len(scopes) > 0 {
		var r *platformv1.ApproveResponse
		r, err = s.platform.Approve(s.service.Context(), &platformv1.ApproveRequest{RequestId: id, UserId: user.String(), Scopes: scopes})
		redirectTo = r.GetRedirectTo()
	} else {
		var r *platformv1.DenyResponse
		r, err = s.platform.Deny(s.service.Context(), &platformv1.DenyRequest{RequestId: id})
		redirectTo = r.GetRedirectTo()
	}
	return redirectTo, servertest.OutcomeOf(err).Reason
}

func (s *site) granted(t *testing.T, client string, user uid.ID) string {
	t.Helper()
	row, err := s.Store.Read.Grant.Query().Where(grant.ClientID(client), grant.UserID(user)).Only(context.Background())
	if err != nil {
		return ""
	}
	return row.Scopes
}

func TestDecisionIsMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		c := s.config(web, authn.UsersRead, authn.UsersBot)
		verifier := oauth2.GenerateVerifier()
		id := request(t, c, verifier)
		for name, refused := range map[string]struct {
			id     string
			user   uid.ID
			scopes []string
			want   string
		}{
			"an unknown request":          {"x", servertest.Viewer, c.Scopes, "REQUEST_NOT_FOUND"},
			"an unknown user":             {id, servertest.Nobody, c.Scopes, "USER_NOT_FOUND"},
			"a scope nobody asked for":    {id, servertest.Viewer, []string{authn.UsersRead, authn.ChannelModerate}, "INVALID_ARGUMENT"},
			"a scope that does not exist": {id, servertest.Viewer, []string{"admin"}, "INVALID_ARGUMENT"},
		} {
			if _, got := s.decide(refused.id, refused.user, refused.scopes...); got != refused.want {
				t.Errorf("%s: got %s, want %s", name, got, refused.want)
			}
		}
		if got := s.granted(t, web, servertest.Raider); got != "" {
			t.Errorf("refused approvals granted %q", got)
		}
		first, got := s.decide(id, servertest.Raider, authn.UsersBot)
		if got != "OK" || s.granted(t, web, servertest.Raider) != authn.UsersBot {
			t.Fatalf("approve: got %s, granted %q", got, s.granted(t, web, servertest.Raider))
		}
		if again, got := s.decide(id, servertest.Raider, authn.UsersBot); again != first || got != "OK" {
			t.Errorf("the same approval: got %s and %s, want %s", got, again, first)
		}
		for name, got := range map[string]func() (string, string){
			"another user":  func() (string, string) { return s.decide(id, servertest.Viewer, authn.UsersBot) },
			"another scope": func() (string, string) { return s.decide(id, servertest.Raider, c.Scopes...) },
			"the refusal":   func() (string, string) { return s.decide(id, uid.ID{}) },
		} {
			if _, reason := got(); reason != "REQUEST_NOT_FOUND" {
				t.Errorf("%s after an approval: got %s", name, reason)
			}
		}
		back := s.approve(t, id, servertest.Raider, authn.UsersBot)
		s.redeem(t, c, back.Get("code"), verifier).want(t, "redeem", http.StatusOK, "")
		if _, got := s.decide(id, servertest.Raider, authn.UsersBot); got != "REQUEST_NOT_FOUND" {
			t.Errorf("the same approval after the redemption: got %s", got)
		}
		// A further approval adds to the grant.
		s.approve(t, request(t, c, verifier), servertest.Raider, authn.UsersRead)
		if got := s.granted(t, web, servertest.Raider); got != "users.bot users.read" {
			t.Errorf("granted is %q, want both", got)
		}
	})
}

func TestRequestExpires(t *testing.T) {
	s := one(t)
	id := request(t, s.config(web, authn.UsersRead), oauth2.GenerateVerifier())
	s.Store.Clock.Advance(10 * minute)
	if _, got := s.decide(id, servertest.Viewer, authn.UsersRead); got != "REQUEST_NOT_FOUND" {
		t.Errorf("approve after 10 minutes: got %s", got)
	}
	if _, err := s.platform.GetRequest(s.service.Context(), &platformv1.GetRequestRequest{RequestId: id}); servertest.OutcomeOf(err).Reason != "REQUEST_NOT_FOUND" {
		t.Errorf("get after 10 minutes: got %v", err)
	}
}

func TestScopesThatClientLostAreNotApproved(t *testing.T) {
	s := one(t)
	id := request(t, s.config(web, authn.UsersRead, authn.UsersBot), oauth2.GenerateVerifier())
	s.client(t, &platformv1.ClientRecord{Id: web, Name: "Web app", RedirectUris: []string{callback}, Scopes: []string{authn.UsersRead}})
	if _, got := s.decide(id, servertest.Viewer, authn.UsersRead, authn.UsersBot); got != "INVALID_ARGUMENT" {
		t.Errorf("got %s, want INVALID_ARGUMENT", got)
	}
}

// TestConcurrentDecisionsHaveOneOutcome lets several servers decide differently at the same
// moment.
func TestConcurrentDecisionsHaveOneOutcome(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for range 5 {
			id := request(t, s.config(web, authn.UsersRead), oauth2.GenerateVerifier())
			var all sync.WaitGroup
			var mu sync.Mutex
			outcomes := map[string]int{}
			for i := range 6 {
				all.Go(func() {
					decision := []string{authn.UsersRead}[:i%2]
					to, got := s.decide(id, servertest.Raider, decision...)
					mu.Lock()
					defer mu.Unlock()
					if got == "OK" {
						outcomes[to]++
					} else if got != "REQUEST_NOT_FOUND" {
						t.Errorf("got %s", got)
					}
				})
			}
			all.Wait()
			if len(outcomes) != 1 {
				t.Errorf("got %v, want one outcome", outcomes)
			}
		}
	})
}

func TestOnlyServicesDecide(t *testing.T) {
	s := one(t)
	id := request(t, s.config(web, authn.UsersRead), oauth2.GenerateVerifier())
	for _, c := range []servertest.Credentials{s.As(t, servertest.Owner), s.AsApp(t)} {
		_, err := s.platform.Approve(c.Context(), &platformv1.ApproveRequest{RequestId: id, UserId: servertest.Owner.String(), Scopes: []string{authn.UsersRead}})
		if got := servertest.OutcomeOf(err).Reason; got != "TOKEN_KIND_NOT_ACCEPTED" {
			t.Errorf("got %s, want TOKEN_KIND_NOT_ACCEPTED", got)
		}
	}
}
