package access_test

import (
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCallerEndsItsOwnTokenWithLostCommit loses the connection to the database in the COMMIT
// of calls that end the caller's own token. The repeated attempt must not be refused because
// the token has ended.
func TestCallerEndsItsOwnTokenWithLostCommit(t *testing.T) {
	t.Parallel()
	const own = "own-backend"
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		c := servertest.Config(url)
		c.DBLayer = cutter.Layer
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		client := &platformv1.ClientRecord{Id: own, Name: "Own", Service: true}
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":                {storetest.BeforeCommit},
			"before its answer came back":       {storetest.AfterCommit},
			"before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
			"twice before its answer":           {storetest.AfterCommit, storetest.AfterCommit},
			"a while before it happens":         {storetest.LateCommit},
		} {
			for operation, call := range map[string]func(servertest.Credentials) error{
				"RevokeToken": func(c servertest.Credentials) error {
					_, err := s.Access.RevokeToken(c.Context(), &platformv1.RevokeTokenRequest{Token: c.Token})
					return err
				},
				"DeleteClient": func(c servertest.Credentials) error {
					_, err := s.Access.DeleteClient(c.Context(), &platformv1.DeleteClientRequest{ClientId: own})
					return err
				},
				"PutClient": func(c servertest.Credentials) error {
					_, err := s.Access.PutClient(c.Context(), &platformv1.PutClientRequest{Client: &platformv1.ClientRecord{Id: own, Name: "Own"}})
					return err
				},
			} {
				s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Client{Client: client}})
				caller := s.Token(t, authn.NewToken{Kind: authn.Service, ClientID: own})
				cutter.CutNext("(*Service)."+operation, cuts...)
				if o := servertest.OutcomeOf(call(caller)); o.Reason != "OK" || cutter.Made() != len(cuts) {
					t.Errorf("%s, cut %s: got %s, %d cuts", operation, name, o.Reason, cutter.Made())
				}
				if row, err := authn.Introspect(t.Context(), s.Store, caller.Token); err != nil || row != nil {
					t.Errorf("%s, cut %s: the token has not ended: %v, %v", operation, name, row, err)
				}
			}
		}
	})
}

// TestRotationWithLostCommit loses the connection to the database in the COMMIT of a rotation.
// A repeated attempt must not rotate the secret again, which would end the previous one.
func TestRotationWithLostCommit(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		c := servertest.Config(url)
		c.DBLayer = cutter.Layer
		s := servertest.Start(t, c)
		for name, cuts := range map[string][]storetest.Cut{
			"before": {storetest.BeforeCommit}, "after": {storetest.AfterCommit}, "late": {storetest.LateCommit},
		} {
			cutter.CutNext("access.CreateClient", cuts...)
			first, err := access.CreateClient(t.Context(), s.Store, &platformv1.ClientRecord{Id: name, Name: name}, true)
			if err != nil || cutter.Made() != len(cuts) {
				t.Fatalf("%s: %v, %d cuts", name, err, cutter.Made())
			}
			cutter.CutNext("access.RotateSecret", cuts...)
			second, err := access.RotateSecret(t.Context(), s.Store, name, time.Hour)
			if err != nil || cutter.Made() != len(cuts) {
				t.Fatalf("%s: %v, %d cuts", name, err, cutter.Made())
			}
			row, err := access.Client(t.Context(), s.Store, name)
			if err != nil || *row.Secret != digest.Of(second) || *row.PreviousSecret != digest.Of(first) {
				t.Errorf("%s: the secrets are not those of the two calls (%v)", name, err)
			}
		}
	})
}
