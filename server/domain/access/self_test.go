package access_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestGetSelfDescribesToken checks what is said about each kind of token, but for the
// operations.
func TestGetSelfDescribesToken(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	now := instant.Of(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	s.Store.Clock.Freeze(now)
	everyScope := []string{"channel.moderate", "offline.access", "users.bot", "users.read"}
	owner := servertest.Owner.String()
	backend := s.AsService(t)
	acting := backend
	acting.ActingUser = servertest.Owner
	for name, c := range map[string]struct {
		caller servertest.Credentials
		want   *moderatov1.GetSelfResponse
	}{
		"user": {
			s.Token(t, authn.NewToken{
				Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner,
				Scopes: []string{"users.read", "channel.moderate"}, Lifetime: time.Hour,
			}),
			&moderatov1.GetSelfResponse{
				ClientId: servertest.Dashboard, Kind: "user", UserId: &owner, Scopes: []string{"channel.moderate", "users.read"}, ExpiresAt: now.Add(time.Hour).Proto(),
			},
		},
		"app without scopes": {
			s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Lifetime: time.Minute}),
			&moderatov1.GetSelfResponse{ClientId: servertest.Dashboard, Kind: "app", ExpiresAt: now.Add(time.Minute).Proto()},
		},
		"service": {backend, &moderatov1.GetSelfResponse{ClientId: servertest.ChatServer, Kind: "service", Scopes: everyScope}},
		"service with acting-user": {
			acting, &moderatov1.GetSelfResponse{ClientId: servertest.ChatServer, Kind: "service", UserId: &owner, Scopes: everyScope},
		},
	} {
		got, err := moderatov1.NewTokensServiceClient(s.Conn).GetSelf(c.caller.Context(), &moderatov1.GetSelfRequest{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got, protocmp.Transform(), protocmp.IgnoreFields(got, "operations")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestGetSelfListsWhatIsPermitted calls every operation with each kind of token, and
// compares which calls the policy refuses with the operations that GetSelf returns.
func TestGetSelfListsWhatIsPermitted(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	reader := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
	acting := s.AsService(t)
	acting.ActingUser = servertest.Owner
	for name, caller := range map[string]servertest.Credentials{
		"user": s.As(t, servertest.Owner), "user with one scope": reader, "app": s.AsApp(t),
		"service": s.AsService(t), "service with acting-user": acting,
	} {
		self, err := moderatov1.NewTokensServiceClient(s.Conn).GetSelf(caller.Context(), &moderatov1.GetSelfRequest{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var listed []string
		for _, o := range self.GetOperations() {
			listed = append(listed, o.GetName())
		}
		for method := range authz.Methods() {
			if method.IsStreamingServer() || method.IsStreamingClient() {
				continue
			}
			full := fmt.Sprintf("%s/%s", method.Parent().FullName(), method.Name())
			ctx, cancel := context.WithTimeout(caller.Context(), 10*time.Second)
			reason := servertest.OutcomeOf(s.Conn.Invoke(ctx, "/"+full, servertest.NewMessage(t, method.Input()), servertest.NewMessage(t, method.Output()))).Reason
			cancel()
			isRefused := reason == "TOKEN_KIND_NOT_ACCEPTED" || reason == "SCOPE_MISSING"
			if isListed := slices.Contains(listed, full); isListed == isRefused {
				t.Errorf("%s: %s answers %s, and is listed: %t", name, full, reason, isListed)
			}
		}
	}
}
