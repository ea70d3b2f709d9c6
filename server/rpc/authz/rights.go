package authz

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// RightsChanged records, in the transaction of a change, that the channels that some users
// own or moderate change. The servers that deliver events to these users then read the
// channels again. Every transaction must call it that gives or takes the moderator role,
// bans or unbans a user who holds the role, or creates a channel. It must have locked the
// channel, so that a ban sees the role that it affects. The deletion of a user needs no
// call, because the deletion itself is checked; nor does that of a channel, which has no
// more events, before its roles are removed.
func RightsChanged(ctx context.Context, d *store.Dialect, tx *ent.Tx, ids ...uid.ID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE users"+d.ByPrimaryKey("users")+" SET rights_version = rights_version + 1 WHERE id IN ("+store.Placeholders(len(ids))+")",
		store.Args(ids)...)
	return err
}

// IsModerator returns the SQL condition that a user holds the moderator role in a channel,
// which Moderates requires among others. channel and user are SQL expressions.
func IsModerator(channel, user string) string {
	return "EXISTS (SELECT 1 FROM roles mr WHERE mr.channel_id = " + channel + " AND mr.user_id = " + user + " AND mr.role = 'moderator')"
}
