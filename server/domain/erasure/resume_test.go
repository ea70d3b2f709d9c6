package erasure_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// abandoned returns a database with deleted users whose rows all still exist, and no
// server. Its clock is that of the scene.
func abandoned(t *testing.T, s *scene, users ...person) *store.Store {
	t.Helper()
	for _, p := range users {
		s.live(p)
	}
	hold(t, s.Store)
	for _, p := range users {
		s.deleteUser(p)
	}
	ahead := s.Store.Clock.Local().Sub(instant.Of(time.Now()))
	s.Stop(t)
	db := open(t, s.url)
	db.Clock.Advance(ahead)
	exec(t, db, "DROP TRIGGER hold")
	return db
}

func open(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	db, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// fuse lets an eraser commit a number of transactions. Later transactions fail, as if the
// process had been killed.
func fuse(t *testing.T, db *store.Store) (set func(transactions int)) {
	t.Helper()
	storetest.NeedTriggers(t, db)
	exec(t, db, "CREATE TABLE fuse (n INTEGER)")
	exec(t, db, "INSERT INTO fuse VALUES (0)")
	body := `BEGIN
		IF (SELECT n FROM fuse) = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'killed'; END IF;
		UPDATE fuse SET n = n - 1;
	END`
	if storetest.IsSQLite(db) {
		body = `BEGIN
			SELECT RAISE(ABORT, 'killed') WHERE (SELECT n FROM fuse) = 0;
			UPDATE fuse SET n = n - 1;
		END`
	}
	exec(t, db, "CREATE TRIGGER burn BEFORE UPDATE ON erasures FOR EACH ROW "+body)
	return func(transactions int) { exec(t, db, "UPDATE fuse SET n = ?", transactions) }
}

// TestAnotherEraserTakesOverAfterEachTransaction kills the first eraser after its first
// transaction, the next after its second, and so on. Each continues where the previous
// one stopped, until one completes.
func TestAnotherEraserTakesOverAfterEachTransaction(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		db := abandoned(t, s, vera)
		set := fuse(t, db)
		killed := 0
		for {
			set(killed + 1)
			err := newEraser(db).Erase(t.Context())
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "killed") {
				t.Fatal(err)
			}
			if killed++; killed > 200 {
				t.Fatal("no eraser comes to the end")
			}
			// The killed eraser had claimed the work for a while.
			if err := newEraser(db).Erase(t.Context()); err != nil {
				t.Fatalf("an eraser took over immediately: %v", err)
			}
			db.Clock.Advance(31 * time.Second)
		}
		set(1000)
		erase(t, db)
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
		if killed < 25 {
			t.Errorf("an erasure had %d transactions alone", killed)
		}
	})
}

// TestConcurrentErasers has several erasers, each with its own connections, erase more
// rows than one batch.
func TestConcurrentErasers(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		for _, p := range []person{walter, vera} {
			for i := range 3 {
				values := strings.TrimSuffix(strings.Repeat("(?, ?, ?, 0, 'quokka wombat', 1), ", 400), ", ")
				var args []any
				for range 400 {
					args = append(args, uid.New(), []uid.ID{servertest.Owner, servertest.Other, p.id}[i], p.id)
				}
				exec(t, s.Store, "INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at) VALUES "+values, args...)
			}
		}
		db := abandoned(t, s, walter, vera)
		stores := []*store.Store{db, open(t, s.url), open(t, s.url)}
		for _, other := range stores[1:] {
			other.Clock.Advance(db.Clock.Local().Sub(instant.Of(time.Now())))
		}
		for range 8 {
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() {
					if err := newEraser(stores[i%3]).Erase(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, each := range stores {
				each.Clock.Advance(31 * time.Second)
			}
		}
		if n := storetest.Must(db.Read.Erasure.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d erasures are left", n)
		}
		wantNoTrace(t, db, vera)
		wantNoTrace(t, db, walter)
		wantExactCounters(t, db)
	})
}

// TestEraserRetriesAfterConnectionLossInCommit loses the eraser's connection in COMMIT,
// where the result is unknown.
func TestEraserRetriesAfterConnectionLossInCommit(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		s := newScene(t, url)
		db := abandoned(t, s, vera)
		proxy := storetest.NewProxy(t, url)
		cut := open(t, proxy.URL)
		cut.Clock.Advance(db.Clock.Local().Sub(instant.Of(time.Now())))
		cuts := 0
		for n := 0; storetest.Must(db.Read.Erasure.Query().Count(t.Context())) > 0; n++ {
			if n > 300 {
				t.Fatal("the eraser comes to no end")
			}
			// Some commits are lost and retried. After a commit that succeeded without a
			// response, the eraser finds the work claimed, and leaves it until the claim
			// expires.
			plan := make([]storetest.Cut, n+1)
			for i := range plan {
				plan[i] = []storetest.Cut{storetest.Nowhere, storetest.BeforeCommit, storetest.Nowhere}[(i+n)%3]
			}
			plan[n] = storetest.AfterCommit
			proxy.CutNext(plan...)
			// An error is equivalent to a kill: the next eraser continues.
			_ = newEraser(cut).Erase(t.Context())
			cuts += proxy.Made()
			proxy.CutNext()
			cut.Clock.Advance(31 * time.Second)
		}
		if cuts < 10 {
			t.Errorf("%d cuts were made, so little was tested", cuts)
		}
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
	})
}

