package erasure_test

import (
	"runtime"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestEraserCountsConcurrentUnfollowOnce ends vera's follow, like Unfollow, while the
// eraser, which has read the follow, waits for the channel. It skips SQLite, where no
// other writer can run at the same time.
func TestEraserCountsConcurrentUnfollowOnce(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := newScene(t, url)
		db := abandoned(t, s, vera)
		tx, err := db.DB().BeginTx(t.Context(), nil)
		s.must(tx, err)
		defer func() { _ = tx.Rollback() }()
		_, err = tx.ExecContext(t.Context(), "UPDATE channels SET follower_count = follower_count - 1 WHERE id = ?", servertest.Owner)
		s.must(nil, err)
		_, err = tx.ExecContext(t.Context(), "DELETE FROM follows WHERE channel_id = ? AND user_id = ?", servertest.Owner, vera.id)
		s.must(nil, err)
		ended := start(func() error { return newEraser(db).Erase(t.Context()) })
		// The count covers all databases of the server; other waits there are short.
		for waits := 0; waits < 200 && !ended(); waits++ {
			var name string
			var waiting int
			s.must(nil, db.DB().QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&name, &waiting))
			if waiting == 0 {
				waits = 0
			}
			runtime.Gosched()
		}
		if ended() {
			t.Error("the eraser did not wait for the channel")
		}
		s.must(nil, tx.Commit())
		for !ended() {
			runtime.Gosched()
		}
		erase(t, db)
		wantNoTrace(t, db, vera)
		wantExactCounters(t, db)
	})
}
