package channels_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// crowd returns users in addition to those of the World.
func crowd(n int) []uid.ID {
	r := rand.New(rand.NewPCG(3, 4))
	ids := make([]uid.ID, n)
	for i := range ids {
		for j := range ids[i] {
			ids[i][j] = byte(r.IntN(256))
		}
	}
	return ids
}

func loadCrowd(t *testing.T, s *servertest.Server, ids []uid.ID) {
	t.Helper()
	var records []*platformv1.Record
	for i, id := range ids {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
			Id: id.String(), Username: fmt.Sprintf("crowd%d", i),
		}}})
	}
	s.Load(t, records...)
}

// list is a list whose rows are put and deleted by number.
type list struct {
	path, key string // key is the field that identifies a row
	put       func(t *testing.T, s *servertest.Server, i int, at instant.Instant) *platformv1.Record
	delete    func(ctx context.Context, tx *ent.Tx, i int) error
	value     func(i int) string // of key, for row i
}

// remove deletes the row of a table with these values of two columns.
func remove(table, where string, args func(i int) []any) func(context.Context, *ent.Tx, int) error {
	return func(ctx context.Context, tx *ent.Tx, i int) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+where, args(i)...)
		return err
	}
}

func lists(ids []uid.ID) map[string]list {
	owner := servertest.Owner
	user := func(i int) string { return ids[i].String() }
	byUser := func(i int) []any { return []any{owner, ids[i]} }
	byID := func(i int) []any { return []any{ids[i]} }
	return map[string]list{
		"followers": {"/followers?", "id", func(_ *testing.T, _ *servertest.Server, i int, at instant.Instant) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
				ChannelId: owner.String(), UserId: user(i), FollowedAt: at.Proto(),
			}}}
		}, remove("follows", "channel_id = ? AND user_id = ?", byUser), user},
		"subscribers": {"/subscribers?", "id", func(_ *testing.T, _ *servertest.Server, i int, at instant.Instant) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
				ChannelId: owner.String(), UserId: user(i), SubscribedAt: at.Proto(), ExpiresAt: at.Add(1000 * time.Hour).Proto(),
			}}}
		}, remove("subscriptions", "channel_id = ? AND user_id = ?", byUser), user},
		"clips": {"/clips?orderBy=most_recent&channelId=" + owner.String() + "&", "clipId", func(_ *testing.T, _ *servertest.Server, i int, at instant.Instant) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{
				ClipId: user(i), ChannelId: owner.String(), CreatorId: servertest.Viewer.String(), Title: "c", CreatedAt: at.Proto(),
			}}}
		}, remove("clips", "id = ?", byID), user},
		"VODs": {"/vods?channelId=" + owner.String() + "&", "id", func(_ *testing.T, _ *servertest.Server, i int, at instant.Instant) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Vod{Vod: &platformv1.VodRecord{
				Id: user(i), ChannelId: owner.String(), Title: "v", StartedAt: at.Proto(), EndedAt: at.Proto(),
			}}}
		}, remove("vods", "id = ?", byID), user},
		"activities": {"/activities?", "userId", func(t *testing.T, _ *servertest.Server, i int, at instant.Instant) *platformv1.Record {
			info, err := structpb.NewStruct(map[string]any{"userId": user(i)})
			if err != nil {
				t.Fatal(err)
			}
			return &platformv1.Record{Kind: &platformv1.Record_Activity{Activity: &platformv1.ActivityRecord{
				ChannelId: owner.String(), Key: user(i), Type: "follower", CreatedAt: at.Proto(), Info: info,
			}}}
		}, remove("activities", "channel_id = ? AND dedup_key = ?", func(i int) []any { return []any{owner, user(i)} }), user},
	}
}

// page reads one page and returns the keys of its rows.
func page(t *testing.T, s *servertest.Server, c servertest.Credentials, l list, limit int, cursor string) (keys []string, next string) {
	t.Helper()
	r := s.REST(t, c, http.MethodGet, fmt.Sprintf("%s%slimit=%d&cursor=%s", v1, l.path, limit, cursor), "")
	var body struct {
		Data struct {
			Rows       []map[string]any
			Pagination struct{ Cursor string }
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	for _, row := range body.Data.Rows {
		if info, ok := row["info"].(map[string]any); ok {
			row = info
		}
		keys = append(keys, row[l.key].(string))
	}
	return keys, body.Data.Pagination.Cursor
}

// TestPagesContainEachPersistentRowOnce reads lists page by page while rows are added and
// deleted between the pages: a row that exists all the time is on exactly one page.
func TestPagesContainEachPersistentRowOnce(t *testing.T) {
	const schedules, lasting, passing = 14, 24, 16
	ids := crowd(lasting + passing)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		loadCrowd(t, s, ids)
		owner := s.As(t, servertest.Owner)
		begin := instant.Of(time.Now().Add(-24 * time.Hour))
		for name, l := range lists(ids) {
			for schedule := range storetest.Share(t, schedules) {
				r := rand.New(rand.NewPCG(5, uint64(schedule)))
				at := func() instant.Instant { return begin.Add(time.Duration(r.IntN(12)) * time.Millisecond) } // many ties
				put := func(i int) { s.Load(t, l.put(t, s, i, at())) }
				var records []*platformv1.Record
				for i := range lasting {
					records = append(records, l.put(t, s, i, at()))
				}
				s.Load(t, records...)
				seen := map[string]int{}
				for cursor := ""; ; {
					keys, next := page(t, s, owner, l, 1+r.IntN(7), cursor)
					for _, key := range keys {
						seen[key]++
					}
					if cursor = next; cursor == "" {
						break
					}
					for range r.IntN(4) {
						i := lasting + r.IntN(passing)
						if r.IntN(2) == 0 {
							put(i)
							continue
						}
						deleteRow(t, s, l, i)
					}
				}
				for i := range lasting {
					if got := seen[l.value(i)]; got != 1 {
						t.Fatalf("%s, schedule %d: row %d was on %d pages, want 1", name, schedule, i, got)
					}
				}
				for i := range ids {
					deleteRow(t, s, l, i)
				}
			}
		}
	})
}

func deleteRow(t *testing.T, s *servertest.Server, l list, i int) {
	t.Helper()
	err := s.Store.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error { return l.delete(ctx, tx, i) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestListsAreNewestFirst reads rows that are one millisecond apart.
func TestListsAreNewestFirst(t *testing.T) {
	const n = 23
	ids := crowd(n)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		loadCrowd(t, s, ids)
		owner := s.As(t, servertest.Owner)
		begin := instant.Of(time.Now().Add(-time.Hour))
		for name, l := range lists(ids) {
			want, got := []string{}, []string{}
			for i := range n {
				s.Load(t, l.put(t, s, i, begin.Add(time.Duration(i)*time.Millisecond)))
				want = append(want, l.value(i))
			}
			slices.Reverse(want)
			for cursor := ""; ; {
				keys, next := page(t, s, owner, l, 5, cursor)
				got = append(got, keys...)
				if cursor = next; cursor == "" {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}
