package authn_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/importer"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

var (
	errInvalid = apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	errExpired = apierr.New(moderatov1.Reason_REASON_TOKEN_EXPIRED)
)

// openWorld opens a database with the World in it.
func openWorld(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	ctx := context.Background()
	storetest.Migrate(t, url)
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	importer := importer.Importer{Store: s}
	if err := importer.ImportRecords(ctx, servertest.World()); err != nil {
		t.Fatal(err)
	}
	return s
}

// eachStore runs a test on every kind of store, with the World in it.
func eachStore(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, url store.URL) { test(t, openWorld(t, url)) })
}

// issued issues a token for Dashboard, or for ChatServer when it is a service
// token.
func issued(t *testing.T, s *store.Store, n authn.NewToken) string {
	t.Helper()
	n.ClientID = client(n.Kind)
	if n.Kind == authn.User {
		n.UserID = servertest.Viewer
	}
	text, err := authn.Issue(context.Background(), s, n)
	if err != nil {
		t.Fatal(err)
	}
	return text.Text
}

func client(kind authn.Kind) string {
	if kind == authn.Service {
		return servertest.ChatServer
	}
	return servertest.Dashboard
}

// freeze stops the clock of a store where it is.
func freeze(t *testing.T, s *store.Store) instant.Instant {
	t.Helper()
	now, err := s.Clock.Now(context.Background(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	s.Clock.Freeze(now)
	return now
}

// request returns the metadata of a request with a token, through the client to
// which issued issues it.
func request(text string) metadata.MD {
	holder := servertest.Dashboard
	if strings.HasPrefix(text, "mds_") {
		holder = servertest.ChatServer
	}
	return metadata.Pairs(authn.AuthorizationKey, "Bearer "+text, authn.ClientIDKey, holder)
}

func authenticate(a *authn.Authenticator, text string) (*authn.Caller, error) {
	return a.Authenticate(context.Background(), request(text).Get)
}

// lookUps counts how often tokens are read from a store. before, if not nil,
// runs before each; its error is the read's.
func lookUps(s *store.Store, before func() error) *atomic.Int32 {
	var count atomic.Int32
	s.Read.Token.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
		return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
			count.Add(1)
			if before != nil {
				if err := before(); err != nil {
					return nil, err
				}
			}
			return next.Query(ctx, q)
		})
	}))
	return &count
}
