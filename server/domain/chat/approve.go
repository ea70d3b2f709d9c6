package chat

import (
	"context"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// SendersIn returns the standings of users in the channel of a change, with all that ReadSender
// reads of a user. It leaves out users who were deleted.
func SendersIn(ctx context.Context, c *change.Change, ids map[uid.ID]bool) (map[uid.ID]*Standing, error) {
	found := make(map[uid.ID]*Standing, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	d, channel, padded := c.Store.Dialect, any(c.ChannelID), store.PaddedArgs(ids)
	query := `SELECT u.id, (SELECT banned_at FROM bans WHERE channel_id = ? AND user_id = u.id AND ` + authz.InForce(d.Clock, "bans") + `),
			(SELECT expires_at FROM bans WHERE channel_id = ? AND user_id = u.id),
			(SELECT expires_at FROM mutes WHERE channel_id = ? AND user_id = u.id AND expires_at > ?),
			` + generation("?", "u.id") + `, ` + roleColumns("u.id") + `, ` + personColumns(d) + `,
			(SELECT last_day FROM chatters WHERE channel_id = ? AND user_id = u.id)
		FROM ` + users.From(d, "id") + ` WHERE u.id IN (` + store.Placeholders(len(padded)) + `) AND u.` + users.Exists
	args := append([]any{channel, channel, channel, c.Now, channel, channel, channel, channel, channel, channel, channel, channel}, padded...)
	err := store.QueryEach(ctx, c.Tx, query, args, func(scan func(...any) error) error {
		var id uid.ID
		var lastDay *instant.Instant
		s := &Standing{HasChannel: true, HasUser: true, Now: c.Now}
		err := scan(&id, &s.BannedAt, &s.BanExpiresAt, &s.MuteExpiresAt, &s.generation, &s.IsModerator, &s.IsVIP, &s.IsOG,
			&s.FollowedAt, &s.IsSubscriber, &s.Username, &s.DisplayName, &s.AvatarURL, &lastDay)
		s.chattedOn(lastDay)
		found[id] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read senders: %w", err)
	}
	return found, nil
}

// SenderIn is SendersIn for the sender of a message that is refused or held. It returns an error if the
// user does not exist, or is banned or muted.
func SenderIn(ctx context.Context, c *change.Change, m Message) (*Standing, error) {
	senders, err := SendersIn(ctx, c, map[uid.ID]bool{m.UserID: true})
	if err != nil {
		return nil, err
	}
	st := senders[m.UserID]
	if st == nil {
		return nil, apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND)
	}
	return st, CheckSilenced(ctx, st, m)
}

// chattedOn sets what follows from the last day on which the user posted; nil if there is none.
func (s *Standing) chattedOn(lastDay *instant.Instant) {
	s.isChatter = lastDay != nil && *lastDay >= dayOf(s.Now)
	s.IsNewcomer = lastDay == nil || *lastDay < s.Now.Add(-chatterTime)
}

// Posting are messages that a change posts: see PostIn.
type Posting struct {
	messages []Message
	senders  map[uid.ID]*Standing
}

// PostIn posts messages of senders whose standings were read in the change, at the time of the
// change, without any check. None of them is stored: see StoredIn. After the change, Deliver passes
// the messages on.
func PostIn(ctx context.Context, c *change.Change, messages []Message, senders map[uid.ID]*Standing) (*Posting, error) {
	if len(messages) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to deliver
	}
	p := &Posting{senders: senders}
	rows := &insertion{chatters: map[uid.ID]bool{}}
	for _, m := range messages {
		m.SentAt = c.Now
		rows.append(m, senders[m.UserID])
		p.messages = append(p.messages, m)
	}
	return p, rows.finish(ctx, c)
}

// Deliver counts the messages, and passes them on to the listeners of their channel. If their
// emotes cannot be read, listeners receive the messages without them.
func (p *Posting) Deliver(ctx context.Context, s *store.Store, to *live.Hub) {
	if p == nil || len(p.messages) == 0 {
		return
	}
	emotes, _ := readEmotes(ctx, s, p.messages[0].ChannelID, p.messages...)
	for _, m := range p.messages {
		st := p.senders[m.UserID]
		s.Buckets.Add(m.ChannelID, m.SentAt, st.counted())
		st.IsNewcomer = false // of the further messages
		to.Post(live.Message{ID: m.ID, ChannelID: m.ChannelID, Event: messageEvent(m, st, emotes)})
	}
}
