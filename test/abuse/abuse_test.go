// Package abuse_test puts a served process under abusive load, and checks that the server
// limits its work and keeps serving other callers. The scale is small in `make test`;
// `make soak` (MODERATO_SOAK=1) uses the figures of a security review's findings.
package abuse_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestMain(m *testing.M) { process.Main(m) }

// isSoak reports whether the suite runs at full scale.
func isSoak() bool { return os.Getenv("MODERATO_SOAK") != "" }

// scaled returns the small figure, or the full one in a soak.
func scaled[T any](small, full T) T {
	if isSoak() {
		return full
	}
	return small
}

// target is a served process with its database.
type target struct {
	*process.Server

	store *store.Store
}

// each runs a test against a served process with the World, on every kind of store.
func each(t *testing.T, test func(t *testing.T, s *target), args ...string) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) { test(t, serve(t, url, args...)) })
}

func serve(t *testing.T, url store.URL, args ...string) *target {
	t.Helper()
	db := prepare(t, url)
	return &target{process.Serve(t, url, args...), db}
}

// prepare makes a database with the World.
func prepare(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	db, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	servertest.Import(t, db, servertest.World()...)
	return db
}

// as returns credentials of a user with every scope.
func (s *target) as(t *testing.T, user uid.ID) servertest.Credentials {
	t.Helper()
	return s.token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: user, Scopes: authn.Scopes(), Lifetime: time.Hour})
}

func (s *target) token(t *testing.T, n authn.NewToken) servertest.Credentials {
	t.Helper()
	issued, err := authn.Issue(context.Background(), s.store, n)
	if err != nil {
		t.Fatal(err)
	}
	return servertest.Credentials{Token: issued.Text, ClientID: n.ClientID}
}

// probe runs a process that reads the caller's own channel, and returns the duration of
// each read.
func (s *target) probe(t *testing.T, c servertest.Credentials, duration time.Duration) []time.Duration {
	t.Helper()
	return process.Probe{URL: "http://" + s.REST + "/v1/channels/stats", Token: c.Token, ClientID: c.ClientID, Duration: duration}.Run(t)
}

// wantConsistent runs all checks of fsck.
func (s *target) wantConsistent(t *testing.T) {
	t.Helper()
	err := fsck.Run(context.Background(), s.store, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) {
		t.Errorf("fsck: %s", f)
	})
	if err != nil {
		t.Fatal(err)
	}
}
