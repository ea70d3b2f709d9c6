package moderation_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
)

// TestCommitOfEndedSweepSaysSo undoes a sweep in progress, or reverts its moderator, before a
// commit repeated with the idempotency key reports the end.
func TestCommitOfEndedSweepSaysSo(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		frozen(t, d) // so that the server's job does not complete the sweep
		for _, by := range []string{"undo", "revert"} {
			d.raid(1500, "free sub")
			token := d.mustPreview().GetSweepToken()
			chunks := 0
			gate.Fail(func(query string) (int, error) {
				if !strings.Contains(query, "FROM `sweep_chunks` WHERE `sweep_chunks`.`sweep_id` =") {
					return 0, nil
				}
				if chunks++; chunks > 1 {
					return 0, errors.New("the server stopped")
				}
				return 0, nil
			})
			r := d.mustCommitWithKey(by, token)
			gate.Fail(nil)
			if r.GetStatus() != "IN_PROGRESS" || r.GetCounts().GetBanned() != 1000 {
				t.Fatalf("before the %s: %v", by, r)
			}
			if by == "undo" {
				d.undo(r.GetBatchId(), false)
			} else {
				d.revert(servertest.Moderator, 0, false)
			}
			want := proto.CloneOf(r)
			want.Status = "ENDED"
			for range 2 {
				if got := d.mustCommitWithKey(by, token); !proto.Equal(got, want) {
					t.Errorf("after the %s: got %v, want %v", by, got, want)
				}
			}
			d.wantChunks(0)
		}
	})
}
