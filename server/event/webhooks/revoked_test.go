package webhooks_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent/webhook"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// ending is a call that ends the webhooks which OtherDashboard created for the owner.
type ending struct {
	name string
	// statement begins the statement with which it ends the tokens.
	statement string
	call      func() error
}

// endings returns the calls. The last one also ends the client.
func endings(t *testing.T, s *servertest.Server) []ending {
	t.Helper()
	owner, backend := s.As(t, servertest.Owner), s.AsService(t)
	return []ending{
		{"RevokeGrant", "UPDATE `tokens`", func() error {
			_, err := moderatov1.NewUsersServiceClient(s.Conn).RevokeGrant(owner.Context(), &moderatov1.RevokeGrantRequest{ClientId: servertest.OtherDashboard})
			return err
		}},
		{"DeleteClient", "DELETE FROM `tokens`", func() error {
			_, err := s.Access.DeleteClient(backend.Context(), &platformv1.DeleteClientRequest{ClientId: servertest.OtherDashboard})
			return err
		}},
	}
}

// createThroughOther starts to create a webhook of the owner's channel through OtherDashboard.
func createThroughOther(t *testing.T, s *servertest.Server) (result <-chan error) {
	t.Helper()
	c := s.Token(t, authn.NewToken{
		Kind: authn.User, ClientID: servertest.OtherDashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour,
	})
	return inBackground(func() error {
		_, err := moderatov1.NewWebhooksServiceClient(s.Conn).CreateWebhook(c.Context(), &moderatov1.CreateWebhookRequest{Url: quiet})
		return err
	})
}

func inBackground(work func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- work() }()
	return result
}

func wantNoWebhook(t *testing.T, s *store.Store) {
	t.Helper()
	if n := storetest.Must(s.Read.Webhook.Query().Where(webhook.DisabledReasonNEQ("deleted")).Count(t.Context())); n != 0 {
		t.Errorf("%d webhooks outlive the revocation", n)
	}
}

// TestRevocationEndsWebhookThatWaits revokes the token of a caller whose new webhook waits
// for the lock of the channel. It skips SQLite, where no other writer can run meanwhile.
func TestRevocationEndsWebhookThatWaits(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, config(url))
		s.Load(t, servertest.World()...)
		for _, end := range endings(t, s) {
			t.Run(end.name, func(t *testing.T) {
				tx, err := s.Store.DB().BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
				if _, err := tx.ExecContext(t.Context(), "UPDATE channels SET title = 'held' WHERE id = ?", servertest.Owner); err != nil {
					t.Fatal(err)
				}
				created := createThroughOther(t, s)
				storetest.AwaitStatement(t, s.Store, "live_started_at FROM channels")
				if err := end.call(); err != nil {
					t.Fatal(err)
				}
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				if o := servertest.OutcomeOf(<-created); o.Reason != "TOKEN_INVALID" {
					t.Errorf("the creation: got %s, want TOKEN_INVALID", o.Reason)
				}
				wantNoWebhook(t, s.Store)
			})
		}
	})
}

// TestRevocationWaitsForNewWebhook revokes the token of a caller whose new webhook is about
// to be inserted. It skips SQLite for the same reason.
func TestRevocationWaitsForNewWebhook(t *testing.T) {
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		c := config(url)
		c.DBLayer = gate.Layer()
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		for _, end := range endings(t, s) {
			t.Run(end.name, func(t *testing.T) {
				held := gate.Shut("FROM tokens WHERE id = ?" + s.Store.ForShare())
				created := createThroughOther(t, s)
				select {
				case <-held:
				case err := <-created:
					t.Fatalf("the token was not locked: %v", err)
				}
				ended := inBackground(end.call)
				storetest.AwaitStatement(t, s.Store, end.statement)
				gate.Open()
				if err := <-created; err != nil {
					t.Errorf("the creation: %v", err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
				wantNoWebhook(t, s.Store)
			})
		}
	})
}
