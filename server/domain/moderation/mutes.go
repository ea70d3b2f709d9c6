package moderation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// MuteTogether mutes users in a change, each for a time, with few statements. It leaves out those
// who are muted for longer, or do not exist any more.
func MuteTogether(ctx context.Context, c *change.Change, durations map[uid.ID]time.Duration) error {
	ids := slices.Collect(maps.Keys(durations))
	found, err := c.Tx.User.Query().Where(user.IDIn(ids...), user.DeletedAtIsNil()).Order(ent.Asc(user.FieldID)).All(ctx)
	if err != nil {
		return err
	}
	rows, err := c.Tx.Mute.Query().Where(mute.ChannelID(c.ChannelID), mute.UserIDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	present := make(map[uid.ID]*ent.Mute, len(rows))
	for _, row := range rows {
		present[row.UserID] = row
	}
	var made []*ent.MuteCreate
	var muted, silenced []uid.ID // all of them, and those who were not muted before
	sequences := map[uid.ID]int64{}
	for _, u := range found {
		until, row := c.Now.Add(durations[u.ID]), present[u.ID]
		if row != nil && row.ExpiresAt >= until {
			continue
		}
		replaces := row != nil && c.Now < row.ExpiresAt
		if row != nil && !replaces {
			announceMuteExpiry(c, row)
		}
		emitMute(c, u, terms{expiresAt: &until}, replaces)
		made = append(made, c.Tx.Mute.Create().SetChannelID(c.ChannelID).SetUserID(u.ID).SetModeratorID(c.ActorID).SetMutedAt(c.Now).SetExpiresAt(until))
		muted = append(muted, u.ID)
		if !replaces {
			silenced, sequences[u.ID] = append(silenced, u.ID), c.LastSequence()
			emitCleared(c, u.ID)
		}
	}
	if len(made) == 0 {
		return nil
	}
	if err := removeMutes(ctx, c, muted...); err != nil {
		return err
	}
	if err := c.Tx.Mute.CreateBulk(made...).Exec(ctx); err != nil || len(silenced) == 0 {
		return err
	}
	evidence, err := readEvidence(ctx, c, silenced...)
	if err != nil {
		return err
	}
	for id, sequence := range sequences {
		c.KeepEvidenceOf(sequence, evidence[id])
	}
	if err := held.Cancel(ctx, c, silenced); err != nil {
		return err
	}
	return chat.Clear(ctx, c.Tx, c.Store.Dialect, c.ChannelID, silenced, chat.Mute, c.Now)
}

func emitMute(c *change.Change, u *ent.User, t terms, replaces bool) {
	c.Emit("channel.mute", u.ID, &moderatov1.MuteEvent{
		ChannelId:            c.ChannelID.String(),
		ModeratorId:          c.ActorID.String(),
		ClientId:             c.ClientID,
		MutedUserId:          u.ID.String(),
		MutedUserDisplayName: u.DisplayName,
		MuteExpiresAt:        t.expiresAtProto(),
		Reason:               t.reasonProto(),
		ExpiresAt:            t.expiresAtProto(),
		Cause:                string(t.cause()),
		RuleId:               uid.Text(t.ruleID),
		Replaces:             replaces,
		MutedUser:            users.Person(u),
	})
}
