package live_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestLostCommitNeitherLosesNorDoublesMessages cuts the connection in the COMMIT of a batch
// for other servers, so that its outcome is unknown. The other server receives each message
// once, in order.
func TestLostCommitNeitherLosesNorDoublesMessages(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		rows, channel := &messages{}, uid.New()
		storetest.Migrate(t, url)
		cutter := &storetest.Cutter{}
		var stores [2]*store.Store
		for i, layer := range []store.Layer{cutter.Layer, nil} {
			var err error
			if stores[i], err = store.OpenWith(t.Context(), url, store.Options{Layer: layer}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stores[i].Close)
		}
		sender, receiver := run(t, stores[0], rows), run(t, stores[1], rows)
		l := listen(t, receiver, channel)
		for name, cuts := range map[string][]storetest.Cut{
			"before it happened":          {storetest.BeforeCommit},
			"before its answer came back": {storetest.AfterCommit},
			"a while before it happens":   {storetest.LateCommit},
			"before it, then after it":    {storetest.BeforeCommit, storetest.AfterCommit},
		} {
			cutter.CutNext("(*exchange).sendAll", cuts...)
			var want []string
			for i := range 3 {
				want = append(want, fmt.Sprint(name, " ", i))
				sender.Post(message(channel, want[i]))
			}
			if got, missed := take(t, l, 3); missed > 0 || !slices.Equal(got, want) {
				t.Errorf("cut %s: got %q and missed %d, want %q", name, got, missed, want)
			}
			if cutter.Made() != len(cuts) {
				t.Errorf("cut %s: %d cuts were made, want %d", name, cutter.Made(), len(cuts))
			}
		}
		// A message that was doubled would come before this one.
		sender.Post(message(channel, "end"))
		if got, _ := take(t, l, 1); !slices.Equal(got, []string{"end"}) {
			t.Errorf("got %q, want the end", got)
		}
	})
}
