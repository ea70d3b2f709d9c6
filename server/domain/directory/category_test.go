package directory_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func (b backend) getCategory(id int64) (*platformv1.CategoryRecord, error) {
	response, err := b.Directory.GetCategory(b.Ctx(), &platformv1.GetCategoryRequest{CategoryId: id})
	return response.GetCategory(), err
}

// categoryRecord returns a category whose parent is above; 0 means no parent.
func categoryRecord(id, above int64) *platformv1.CategoryRecord {
	r := &platformv1.CategoryRecord{Id: id, Name: "Category", Slug: "category"}
	if above != 0 {
		r.ParentId = &above
	}
	return r
}

func TestPutCategoryStoresReturnedRecord(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		b.Must(b.putCategory(categoryRecord(1, 0)))
		for _, c := range []struct {
			name      string
			put, want *platformv1.CategoryRecord
		}{
			{
				"a whole category, its name to be normalised",
				&platformv1.CategoryRecord{Id: 1 << 40, ParentId: proto.Int64(1), Name: " Poke\u0301mon ", Slug: "poke.mon-1_2", ImageUrl: "https://img.example.com/p.png"},
				&platformv1.CategoryRecord{Id: 1 << 40, ParentId: proto.Int64(1), Name: "Pokémon", Slug: "poke.mon-1_2", ImageUrl: "https://img.example.com/p.png"},
			},
			{
				"the least, which takes the rest away",
				&platformv1.CategoryRecord{Id: 1 << 40, Name: "Games", Slug: "games"},
				&platformv1.CategoryRecord{Id: 1 << 40, Name: "Games", Slug: "games"},
			},
		} {
			got, err := b.putCategory(c.put)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			servertest.WantSame(t, c.name, got, c.want)
			got, err = b.getCategory(1 << 40)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			servertest.WantSame(t, c.name+", got", got, c.want)
			b.WantUnchanged(c.name+", repeated", func() error { _, err := b.putCategory(c.put); return err })
		}
		if err := b.deleteCategory(1 << 40); err != nil {
			t.Fatal(err)
		}
		_, err := b.getCategory(1 << 40)
		servertest.WantError(t, "a deleted category", err, "CATEGORY_NOT_FOUND")
		b.WantUnchanged("a repeated deletion", func() error { return b.deleteCategory(1 << 40) })
	})
}

func TestCategoryCycleIsRejected(t *testing.T) {
	const circle = "category.parentId must not be the category itself, nor one below it"
	eachBackend(t, func(t *testing.T, b backend) {
		for id := int64(1); id <= 4; id++ {
			b.Must(b.putCategory(categoryRecord(id, id-1)))
		}
		for _, above := range []int64{1, 2, 3, 4} {
			_, err := b.putCategory(categoryRecord(1, above))
			servertest.WantError(t, "below itself", err, "INVALID_ARGUMENT", circle)
		}
		_, err := b.putCategory(categoryRecord(9, 9)) // the category does not exist yet
		servertest.WantError(t, "a new one below itself", err, "INVALID_ARGUMENT", circle)
		_, err = b.putCategory(categoryRecord(9, 8))
		servertest.WantError(t, "below one that is not there", err, "CATEGORY_NOT_FOUND")
		_, err = b.putCategory(categoryRecord(4, 1)) // next to its former ancestors
		b.Must(nil, err)
	})
}

// TestCategoryCycleOfConcurrentCallsIsRejected has three concurrent calls that close a
// cycle together: each alone would be valid.
func TestCategoryCycleOfConcurrentCallsIsRejected(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for range 15 {
			for id := int64(1); id <= 4; id++ {
				b.Must(b.putCategory(categoryRecord(id, 0)))
			}
			b.Must(b.putCategory(categoryRecord(2, 3)))
			var all sync.WaitGroup
			errs := make([]error, 3)
			for i, put := range []*platformv1.CategoryRecord{categoryRecord(1, 2), categoryRecord(3, 4), categoryRecord(4, 1)} {
				all.Go(func() { _, errs[i] = b.putCategory(put) })
			}
			all.Wait()
			refused := 0
			for _, err := range errs {
				if err != nil {
					refused++
					if got := servertest.OutcomeOf(err).Reason; got != "INVALID_ARGUMENT" {
						t.Fatal(err)
					}
				}
			}
			if refused != 1 {
				t.Fatalf("%d of three calls were refused, want one", refused)
			}
		}
	})
}