// TestCancelledErasureIsResumed cancels an eraser, like a server that stops.
func TestCancelledErasureIsResumed(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		db := abandoned(t, s, vera)
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			claim := nextLook(t, db)
			ended := start(func() error { return newEraser(db).Erase(ctx) })
			for !ended() && nextLook(t, db) == claim { // until a transaction is committed
				runtime.Gosched()
			}
			cancel()
			for !ended() {
				runtime.Gosched()
			}
			db.Clock.Advance(31 * time.Second)
		}
		erase(t, db)
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
	})
}

// start runs work in a goroutine, and returns a function that reports whether it has
// ended.
func start(work func() error) (ended func() bool) {
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		_ = work() // the test finds what is left undone
	}()
	return done.Load
}

func nextLook(t *testing.T, db *store.Store) instant.Instant {
	t.Helper()
	for _, e := range storetest.Must(db.Read.Erasure.Query().All(t.Context())) {
		return e.NextAt
	}
	return 0
}

// TestFinalScanErasesLateRows stores rows after the eraser has passed their tables, as do
// calls that read the user before the deletion.
func TestFinalScanErasesLateRows(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		db := abandoned(t, s, vera)
		if err := newEraser(db).Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, r := range servertest.Rows(t, db) {
			// The row itself remains, and distinguishes late messages from earlier ones.
			if trace := vera.traceIn(r); trace != "" && r.Table != "users" && r.Table != "erasures" && r.Table != "message_generations" {
				t.Errorf("after the first look %s is in %s", trace, r)
			}
		}
		storeLate(t, db)
		if err := newEraser(db).Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		db.Clock.Advance(2*time.Minute + time.Second)
		if err := newEraser(db).Erase(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Must(db.Read.Erasure.Query().Count(t.Context())); n != 0 {
			t.Error("the last look was not the last")
		}
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
	})
}

// storeLate stores a row of vera in each table, in her channel and in Owner's.
func storeLate(t *testing.T, db *store.Store) {
	t.Helper()
	vera, owner, now := vera.id, servertest.Owner, db.Clock.Local()
	for i, channel := range []uid.ID{vera, owner} {
		exec(t, db, "INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at) VALUES (?, ?, ?, 0, 'quokka', 1)", uid.New(), channel, vera)
		exec(t, db, "INSERT INTO votes (id, channel_id, epoch, user_id, username, address, amount, voted_at) VALUES (?, ?, 0, ?, 'vera.new-77', '', 1, 1)", uid.New(), channel, vera)
		exec(t, db, "INSERT INTO activities (id, channel_id, number, dedup_key, type, user_id, info, action, created_at) VALUES (?, ?, ?, 'late', 'gift', ?, '{}', '{}', 1)", uid.New(), channel, 1000+i, vera)
		exec(t, db, "INSERT INTO roles (id, channel_id, user_id, role, created_at) VALUES (?, ?, ?, 'vip', 1)", uid.New(), channel, vera)
		exec(t, db, "INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES (?, ?, ?, FALSE)", channel, vera, now)
		exec(t, db, "INSERT INTO subscriptions (channel_id, user_id, subscribed_at, expires_at, is_active, renew_count, streak_count) VALUES (?, ?, ?, ?, TRUE, 0, 0)", channel, vera, now, now.Add(time.Hour))
		exec(t, db, "INSERT INTO bans (channel_id, user_id, moderator_id, banned_at) VALUES (?, ?, ?, 1)", channel, vera, vera)
		exec(t, db, "INSERT INTO mutes (channel_id, user_id, moderator_id, muted_at, expires_at) VALUES (?, ?, ?, 1, ?)", channel, vera, servertest.Owner, now.Add(time.Hour))
	}
	exec(t, db, "UPDATE channels SET follower_count = follower_count + 1, subscriber_count = subscriber_count + 1 WHERE id = ?", owner)
	exec(t, db, "INSERT INTO grants (id, client_id, user_id, scopes) VALUES (?, 'late', ?, '')", uid.New(), vera)
	exec(t, db, "INSERT INTO tokens (id, kind, client_id, user_id, scopes, issued_at) VALUES (?, 'user', 'late', ?, '', 1)", strings.Repeat("x", 32), vera)
}

// TestLongScanIsRepeated has a call store its row during an erasure that takes minutes:
// the tables of the first batches must be scanned once more completely.
func TestLongScanIsRepeated(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		const many = 150
		for i := range many {
			id := uid.New()
			s.must(nil, s.putUser(id, fmt.Sprint("long", i)))
			s.must(nil, s.putChannel(id, "x"))
			exec(t, s.Store, "INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES (?, ?, 1, FALSE)", id, vera.id)
			exec(t, s.Store, "UPDATE channels SET follower_count = 1 WHERE id = ?", id)
		}
		db := abandoned(t, s, vera)
		follows := func() int {
			return storetest.Must(db.Read.Follow.Query().Where(follow.UserID(vera.id)).Count(t.Context()))
		}
		all := follows()
		ended := start(func() error { return newEraser(db).Erase(t.Context()) })
		for !ended() && follows() == all { // until the eraser has passed the messages
			runtime.Gosched()
		}
		exec(t, db, "INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at) VALUES (?, ?, ?, 0, 'late', 1)", uid.New(), servertest.Owner, vera.id)
		db.Clock.Advance(3 * time.Minute)
		for !ended() {
			runtime.Gosched()
		}
		erase(t, db)
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
	})
}
