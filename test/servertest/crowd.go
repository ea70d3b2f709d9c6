package servertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// AddUsers stores n new users and returns their ids. Their usernames begin with u. It inserts
// them in bulk, because an import reads several rows for each user.
func AddUsers(t testing.TB, s *store.Store, n int) []uid.ID {
	t.Helper()
	ids := make([]uid.ID, n)
	for i := range ids {
		ids[i] = uid.New()
	}
	for some := range slices.Chunk(ids, 500) {
		err := s.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			rows := make([]*ent.UserCreate, len(some))
			for i, id := range some {
				name := "u" + strings.ReplaceAll(id.String(), "-", "")
				rows[i] = tx.User.Create().SetID(id).SetUsername(name).SetSlug(name).SetDisplayName(name).SetAvatarURL("").SetCreatedAt(now)
			}
			return tx.User.CreateBulk(rows...).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// AddChannels imports n new users with channels and returns their ids.
func AddChannels(t testing.TB, s *store.Store, n int) []uid.ID {
	t.Helper()
	ids := AddUsers(t, s, n)
	records := make([]*platformv1.Record, n)
	for i, id := range ids {
		records[i] = &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: id.String(), Title: "a channel"}}}
	}
	Import(t, s, records...)
	return ids
}
