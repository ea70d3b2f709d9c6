package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"

	"github.com/moderato-live/moderato/ent"
)

// maxUnique is the longest time for which a channel can require that texts are unique.
const maxUnique = 5 * time.Minute

// mode is a restriction of the posts in a channel.
type mode struct {
	// restriction is the name of the mode in errors.
	restriction string
	// isOn reports whether settings have the mode.
	isOn func(*chat.Settings) bool
	// refuses reports whether settings with the mode refuse a post, and until when; nil if no
	// time helps.
	refuses func(ctx context.Context, p *post, at *chat.Settings) (isRefused bool, until *instant.Instant, err error)
	// confirm decides in the transaction of the post, if refuses depends on the posts of others
	// or on another post of the sender; else nil.
	confirm func(ctx context.Context, tx *ent.Tx, p *post) error
}

// modes are all modes, in the order in which they refuse.
var modes = []mode{
	{
		restriction: "account_age",
		isOn:        func(at *chat.Settings) bool { return at.MinAccountAgeSeconds > 0 },
		refuses: func(_ context.Context, p *post, at *chat.Settings) (bool, *instant.Instant, error) {
			isRefused, until := p.isAfter(p.standing.AccountCreatedAt, at.MinAccountAgeSeconds)
			return isRefused, until, nil
		},
	},
	{
		restriction: "followers",
		isOn:        func(at *chat.Settings) bool { return at.FollowersOnlySeconds >= 0 },
		refuses: func(_ context.Context, p *post, at *chat.Settings) (bool, *instant.Instant, error) {
			isRefused, until := p.isAfter(p.standing.FollowedAt, at.FollowersOnlySeconds)
			return isRefused || p.standing.FollowedAt == nil, until, nil
		},
	},
	{
		restriction: "subscribers",
		isOn:        func(at *chat.Settings) bool { return at.SubscribersOnly },
		refuses: func(_ context.Context, p *post, _ *chat.Settings) (bool, *instant.Instant, error) {
			return !p.standing.IsSubscriber, nil, nil
		},
	},
	{
		restriction: "emote",
		isOn:        func(at *chat.Settings) bool { return at.EmoteOnly },
		refuses: func(ctx context.Context, p *post, _ *chat.Settings) (bool, *instant.Instant, error) {
			has, err := chat.HasOnlyEmotes(ctx, p.store, p.message)
			return !has, nil, err
		},
	},
	{
		restriction: "first_message",
		isOn:        func(at *chat.Settings) bool { return at.FirstMessage == "block" },
		refuses: func(_ context.Context, p *post, _ *chat.Settings) (bool, *instant.Instant, error) {
			return p.standing.IsNewcomer, nil, nil
		},
	},
	{
		restriction: "slow",
		isOn:        func(at *chat.Settings) bool { return at.SlowSeconds > 0 },
		refuses: func(ctx context.Context, p *post, at *chat.Settings) (bool, *instant.Instant, error) {
			return p.isTooSoon(ctx, p.store.Read, at)
		},
		confirm: func(ctx context.Context, tx *ent.Tx, p *post) error {
			isRefused, until, err := p.isTooSoon(ctx, tx, p.standing.Settings)
			if err == nil && isRefused {
				return apierr.ChatRestricted("slow", until, p.standing.Now)
			}
			return err
		},
	},
	{
		restriction: "unique",
		isOn:        func(at *chat.Settings) bool { return at.UniqueSeconds > 0 },
		refuses: func(ctx context.Context, p *post, at *chat.Settings) (bool, *instant.Instant, error) {
			_, sentAt, err := p.readText(ctx, p.store.Read)
			isRefused, until := p.isAfter(sentAt, at.UniqueSeconds)
			return isRefused, until, err
		},
		confirm: claimText,
	},
}

// hasModes reports whether settings restrict posts, or hold them.
func hasModes(at *chat.Settings) bool {
	return at.FirstMessage == "hold" || slices.ContainsFunc(modes, func(m mode) bool { return m.isOn(at) })
}

// Modes returns the checks of the modes, in their order.
func Modes(s *store.Store) (checks []chat.PostCheck) {
	for _, m := range modes {
		checks = append(checks, func(ctx context.Context, st *chat.Standing, message chat.Message) error {
			if st.Settings == nil || !m.isOn(st.Settings) || isExempt(st, message) {
				return nil
			}
			return m.check(ctx, &post{store: s, standing: st, message: message})
		})
	}
	return checks
}

// isExempt reports whether no mode restricts the sender of a message.
func isExempt(st *chat.Standing, m chat.Message) bool {
	if m.UserID == m.ChannelID || st.IsModerator {
		return true
	}
	return hasRole(st, st.Settings.ExemptRoles)
}

// hasRole reports whether a sender has one of some roles.
func hasRole(st *chat.Standing, roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return role == "vip" && st.IsVIP || role == "og" && st.IsOG || role == "subscriber" && st.IsSubscriber
	})
}

// post is a message that a mode checks.
type post struct {
	store    *store.Store
	standing *chat.Standing
	message  chat.Message
}

