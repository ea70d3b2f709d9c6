package moderation_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestSearchOfPreviewsForErasedUser deletes a user whom many previews found. The eraser reads
// each of their rows once, and holds no transaction while it does.
func TestSearchOfPreviewsForErasedUser(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		erased := d.raid(1, "free sub")[0]
		const searches = "INSTR(user_ids"
		var count atomic.Int32
		gate.Fail(func(query string) (int, error) {
			if strings.Contains(query, searches) {
				count.Add(1)
			}
			return 0, nil
		})
		for some := range slices.Chunk(make([]bool, 250), 50) {
			d.write(func(tx *ent.Tx) error {
				var chunks []*ent.SweepChunkCreate
				for range some {
					sweep := uid.New()
					chunks = append(chunks, tx.SweepChunk.Create().SetID(uid.New()).SetSweepID([32]byte(append(sweep[:], sweep[:]...))).
						SetChannelID(servertest.Owner).SetNumber(0).SetUserIds(append(servertest.Viewer[:], erased[:]...)))
				}
				return tx.SweepChunk.CreateBulk(chunks...).Exec(context.Background())
			})
		}
		held := gate.Shut(searches)
		if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: erased.String()}); err != nil {
			t.Fatal(err)
		}
		<-held
		d.mustBan(servertest.Moderator, servertest.Raider)
		gate.Open()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			left := 0
			err := store.QueryRow(t.Context(), d.Store.Read, "SELECT COUNT(*) FROM sweep_chunks WHERE LENGTH(user_ids) <> 16 OR user_ids <> ?", []any{servertest.Viewer}, &left)
			if err == nil && left == 0 {
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%d rows have the user (%v)", left, err)
			}
		}
		d.wantChunks(250)
		if n := count.Load(); n > 5 {
			t.Errorf("%d statements searched 250 rows", n)
		}
	})
}
