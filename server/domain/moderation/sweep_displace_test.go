package moderation_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/servertest"
)

// TestPreviewDisplacesOldestOfItsChannel has many moderators make as many previews as each may.
func TestPreviewDisplacesOldestOfItsChannel(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.raid(1, "free sub")
		var tokens []string
		for _, id := range servertest.AddUsers(t, d.Store, 5) {
			d.role(id, "moderator")
			d.creds[id] = d.As(t, id)
			for range 5 {
				d.Store.Clock.Freeze(start.Add(time.Duration(len(tokens)) * time.Millisecond))
				r, err := d.preview(id)
				if err != nil {
					t.Fatal(err)
				}
				tokens = append(tokens, r.GetSweepToken())
			}
		}
		d.wantChunks(20)
		_, err := d.commit(servertest.Moderator, tokens[4])
		wantReason(t, err, "SWEEP_EXPIRED")
		d.mustCommit(tokens[5])
		d.Store.Clock.Freeze(start.Add(6 * time.Minute))
		d.raid(1, "free sub")
		d.mustPreview() // the others have expired
		d.wantChunks(1)
	})
}
