package held

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/heldmessage"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
)

const (
	// maxPending is how many messages of a channel may wait for a decision, and maxPendingOfUser
	// how many of one sender.
	maxPending       = 5000
	maxPendingOfUser = 5
)

// Reason says why a message is held.
type Reason struct {
	// Rules are the rules that hold the message, the strictest first. If the setting firstMessage
	// does, they are those that flag it.
	Rules []uid.ID
	// Spans are the parts of the text that the rules match.
	Spans []*moderatov1.Span
	// Message is what the strictest rule tells senders; empty for the usual text.
	Message string
	// Confirm returns an error in the transaction, in which the sender was read again, if the message
	// is not to be held any more. It may be nil.
	Confirm func(ctx context.Context, c *change.Change, sender *chat.Standing) error
}

// Check returns the check that refuses posts with the id of a message that is held, or was and
// was not approved. It lets a repeat of an approved message pass while that is stored. Messages are
// held only in channels with settings, so in others it costs nothing.
func Check(s *store.Store) chat.PostCheck {
	return func(ctx context.Context, st *chat.Standing, m chat.Message) error {
		if st.Settings == nil || m.ID.IsZero() {
			return nil
		}
		row, err := s.Read.HeldMessage.Get(ctx, m.ID)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return s.Classify(err)
		}
		if refusal := answer(row, m); refusal != nil {
			return refusal
		}
		isStored, err := chat.IsStored(ctx, s, m)
		if err == nil && !isStored {
			err = apierr.MessageBlocked("")
		}
		return err
	}
}

// answer returns the error for a repeat of a held message; nil if it was approved. An approved
// message may have been deleted and purged since: then its id admits no other text.
func answer(row *ent.HeldMessage, m chat.Message) error {
	switch {
	case row.ChannelID != m.ChannelID || row.UserID != m.UserID:
		return chat.IDTaken()
	case row.Status == pending:
		return refusalOf(row)
	case row.Status == approved:
		return nil
	}
	return apierr.MessageBlocked("")
}

// Hold keeps a message of a sender whose standing was just read until a moderator decides. It
// returns MESSAGE_HELD, or why the message is refused instead: MESSAGE_BLOCKED if too many wait
// already, the sender's ban or mute, or the error of why.Confirm. It returns nil only if the message is stored already.
func Hold(ctx context.Context, s *store.Store, to *live.Hub, st *chat.Standing, m chat.Message, why Reason) error {
	// Those who flood a full queue do not wait for the channel's lock.
	if full := checkRoom(ctx, s, s.Read, m, why); full != nil {
		if isStored, err := chat.IsStored(ctx, s, m); err != nil || isStored {
			return err
		}
		return s.Classify(full)
	}
	h := &holding{standing: st, message: m, why: why, isGiven: !m.ID.IsZero()}
	if !h.isGiven {
		h.message.ID = uid.New()
	}
	err := feed.RetryOnDuplicate(s, func() error { return change.ApplyLong(ctx, s, m.ChannelID, h.store) })
	switch {
	case errors.Is(err, chat.ErrStored):
		return nil
	case err != nil:
		return err
	}
	s.Buckets.Add(m.ChannelID, h.row.HeldAt, buckets.Counts{Held: 1})
	to.Post(h.event())
	return h.answer
}

// holding is a message that is being held.
type holding struct {
	standing *chat.Standing
	message  chat.Message
	why      Reason
	isGiven  bool // whether the caller chose the id of the message

	row    *ent.HeldMessage // as the latest attempt stored it; nil if it stored none
	answer *apierr.Error
}

// store stores the message, and with the idempotency key the answer.
func (h *holding) store(ctx context.Context, c *change.Change) error {
	if h.row != nil {
		switch isCommitted, err := h.isCommitted(ctx, c); {
		case err != nil:
			return err
		case isCommitted:
			return store.ErrCommitted
		}
	}
	h.row = nil
	m := h.message
	if err := chat.Admit(ctx, c.Store, c.Tx, m.UserID); err != nil {
		return err
	}
	sender, err := chat.SenderIn(ctx, c, m)
	if err == nil && h.why.Confirm != nil {
		err = h.why.Confirm(ctx, c, sender)
	}
	if err != nil {
		return err
	}
	if h.isGiven {
		if err := findRepeated(ctx, c, m); err != nil {
			return err
		}
	}
	if err := checkRoom(ctx, c.Store, c.Tx, m, h.why); err != nil {
		return err
	}
	return h.insert(ctx, c)
}

