package channels_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/channels"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/counts"
	"github.com/moderato-live/moderato/test/storetest"
)

// directory is a store with many channels.
type directory struct {
	*channels.Service
	s    *store.Store
	sent *recorder
	rows []*ent.Channel // in the order of ListChannels
}

const (
	directorySize       = 400
	directoryCategories = 4
)

// newDirectory creates channels, a quarter of them live, with few different viewer
// counts, so that there are many ties.
func newDirectory(t *testing.T, url store.URL) *directory {
	t.Helper()
	s, sent := openRecorded(t, url)
	d := &directory{Service: newService(s), s: s, sent: sent}
	r := rand.New(rand.NewPCG(1, 2))
	err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		d.rows = nil
		if err := tx.Category.Create().SetID(2).SetName("Chess").SetSlug("chess").SetImageURL("https://img.example.com/c.png").Exec(ctx); err != nil {
			return err
		}
		for i := range directorySize {
			row, err := d.create(ctx, tx, r, i)
			if err != nil {
				return err
			}
			d.rows = append(d.rows, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(d.rows, func(a, b *ent.Channel) int {
		switch {
		case a.IsLive != b.IsLive && a.IsLive, a.IsLive == b.IsLive && a.ViewerCount > b.ViewerCount:
			return -1
		case a.IsLive != b.IsLive, a.ViewerCount < b.ViewerCount:
			return 1
		}
		return strings.Compare(b.ID.String(), a.ID.String())
	})
	return d
}

func (d *directory) create(ctx context.Context, tx *ent.Tx, r *rand.Rand, i int) (*ent.Channel, error) {
	var id uid.ID
	for j := range id {
		id[j] = byte(r.IntN(256))
	}
	slug := fmt.Sprintf("user%d", i)
	err := tx.User.Create().SetID(id).SetUsername(strings.ToUpper(slug)).SetSlug(slug).SetDisplayName("User").SetAvatarURL("").SetCreatedAt(1).Exec(ctx)
	if err != nil {
		return nil, err
	}
	isLive := r.IntN(4) == 0
	viewers := int64(0)
	if isLive {
		viewers = r.Int64N(5)
	}
	category := r.Int64N(directoryCategories)
	if err := counts.Move(ctx, tx, nil, &counts.Bucket{Category: category, IsLive: isLive}); err != nil {
		return nil, err
	}
	return tx.Channel.Create().SetID(id).SetTitle("Title").SetBio("").SetLang("en").SetCategoryID(category).
		SetIsLive(isLive).SetViewerCount(viewers).SetFollowerCount(int64(i)).SetCreatedAt(1).
		Save(ctx)
}

// pages reads all pages of a list and returns the ids and the count.
func (d *directory) pages(t *testing.T, req *moderatov1.ListChannelsRequest) (ids []string, count int64) {
	t.Helper()
	ids = []string{}
	for {
		page, err := d.ListChannels(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		most := 20
		if req.Limit != nil {
			most = int(req.GetLimit())
		}
		if got := len(page.GetRows()); got > most || got < most && page.GetPagination().GetCursor() != "" {
			t.Fatalf("a page has %d rows, want %d, and less only on the last one", got, most)
		}
		for _, row := range page.GetRows() {
			ids = append(ids, row.GetId())
		}
		if req.Cursor = page.GetPagination().GetCursor(); req.GetCursor() == "" {
			return ids, page.GetCount()
		}
	}
}

func (d *directory) want(matches func(*ent.Channel) bool) []string {
	ids := []string{}
	for _, row := range d.rows {
		if matches(row) {
			ids = append(ids, row.ID.String())
		}
	}
	return ids
}

func limit(n int32) *int32 { return &n }

func TestListChannelsFiltersSortsAndCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		d := newDirectory(t, url)
		slugs := []string{"user1", "USER2", "user3", "user4", "user5", "user5", "nobody"}
		named := func(c *ent.Channel) bool { return c.FollowerCount >= 1 && c.FollowerCount <= 5 }
		for name, c := range map[string]struct {
			req     *moderatov1.ListChannelsRequest
			matches func(*ent.Channel) bool
		}{
			"all":              {&moderatov1.ListChannelsRequest{}, func(*ent.Channel) bool { return true }},
			"type all":         {&moderatov1.ListChannelsRequest{Type: "all"}, func(*ent.Channel) bool { return true }},
			"type live":        {&moderatov1.ListChannelsRequest{Type: "live"}, func(c *ent.Channel) bool { return c.IsLive }},
			"category":         {&moderatov1.ListChannelsRequest{CategoryId: []int64{2}}, func(c *ent.Channel) bool { return c.CategoryID == 2 }},
			"no category":      {&moderatov1.ListChannelsRequest{CategoryId: []int64{0}}, func(c *ent.Channel) bool { return c.CategoryID == 0 }},
			"categories":       {&moderatov1.ListChannelsRequest{CategoryId: []int64{2, 3, 2, 77}}, func(c *ent.Channel) bool { return c.CategoryID >= 2 }},
			"live categories":  {&moderatov1.ListChannelsRequest{CategoryId: []int64{1, 2}, Type: "live"}, func(c *ent.Channel) bool { return c.IsLive && (c.CategoryID == 1 || c.CategoryID == 2) }},
			"unknown category": {&moderatov1.ListChannelsRequest{CategoryId: []int64{77}}, func(*ent.Channel) bool { return false }},
			"a category whose count row has the id of another category": {
				&moderatov1.ListChannelsRequest{CategoryId: []int64{math.MinInt64 + 2, math.MinInt64/2 + 2, math.MaxInt64/2 + 3}},
				func(*ent.Channel) bool { return false },
			},
			"slugs":           {&moderatov1.ListChannelsRequest{Slug: slugs}, named},
			"slugs, live":     {&moderatov1.ListChannelsRequest{Slug: slugs, Type: "live"}, func(c *ent.Channel) bool { return named(c) && c.IsLive }},
			"slugs, category": {&moderatov1.ListChannelsRequest{Slug: slugs, CategoryId: []int64{0, 1}}, func(c *ent.Channel) bool { return named(c) && c.CategoryID < 2 }},
			"unknown slug":    {&moderatov1.ListChannelsRequest{Slug: []string{"nobody", "no body", "", "user1 "}}, func(*ent.Channel) bool { return false }},
		} {
			for _, n := range []*int32{nil, limit(1), limit(7), limit(20)} {
				req := proto.Clone(c.req).(*moderatov1.ListChannelsRequest)
				req.Limit = n
				got, count := d.pages(t, req)
				want := d.want(c.matches)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, limit %d (-want +got):\n%s", name, req.GetLimit(), diff)
				}
				if count != int64(len(want)) {
					t.Errorf("%s: count %d, want %d", name, count, len(want))
				}
			}
		}
	})
}
