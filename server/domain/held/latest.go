package held

import (
	"context"
	"strings"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// Latest returns the latest messages of a user that are or were held in a channel, newest first.
func Latest(ctx context.Context, s *store.Store, channelID, userID uid.ID, limit int) (rows []*moderatov1.HeldMessage, err error) {
	err = latest.Each(ctx, s, latestQuery{channelID, userID, limit}, func(r *store.Row) error {
		l, err := readRow(r)
		rows = append(rows, l.row)
		return err
	})
	return rows, s.Classify(err)
}

// latestQuery holds the parameters of latest.
type latestQuery struct {
	channelID, userID uid.ID
	limit             int
}

// latest selects the latest messages of a user in a channel. The index has the status before the
// time, so it reads the latest of each status.
var latest = store.Declare(func(d *store.Dialect, q latestQuery) (string, []any) {
	order := " ORDER BY held_at DESC, id DESC" + store.Limit(q.limit)
	var parts []string
	var args []any
	for _, status := range []string{pending, approved, denied, expired, cancelled} {
		parts = append(parts, "SELECT * FROM (SELECT held_at, id FROM held_messages"+d.ByIndex("heldmessage_user_id_channel_id_status_held_at_id")+
			" WHERE user_id = ? AND channel_id = ? AND status = ?"+order+") AS t")
		args = append(args, q.userID, q.channelID, status)
	}
	return selectFrom(d, "(SELECT id FROM ("+strings.Join(parts, " UNION ALL ")+") AS s"+order+") AS l"+
		d.OrderedJoin()+"held_messages"+d.ByPrimaryKey("held_messages")+" ON held_messages.id = l.id") +
		" WHERE " + ofExistingSender + " ORDER BY held_messages.held_at DESC, held_messages.id DESC", args
})
