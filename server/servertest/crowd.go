package servertest

import (
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// AddUsers imports n new users and returns their ids. Their usernames begin with u.
func AddUsers(t testing.TB, s *store.Store, n int) []uid.ID {
	t.Helper()
	ids := make([]uid.ID, n)
	records := make([]*platformv1.Record, n)
	for i := range ids {
		ids[i] = uid.New()
		records[i] = &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
			Id: ids[i].String(), Username: "u" + strings.ReplaceAll(ids[i].String(), "-", ""),
		}}}
	}
	Import(t, s, records...)
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
