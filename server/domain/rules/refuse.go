package rules

import (
	"context"
	"errors"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// errChanged ends the transaction of a refusal that the present rules may not make.
var errChanged = errors.New("the rules, or who the sender is, changed")

// refuse refuses a message by a rule of a version with a change of its channel. It returns
// errChanged if the rule may not apply any more. A message that is stored already is not refused.
// The caller's right is checked as for a post.
func (f *Filter) refuse(ctx context.Context, version chat.RulesVersion, r *rule, m chat.Message, do func(context.Context, *change.Change, *rule, chat.Message) error) error {
	if m.ID.IsZero() {
		m.ID = uid.New()
	}
	refusal := apierr.MessageBlocked(r.message)
	refuse := func(ctx context.Context, c *change.Change) error {
		if err := chat.Admit(ctx, f.Store, c.Tx, m.UserID); err != nil {
			return err
		}
		sender, err := chat.SenderIn(ctx, c, m)
		if err == nil {
			err = r.confirm(ctx, c, version, sender)
		}
		if err != nil {
			return err
		}
		m.SentAt = c.Now
		if err := do(ctx, c, r, m); err != nil {
			return err
		}
		idempotency.Refuse(ctx, refusal)
		return nil
	}
	// Another post may store a message with the same id.
	err := feed.RetryOnDuplicate(f.Store, func() error { return change.ApplyLong(ctx, f.Store, m.ChannelID, refuse) })
	switch {
	case errors.Is(err, chat.ErrStored):
		return nil
	case err != nil:
		return err
	}
	return refusal
}

// confirm returns errChanged in the transaction of a refusal if the rules of the channel have another
// version than those that refuse the message, or the rule does not apply to the sender any more.
func (r *rule) confirm(ctx context.Context, c *change.Change, version chat.RulesVersion, st *chat.Standing) error {
	stored, err := readSettings(ctx, c.Tx, c.ChannelID)
	if err != nil {
		return err
	}
	present, err := stored.At(c.Now)
	st.Settings = &present
	if err == nil && (stored.Rules == nil || *stored.Rules != version || st.IsModerator || !r.applies(st)) {
		err = errChanged
	}
	return err
}

// deleteMessage stores a message as a deleted one.
func deleteMessage(ctx context.Context, c *change.Change, _ *rule, m chat.Message) error {
	isRefused, err := chat.StoreDeleted(ctx, c.Tx, m)
	if err == nil && !isRefused {
		return chat.ErrStored
	}
	return err
}

// muteSender mutes the sender of a message.
func muteSender(ctx context.Context, c *change.Change, r *rule, m chat.Message) error {
	isRefused, isStored, err := chat.WasRefused(ctx, c.Tx, m)
	switch {
	case err != nil || isRefused:
		return err
	case isStored:
		return chat.ErrStored
	}
	return moderation.RuleMute{RuleID: r.id, Name: r.name, EditorID: r.editor, Duration: r.muteTime}.Apply(ctx, c, m)
}
