package moderation

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
)

// RuleMute is what a rule of a channel's chat does to the sender of a message.
type RuleMute struct {
	RuleID uid.ID
	Name   string // of the rule
	// EditorID is the last editor of the rule, in whose name it mutes. If the editor moderates the
	// channel no more, it mutes in the name of the owner.
	EditorID uid.ID
	Duration time.Duration
}

// Apply mutes the sender of a message that was refused, whose text is evidence. The sender must not
// be muted.
func (r RuleMute) Apply(ctx context.Context, c *change.Change, refused chat.Message) error {
	user, err := users.Find(ctx, c.Tx.User, users.Key{ID: refused.UserID})
	if err != nil {
		return err
	}
	if _, err := removePresentMute(ctx, c, user.ID, false); err != nil {
		return err
	}
	if c.ActorID, err = r.actor(ctx, c); err != nil {
		return err
	}
	c.ClientID = ""
	return applyMute(ctx, c, user, terms{reason: r.Name, expiresAt: new(c.Now.Add(r.Duration)), ruleID: &r.RuleID}, false, refused)
}

// actor returns in whose name the rule mutes.
func (r RuleMute) actor(ctx context.Context, c *change.Change) (uid.ID, error) {
	if still, err := authz.StillModerates(ctx, c.Store, c.Tx, c.ChannelID, r.EditorID); err != nil || still {
		return r.EditorID, err
	}
	return c.ChannelID, nil
}
