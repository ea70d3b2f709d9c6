package idempotency_test

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestLostCommit loses the connection to the database in COMMIT. The change takes effect
// once, its response is no replay, and a repeat has the same response.
func TestLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		service := s.AsService(t)
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":                {storetest.BeforeCommit},
			"before its answer came back":       {storetest.AfterCommit},
			"a while before it happens":         {storetest.LateCommit},
			"before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
			"before it, then a while before it": {storetest.BeforeCommit, storetest.LateCommit},
		} {
			key := newKey()
			for of, c := range map[string]change{
				"server/change.apply": mute(t, s, servertest.Raider),
				"server/change/feed.Write": changeOf(t, service, platformv1.DirectoryService_PutUser_FullMethodName, &platformv1.PutUserRequest{
					User: &platformv1.UserRecord{Id: servertest.Viewer.String(), Username: "v" + key},
				}),
				"server/rpc/authn.Issue": changeOf(t, service, platformv1.AccessService_IssueToken_FullMethodName, &platformv1.IssueTokenRequest{
					Kind: platformv1.TokenKind_TOKEN_KIND_APP, ClientId: servertest.Dashboard,
				}),
			} {
				before := count(t, s, "idempotency_keys")
				cutter.CutNext(of, cuts...)
				first := c.overGRPC(t, s)
				wantAnswer(t, of+", cut "+name, first, "OK", false)
				if cutter.Made() != len(cuts) {
					t.Errorf("%s, cut %s: %d cuts were made, want %d", of, name, cutter.Made(), len(cuts))
				}
				again := c.overGRPC(t, s)
				wantAnswer(t, of+", repeated after the cut "+name, again, "OK", true)
				if diff := cmp.Diff(first.message, again.message, protocmp.Transform()); diff != "" {
					t.Errorf("%s, cut %s: the repeat has another response (-first +repeat):\n%s", of, name, diff)
				}
				if n := count(t, s, "idempotency_keys") - before; n != 1 {
					t.Errorf("%s, cut %s: %d keys were stored, want 1", of, name, n)
				}
			}
			s.Store.Clock.Advance(11 * time.Minute) // ends the mute
		}
		if n := count(t, s, "events WHERE type = 'channel.mute'"); n != 5 {
			t.Errorf("%d mutes were announced, want 5", n)
		}
	})
}

// TestRepeatThatOvertakesALostCommit loses a COMMIT that never happened, and repeats the call
// through another server before the first one tries again. Both responses are that of the
// change that was made.
func TestRepeatThatOvertakesALostCommit(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		cutter, gate := &storetest.Cutter{}, &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = func(c driver.Connector) driver.Connector { return gate.Layer()(cutter.Layer(c)) }
		s, other := servertest.Start(t, config), servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		c := changeOf(t, s.AsService(t), platformv1.AccessService_IssueToken_FullMethodName, &platformv1.IssueTokenRequest{
			Kind: platformv1.TokenKind_TOKEN_KIND_APP, ClientId: servertest.Dashboard,
		})
		cutter.CutNext("server/rpc/authn.Issue", storetest.BeforeCommit)
		var repeat answer
		gate.Fail(func(query string) (int, error) {
			if cutter.Made() == 1 && repeat.message == nil && strings.Contains(query, "FROM idempotency_keys") {
				repeat = c.overGRPC(t, other)
			}
			return 0, nil
		})
		first := c.overGRPC(t, s)
		wantAnswer(t, "the repeat", repeat, "OK", false)
		wantAnswer(t, "the first call", first, "OK", false)
		if diff := cmp.Diff(repeat.message, first.message, protocmp.Transform()); diff != "" {
			t.Errorf("the first call returns what was not stored (-repeat +first):\n%s", diff)
		}
	})
}

// TestRetryWaitsForItsOwnAbandonedTransaction loses the connection before COMMIT, and lets the
// database keep the locks of the transaction for a while. The retry is the only call with the
// key, so it waits.
func TestRetryWaitsForItsOwnAbandonedTransaction(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		c := mute(t, s, servertest.Raider)
		// The transaction looks for the key, inserts it, and loses the lock of the channel.
		lost, notice := cutter.Abandon("server/change.apply", 2)
		defer notice()
		answers := make(chan answer, 1)
		go func() { answers <- c.overGRPC(t, s) }()
		select {
		case <-lost:
		case got := <-answers:
			t.Fatalf("the connection was not lost: got %s", got.reason)
		}
		storetest.AwaitStatement(t, s.Store, "FROM idempotency_keys WHERE id = ")
		notice()
		wantAnswer(t, "the retry", <-answers, "OK", false)
		wantAnswer(t, "a repeat", c.overGRPC(t, s), "OK", true)
		if n := count(t, s, "events WHERE type = 'channel.mute'"); n != 1 {
			t.Errorf("%d mutes were announced, want 1", n)
		}
	})
}