// check returns CHAT_RESTRICTED if the mode refuses a post. A message that is stored already
// is not posted again, so it is never refused.
func (m *mode) check(ctx context.Context, p *post) error {
	isRefused, until, err := m.refuses(ctx, p, p.standing.Settings)
	switch {
	case err != nil:
		return p.store.Classify(err)
	case !isRefused:
		if m.confirm != nil {
			p.standing.Confirm(func(ctx context.Context, tx *ent.Tx, stored chat.Message) error {
				return m.confirm(ctx, tx, &post{p.store, p.standing, stored})
			})
		}
		return nil
	}
	if isStored, err := chat.IsStored(ctx, p.store, p.message); err != nil || isStored {
		return err
	}
	until, err = m.untilEnd(ctx, p, until)
	if err != nil {
		return p.store.Classify(err)
	}
	return apierr.ChatRestricted(m.restriction, until, p.standing.Now)
}

// untilEnd returns until when the mode refuses a post, given until when the present settings do:
// the mode may end before.
func (m *mode) untilEnd(ctx context.Context, p *post, until *instant.Instant) (*instant.Instant, error) {
	for _, end := range p.standing.Stored.Ends(p.standing.Now) {
		if until != nil && *until <= end {
			break // the post is permitted before these settings change
		}
		at, err := p.standing.Stored.At(end)
		if err != nil {
			return nil, err
		}
		if !m.isOn(&at) {
			return &end, nil
		}
		isRefused, later, err := m.refuses(ctx, p, &at)
		switch {
		case err != nil:
			return nil, err
		case !isRefused:
			return &end, nil
		case later == nil:
			until = nil
		default:
			until = new(max(*later, end))
		}
	}
	return until, nil
}

// isAfter reports whether an instant is less than some seconds ago, and until when; false if it
// is nil.
func (p *post) isAfter(at *instant.Instant, seconds int64) (bool, *instant.Instant) {
	if at == nil {
		return false, nil
	}
	until := at.Add(time.Duration(seconds) * time.Second)
	return p.standing.Now < until, &until
}

// isTooSoon reports whether the sender has posted too short a time ago, and until when.
func (p *post) isTooSoon(ctx context.Context, q store.Queryer, at *chat.Settings) (bool, *instant.Instant, error) {
	after := p.standing.Now.Add(-time.Duration(at.SlowSeconds) * time.Second)
	latest, err := chat.LatestOf(ctx, p.store, q, p.standing, p.message.ChannelID, p.message.UserID, after)
	isRefused, until := p.isAfter(latest, at.SlowSeconds)
	return isRefused, until, err
}

// textID identifies the folded text of the message in its channel. A text of which nothing is
// left is compared as it is.
func (p *post) textID() digest.SHA256 {
	return digest.Of(string(p.message.ChannelID[:]) + cmp.Or(textmatch.Fold(p.message.Text), p.message.Text))
}

// readText reads the latest message with the same text in the channel, and when it was posted;
// nil if there is none.
func (p *post) readText(ctx context.Context, q store.Queryer) (isOwn bool, sentAt *instant.Instant, err error) {
	err = store.QueryEach(ctx, q, "SELECT message_id = ?, sent_at FROM unique_texts WHERE id = ?", []any{p.message.ID, p.textID()},
		func(scan func(...any) error) error { return scan(&isOwn, &sentAt) })
	return isOwn, sentAt, err
}

// RecordTexts makes messages that a change posts without a check the latest with their texts in its
// channel, while the channel requires that texts are unique.
func RecordTexts(ctx context.Context, c *change.Change, posted []chat.Message, senders map[uid.ID]*chat.Standing) error {
	stored, err := readSettings(ctx, c.Tx, c.ChannelID)
	if err != nil {
		return err
	}
	present, err := stored.At(c.Now)
	if err != nil || present.UniqueSeconds == 0 {
		return err
	}
	var args []any
	for _, m := range posted {
		st := senders[m.UserID]
		if st.Settings = &present; !isExempt(st, m) {
			p := &post{c.Store, st, m}
			args = append(args, p.textID(), m.ChannelID, m.ID, c.Now)
		}
	}
	if len(args) == 0 {
		return nil
	}
	_, err = c.Tx.ExecContext(ctx, "INSERT INTO unique_texts (id, channel_id, message_id, sent_at) VALUES "+strings.Repeat(",(?, ?, ?, ?)", len(args)/4)[1:]+
		c.Store.Upsert("id")+"message_id = "+c.Store.Proposed("message_id")+", sent_at = "+c.Store.Proposed("sent_at"), args...)
	if err != nil {
		return fmt.Errorf("record the texts of messages: %w", err)
	}
	return nil
}

// claimText makes a message the latest with its text in the channel, unless another one is too
// recent. On any server, the row of the text orders the messages.
func claimText(ctx context.Context, tx *ent.Tx, p *post) error {
	st, m := p.standing, p.message
	seconds := st.Settings.UniqueSeconds
	old := m.SentAt.Add(-time.Duration(seconds) * time.Second)
	_, err := tx.ExecContext(ctx, "INSERT INTO unique_texts (id, channel_id, message_id, sent_at) VALUES (?, ?, ?, ?)"+
		p.store.Upsert("id")+"message_id = CASE WHEN sent_at <= ? THEN ? ELSE message_id END, sent_at = CASE WHEN sent_at <= ? THEN ? ELSE sent_at END",
		p.textID(), m.ChannelID, m.ID, m.SentAt, old, m.ID, old, m.SentAt)
	if err != nil {
		return fmt.Errorf("record the text of a message: %w", err)
	}
	isOwn, sentAt, err := p.readText(ctx, tx)
	if err != nil || isOwn {
		return err
	}
	_, until := p.isAfter(sentAt, seconds)
	return apierr.ChatRestricted("unique", until, st.Now)
}
