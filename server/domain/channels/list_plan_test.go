package channels_test

import (
	"context"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestChannelListQueryPlans explains the statements of the first page and of a later
// page: each range of keys is searched in the index of the sort order, without a scan.
// The merge sorts no more than a few pages of keys.
func TestChannelListQueryPlans(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		d := newDirectory(t, url)
		if storetest.IsSQLite(d.s) {
			exec(t, d.s, "ANALYZE")
		} else {
			analyze(t, d.s, "channels")
		}
		for index, req := range map[string]*moderatov1.ListChannelsRequest{
			"channel_is_live_viewer_count_id":             {},
			"channel_category_id_is_live_viewer_count_id": {CategoryId: []int64{1, 3}},
		} {
			for range 2 {
				page, err := d.ListChannels(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				plan := storetest.Explain(t, d.s, d.sent.of(t, "channels"))
				if !strings.Contains(plan, index) {
					t.Errorf("the plan does not use %s:\n%s", index, plan)
				}
				for _, bad := range []string{"SCAN channels", "table=channels type=ALL", "table=channels type=index "} {
					if strings.Contains(plan, bad) {
						t.Errorf("the plan has %q:\n%s", bad, plan)
					}
				}
				req.Cursor = page.GetPagination().GetCursor()
			}
		}
	})
}