func TestDeleteCategoryRejectsCategoryInUse(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		streams, content := platformv1.NewStreamServiceClient(b.Conn), platformv1.NewContentServiceClient(b.Conn)
		owner, now := servertest.Owner.String(), timestamppb.New(b.Store.Clock.Local().Time())
		uses := []struct {
			name    string
			use     func(category int64) error
			release func() error
		}{
			{"channel", func(category int64) error {
				_, err := b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "x", CategoryId: category})
				return err
			}, func() error {
				_, err := b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "x"})
				return err
			}},
			{"category below", func(category int64) error {
				_, err := b.putCategory(categoryRecord(50, category))
				return err
			}, func() error { return b.deleteCategory(50) }},
			{"clip", func(category int64) error {
				_, err := content.PutClip(b.Ctx(), &platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{
					ClipId: newID, ChannelId: owner, CreatorId: owner, Title: "x", CategoryId: category,
				}})
				return err
			}, func() error {
				_, err := content.DeleteClip(b.Ctx(), &platformv1.DeleteClipRequest{ClipId: newID})
				return err
			}},
			{"VOD", func(category int64) error {
				_, err := content.PutVod(b.Ctx(), &platformv1.PutVodRequest{Vod: &platformv1.VodRecord{
					Id: newID, ChannelId: owner, Title: "x", StartedAt: now, EndedAt: now, CategoryId: category,
				}})
				return err
			}, func() error {
				_, err := content.DeleteVod(b.Ctx(), &platformv1.DeleteVodRequest{VodId: newID})
				return err
			}},
			// Last, because an ended stream remains.
			{"ended stream of a channel in another category", func(category int64) error {
				_, err := streams.StartStream(b.Ctx(), &platformv1.StartStreamRequest{ChannelId: owner, StartedAt: now, CategoryId: &category})
				if err == nil {
					_, err = streams.EndStream(b.Ctx(), &platformv1.EndStreamRequest{ChannelId: owner})
				}
				if err == nil {
					_, err = b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "x"})
				}
				return err
			}, nil},
		}
		for i, u := range uses {
			id := int64(i + 1)
			b.Must(b.putCategory(categoryRecord(id, 0)))
			if err := u.use(id); err != nil {
				t.Fatalf("%s: %v", u.name, err)
			}
			b.wantUnchangedBy(u.name, "CATEGORY_IN_USE", func() error { return b.deleteCategory(id) })
			if u.release == nil {
				continue
			}
			if err := u.release(); err != nil {
				t.Fatalf("%s: %v", u.name, err)
			}
			if err := b.deleteCategory(id); err != nil {
				t.Errorf("%s, gone: %v", u.name, err)
			}
		}
	})
}

// wantUnchangedBy makes a call that must be rejected and change no row.
func (b backend) wantUnchangedBy(what, reason string, call func() error) {
	b.T.Helper()
	b.WantUnchanged(what, func() error {
		servertest.WantError(b.T, what, call(), reason)
		return nil
	})
}

// TestCategoryDeletionRacesWithUse races the deletion with calls that use the category:
// the later one must be rejected.
func TestCategoryDeletionRacesWithUse(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		channels := moderatov1.NewChannelsServiceClient(b.Conn)
		as := b.As(t, servertest.Owner).Context()
		owner := servertest.Owner.String()
		for i := range 20 {
			b.Must(b.putCategory(categoryRecord(7, 0)))
			var all sync.WaitGroup
			var deleted, put error
			all.Go(func() { deleted = b.deleteCategory(7) })
			all.Go(func() {
				if i%2 == 0 {
					_, put = b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "x", CategoryId: 7})
					return
				}
				_, put = channels.UpdateInfo(as, &moderatov1.UpdateInfoRequest{Title: "x", Lang: "en", CategoryId: proto.Int64(7)})
			})
			all.Wait()
			got := [2]string{servertest.OutcomeOf(deleted).Reason, servertest.OutcomeOf(put).Reason}
			if got != [2]string{"OK", "CATEGORY_NOT_FOUND"} && got != [2]string{"CATEGORY_IN_USE", "OK"} {
				t.Fatalf("deletion and use ended with %v", got)
			}
			there, err := b.getCategory(7)
			if row := storetest.Must(b.Store.Read.Channel.Get(context.Background(), servertest.Owner)); row.CategoryID == 7 && there == nil {
				t.Fatalf("the channel is in a category that does not exist: %v", err)
			}
			b.Must(b.putChannel(&platformv1.ChannelRecord{Id: owner, Title: "x"}))
			b.Store.Clock.Advance(time.Second)
		}
	})
}
