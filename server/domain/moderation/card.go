package moderation

import (
	"context"
	"math"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// cardEntries is how many entries of the log a card has, and cardBans how many bans from
	// other channels.
	cardEntries = 20
	cardBans    = 20
	// cardHeld is how many messages that are or were held a card has.
	cardHeld = 5
	// cardChannels is in how many channels that the caller moderates a card looks for bans.
	cardChannels = 1000
)

// readCard reads what the card of a user in a channel adds to what readState reads.
func readCard(ctx context.Context, s *store.Store, channelID, userID uid.ID, card *moderatov1.UserCard) error {
	first, err := chat.FirstOf(ctx, s, channelID, userID)
	if err != nil {
		return err
	}
	if first != nil {
		card.Account.FirstMessageAt = first.Proto()
	}
	if card.Held, err = held.Latest(ctx, s, channelID, userID, cardHeld); err != nil {
		return err
	}
	if card.Log, err = readLog(ctx, s, &logQuery{channelID: channelID, userID: userID, types: logged, before: math.MaxInt64, limit: cardEntries}); err != nil {
		return s.Classify(err)
	}
	card.Log = card.GetLog()[:min(len(card.GetLog()), cardEntries)]
	if caller := authn.FromContext(ctx); caller.ActsAsUser() {
		card.Elsewhere, err = readElsewhere(ctx, s, elsewhereQuery{callerID: caller.UserID, channelID: channelID, userID: userID})
	}
	return err
}

// elsewhereQuery holds the parameters of elsewhere.
type elsewhereQuery struct{ callerID, channelID, userID uid.ID }

// elsewhere selects the bans of a user from channels that the caller owns or moderates, without
// one channel. It looks for them by the channels: a user may be banned from any number.
var elsewhere = store.Declare(func(d *store.Dialect, q elsewhereQuery) (string, []any) {
	return `
		SELECT u.id, u.display_name, u.slug, u.avatar_url, b.banned_at, b.reason, b.expires_at
		FROM (
			SELECT * FROM (SELECT r.channel_id FROM roles r` + d.ByIndex("role_user_id_role_created_at_channel_id") + `
				WHERE r.user_id = ? AND r.role = ? ORDER BY r.created_at, r.channel_id` + store.Limit(cardChannels) + `) AS moderated
			UNION ALL SELECT id FROM channels WHERE id = ?
		) AS c` + d.OrderedJoin() + `bans b` + d.ByPrimaryKey("bans") + ` ON b.channel_id = c.channel_id AND b.user_id = ?` +
			d.OrderedJoin() + `channels ON channels.id = b.channel_id` + d.OrderedJoin() + `users u ON u.id = b.channel_id
		WHERE c.channel_id <> ? AND ` + authz.InForce(d.Clock, "b") + ` AND u.` + users.Exists + `
			AND NOT EXISTS (SELECT 1 FROM bans own WHERE own.channel_id = c.channel_id AND own.user_id = ? AND ` + authz.InForce(d.Clock, "own") + `)
		ORDER BY b.banned_at DESC, b.channel_id` + store.Limit(cardBans),
		[]any{q.callerID, Moderator.Name, q.callerID, q.userID, q.channelID, q.callerID}
})

func readElsewhere(ctx context.Context, s *store.Store, q elsewhereQuery) (rows []*moderatov1.BanElsewhere, err error) {
	err = elsewhere.Each(ctx, s, q, func(r *store.Row) error {
		row := &moderatov1.BanElsewhere{
			Channel:  &moderatov1.UserSummary{Id: r.ID().String(), DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text()},
			BannedAt: r.Instant().Proto(),
		}
		terms := terms{reason: r.Text(), expiresAt: r.OptionalInstant()}
		row.Reason, row.ExpiresAt = terms.reasonProto(), terms.expiresAtProto()
		rows = append(rows, row)
		return nil
	})
	return rows, s.Classify(err)
}
