package authn_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var (
	errInvalid = apierr.New(moderatov1.Reason_REASON_TOKEN_INVALID)
	errExpired = apierr.New(moderatov1.Reason_REASON_TOKEN_EXPIRED)
)

// openWorld opens a database that contains the World.
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

// eachStore runs a test on each kind of store, with the World.
func eachStore(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) { test(t, openWorld(t, url)) })
}

// issued issues a token for Dashboard, or for ChatServer if it is a service token.
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

// freeze stops the clock of a store at the current time.
func freeze(t *testing.T, s *store.Store) instant.Instant {
	t.Helper()
	now, err := s.Clock.Now(context.Background(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	s.Clock.Freeze(now)
	return now
}

// request returns the metadata of a request with a token and the client for which issued
// issues it.
func request(text string) metadata.MD {
	holder := servertest.Dashboard
	if strings.HasPrefix(text, "mds_") {
		holder = servertest.ChatServer
	}
	return metadata.Pairs(authn.AuthorizationKey, "Bearer "+text, authn.ClientIDKey, holder)
}

func authenticate(a *authn.Authenticator, text string) (*authn.Caller, error) {
	return a.Authenticate(context.Background(), "", request(text).Get)
}

// lookUps counts the token reads of a store. If before is not nil, it runs before each
// read, and its error is the error of the read.
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