// isCommitted reports whether an earlier attempt, whose outcome was unknown, stored the message.
func (h *holding) isCommitted(ctx context.Context, c *change.Change) (bool, error) {
	return c.Tx.HeldMessage.Query().Where(heldmessage.ID(h.row.ID), heldmessage.ChannelID(h.row.ChannelID),
		heldmessage.UserID(h.row.UserID), heldmessage.HeldAt(h.row.HeldAt)).Exist(ctx)
}

// findRepeated returns an error if a message with the id is held or stored already.
func findRepeated(ctx context.Context, c *change.Change, m chat.Message) error {
	row, err := c.Tx.HeldMessage.Get(ctx, m.ID)
	wasHeld := err == nil
	if err != nil && !ent.IsNotFound(err) {
		return err
	}
	if wasHeld {
		if refusal := answer(row, m); refusal != nil {
			return refusal
		}
	}
	switch _, isStored, err := chat.WasRefused(ctx, c.Tx, m); {
	case err != nil:
		return err
	case isStored:
		return chat.ErrStored
	case wasHeld:
		return apierr.MessageBlocked("")
	}
	return nil
}

func (h *holding) insert(ctx context.Context, c *change.Change) error {
	m, at := h.message, h.standing.Settings
	var rule *uid.ID
	if len(h.why.Rules) > 0 {
		rule = &h.why.Rules[0]
	}
	until := c.Now.Add(time.Duration(at.HoldSeconds) * time.Second)
	h.row = &ent.HeldMessage{
		ID: m.ID, ChannelID: m.ChannelID, UserID: m.UserID, Text: m.Text, RuleID: rule, ReplyToMessageID: m.ReplyTo, IsBot: m.IsBot,
		HeldAt: c.Now, ExpiresAt: until, DueAt: &until, Approves: at.OnHoldExpiry == "approve", Status: pending,
		Details: encodeDetails(h.standing, h.why),
	}
	h.answer = apierr.MessageHeld(m.ID, until, h.why.Message)
	idempotency.Refuse(ctx, h.answer)
	r := h.row
	return c.Tx.HeldMessage.Create().SetID(r.ID).SetChannelID(r.ChannelID).SetUserID(r.UserID).SetText(r.Text).SetDetails(r.Details).
		SetNillableRuleID(r.RuleID).SetNillableReplyToMessageID(r.ReplyToMessageID).SetIsBot(r.IsBot).
		SetHeldAt(r.HeldAt).SetExpiresAt(r.ExpiresAt).SetNillableDueAt(r.DueAt).SetApproves(r.Approves).SetStatus(r.Status).
		Exec(ctx)
}

// checkRoom refuses a message if no further one of its sender may wait in its channel.
func checkRoom(ctx context.Context, s *store.Store, q store.Queryer, m chat.Message, why Reason) error {
	isFull := false
	err := store.QueryRow(ctx, q, "SELECT EXISTS (SELECT 1 FROM held_messages"+s.ByIndex("heldmessage_user_id_channel_id_status_held_at_id")+
		" WHERE user_id = ? AND channel_id = ? AND status = ?"+nth(maxPendingOfUser)+")"+
		" OR EXISTS (SELECT 1 FROM held_messages"+s.ByIndex("heldmessage_channel_id_status_held_at_id")+
		" WHERE channel_id = ? AND status = ?"+nth(maxPending)+")",
		[]any{m.UserID, m.ChannelID, pending, m.ChannelID, pending}, &isFull)
	if err == nil && isFull {
		err = apierr.MessageBlocked(why.Message)
	}
	return err
}

// nth returns the LIMIT clause of the n-th row.
func nth(n int) string { return fmt.Sprintf("%s OFFSET %d", store.Limit(1), n-1) }

// event returns the event that the message waits.
func (h *holding) event() live.Message {
	return live.New("channel.chat.hold", h.row.ChannelID, h.row.HeldAt, &moderatov1.ChatHoldEvent{
		ChannelId: h.row.ChannelID.String(), MessageId: h.row.ID.String(), User: h.standing.Person(h.row.UserID), Facts: factsOf(h.standing), Message: h.row.Text,
		Spans: h.why.Spans, Rules: uid.Texts(h.why.Rules), HeldAt: h.row.HeldAt.Proto(), ExpiresAt: h.row.ExpiresAt.Proto(), Status: pending,
		ReplyToMessageId: uid.Text(h.row.ReplyToMessageID),
	})
}
