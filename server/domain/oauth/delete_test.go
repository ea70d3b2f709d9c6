package oauth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/refreshtoken"
	"github.com/moderato-live/moderato/ent/token"
	"github.com/moderato-live/moderato/ent/webhook"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDeleteClientContinues deletes a client with more tokens, grants and webhooks than one
// transaction removes, as one of its own backends. A call without the time for them removes
// nothing. A call that fails at the webhooks has removed the tokens, and its repeat deletes the
// client.
func TestDeleteClientContinues(t *testing.T) {
	const popular, rows = "popular", 2100
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: &platformv1.ClientRecord{Id: popular, Name: "Popular", Service: true}}})
		caller := s.Token(t, authn.NewToken{Kind: authn.Service, ClientID: popular})
		addRows(t, s.Store, popular, rows)
		remove := func(ctx context.Context) string {
			_, err := s.Access.DeleteClient(ctx, &platformv1.DeleteClientRequest{ClientId: popular})
			return servertest.OutcomeOf(err).Reason
		}
		short, cancel := context.WithTimeout(caller.Context(), 2*time.Second)
		defer cancel()
		if got := remove(short); got != "UNAVAILABLE" {
			t.Errorf("a call without time returns %s", got)
		}
		left := func() [4]int {
			return [4]int{
				storetest.Must(s.Store.Read.Token.Query().Where(token.ClientID(popular)).Count(t.Context())),
				storetest.Must(s.Store.Read.RefreshToken.Query().Where(refreshtoken.ClientID(popular)).Count(t.Context())),
				storetest.Must(s.Store.Read.Grant.Query().Where(grant.ClientID(popular)).Count(t.Context())),
				storetest.Must(s.Store.Read.Webhook.Query().Where(webhook.ClientID(popular), webhook.DisabledReasonNEQ("deleted")).Count(t.Context())),
			}
		}
		if got, want := left(), [4]int{rows + 1, rows, rows, rows}; got != want {
			t.Errorf("after a call without time, %v rows are left, want %v", got, want)
		}
		gate.Fail(func(query string) (int, error) {
			if strings.HasPrefix(strings.ReplaceAll(query, "`", ""), "UPDATE webhooks") {
				return 0, errors.New("the webhooks cannot be deleted")
			}
			return 0, nil
		})
		if got := remove(caller.Context()); got != "INTERNAL" {
			t.Errorf("a call that fails returns %s", got)
		}
		if got, want := left(), [4]int{101, 100, 100, rows}; got != want {
			t.Errorf("after a call that failed, %v rows are left, want %v", got, want)
		}
		gate.Fail(nil)
		if got := remove(caller.Context()); got != "OK" {
			t.Errorf("the repeat returns %s", got)
		}
		if got, want := left(), [4]int{}; got != want || storetest.Must(s.Store.Read.Application.Query().Where(application.ID(popular)).Exist(t.Context())) {
			t.Errorf("after the repeat, %v rows are left, or the client", got)
		}
	})
}

// addRows stores tokens, refresh tokens, grants and webhooks of a client.
func addRows(t *testing.T, s *store.Store, clientID string, n int) {
	t.Helper()
	const atOnce = 100
	for range n / atOnce {
		err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			var tokens []*ent.TokenCreate
			var refreshes []*ent.RefreshTokenCreate
			var grants []*ent.GrantCreate
			var hooks []*ent.WebhookCreate
			for range atOnce {
				user := uid.New()
				tokens = append(tokens, tx.Token.Create().SetID(digest.Of(user.String())).SetKind(string(authn.User)).SetClientID(clientID).
					SetUserID(user).SetScopes("").SetIssuedAt(1))
				refreshes = append(refreshes, tx.RefreshToken.Create().SetID(digest.Of(user.String())).SetFamilyID(user).SetClientID(clientID).
					SetUserID(user).SetScopes("").SetIssuedAt(1).SetExpiresAt(1<<50))
				grants = append(grants, tx.Grant.Create().SetID(uid.New()).SetClientID(clientID).SetUserID(user).SetScopes("users.read"))
				hooks = append(hooks, tx.Webhook.Create().SetID(uid.New()).SetClientID(clientID).SetURL("").SetTypes("").SetSecret("").
					SetCreatedAt(1).SetPosition(0).SetDisabledReason("gone"))
			}
			if err := tx.Token.CreateBulk(tokens...).Exec(ctx); err != nil {
				return err
			}
			if err := tx.RefreshToken.CreateBulk(refreshes...).Exec(ctx); err != nil {
				return err
			}
			if err := tx.Grant.CreateBulk(grants...).Exec(ctx); err != nil {
				return err
			}
			return tx.Webhook.CreateBulk(hooks...).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
