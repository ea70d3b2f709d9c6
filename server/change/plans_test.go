package change_test

import (
	"context"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestChannelsAreLockedByKey checks that a transaction locks only its own channels. Without an
// index hint, MariaDB scans a small table, such as that of the test, and locks every channel.
func TestChannelsAreLockedByKey(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		channels := servertest.AddChannels(t, s, 10)
		earlier, executed := len(recorder.Sent()), len(recorder.Executed())
		err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			_, err := change.Lock(ctx, s, tx, channels[:8]...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := slices.Concat(recorder.Sent()[earlier:], recorder.Executed()[executed:])
		if len(sent) != 1 {
			t.Errorf("got %v, want one statement that locks the channels", sent)
		}
		for _, q := range sent {
			storetest.WantByKey(t, s, q)
		}
	})
}
