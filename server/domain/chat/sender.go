package chat

import (
	"context"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// roleColumns are the columns of the roles of a user, an SQL expression, in the channel that
// is the first argument of each.
func roleColumns(user string) string {
	is := "EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = " + user + " AND role = "
	return is + "'moderator'), " + is + "'vip'), " + is + "'og')"
}

func (s *Standing) readRoles(r *store.Row) {
	s.IsModerator, s.IsVIP, s.IsOG = r.Bool(), r.Bool(), r.Bool()
}

// personColumns are what else a message says about its sender, the user u, in a channel. The
// channel is the argument of the first two columns.
func personColumns(d *store.Dialect) string {
	return `(SELECT followed_at FROM follows WHERE channel_id = ? AND user_id = u.id),
			EXISTS (SELECT 1 FROM subscriptions WHERE channel_id = ? AND user_id = u.id AND is_active AND expires_at > ` + d.Clock.Present() + `),
			COALESCE(u.username, ''), COALESCE(u.display_name, ''), COALESCE(u.avatar_url, '')`
}

func (s *Standing) readPerson(r *store.Row) {
	s.FollowedAt, s.IsSubscriber = r.OptionalInstant(), r.Bool()
	s.Username, s.DisplayName, s.AvatarURL = r.Text(), r.Text(), r.Text()
}

// sender selects a user's standing, and what else a message says about its sender.
var sender = store.Declare(func(d *store.Dialect, q standingQuery) (string, []any) {
	columns, args := standingColumns(d, q)
	channel := any(q.channelID)
	return "SELECT " + columns + ", " + personColumns(d) +
			", (SELECT last_day FROM chatters WHERE channel_id = ? AND user_id = u.id), u.account_created_at," +
			" COALESCE((SELECT settings FROM chat_settings WHERE channel_id = ?), '') FROM (SELECT 1 AS one) o LEFT JOIN users u ON u.id = ?",
		append(args, channel, channel, channel, channel, q.userID)
})

// ReadSender is ReadStanding for the sender of a message. It also reads what the event of
// the message says about the sender.
func ReadSender(ctx context.Context, s *store.Store, channelID, userID uid.ID) (*Standing, error) {
	var st Standing
	var settings string
	err := sender.One(ctx, s, standingQuery{channelID, userID}, func(r *store.Row) {
		st = readStanding(s, r)
		st.readPerson(r)
		st.chattedOn(r.OptionalInstant())
		st.AccountCreatedAt, settings = r.OptionalInstant(), r.Text()
	})
	if err != nil {
		return nil, fmt.Errorf("read sender: %w", s.Classify(err))
	}
	if settings == "" {
		return &st, nil
	}
	if st.Stored, err = ParseSettings(settings); err != nil {
		return nil, err
	}
	present, err := st.Stored.At(st.Now)
	st.Settings = &present
	return &st, err
}

// Reread reads the standing of the sender of a message again, for a check that what was read is too
// old for. What the checks have added to the standing stays.
func (s *Standing) Reread(ctx context.Context, from *store.Store, m Message) error {
	fresh, err := ReadSender(ctx, from, m.ChannelID, m.UserID)
	if err == nil {
		err = fresh.exists()
	}
	if err != nil {
		return err
	}
	fresh.confirms, fresh.posted = s.confirms, s.posted
	*s = *fresh
	return nil
}

// sendersQuery holds the parameters of senders.
type sendersQuery struct {
	channelID uid.ID
	ids       []any
}

// senders selects what messages in a channel say about their senders.
var senders = store.Declare(func(d *store.Dialect, q sendersQuery) (string, []any) {
	channel := any(q.channelID)
	return "SELECT u.id, " + roleColumns("u.id") + ", " + personColumns(d) + " FROM " + users.From(d, "id") +
			" WHERE u.id IN (" + store.Placeholders(len(q.ids)) + ") AND u." + users.Exists,
		append([]any{channel, channel, channel, channel, channel}, q.ids...)
})

// ReadSenders returns what messages in a channel say about some users, in one statement, without
// bans and mutes. It leaves out users who were deleted.
func ReadSenders(ctx context.Context, s *store.Store, channelID uid.ID, ids []uid.ID) (map[uid.ID]*Standing, error) {
	found, wanted := make(map[uid.ID]*Standing, len(ids)), map[uid.ID]bool{}
	if len(ids) == 0 {
		return found, nil
	}
	for _, id := range ids {
		wanted[id] = true
	}
	err := senders.Each(ctx, s, sendersQuery{channelID, store.PaddedArgs(wanted)}, func(r *store.Row) error {
		id, st := r.ID(), &Standing{}
		st.readRoles(r)
		st.readPerson(r)
		found[id] = st
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read senders: %w", s.Classify(err))
	}
	return found, nil
}

// Person returns the user with an id, whose names were read, as moderators see the user.
func (s *Standing) Person(id uid.ID) *moderatov1.Person {
	return &moderatov1.Person{Id: id.String(), Username: s.Username, DisplayName: s.DisplayName, AvatarUrl: s.AvatarURL}
}

// senderProto returns the sender of a message.
func senderProto(m Message, st *Standing) *moderatov1.ChatSender {
	return &moderatov1.ChatSender{
		Id: m.UserID.String(), Username: st.Username, DisplayName: st.DisplayName, AvatarUrl: st.AvatarURL,
		IsOwner: m.UserID == m.ChannelID, IsModerator: st.IsModerator, IsVip: st.IsVIP, IsOg: st.IsOG,
		IsSubscriber: st.IsSubscriber, IsFollower: st.FollowedAt != nil, IsBot: m.IsBot,
		Roles: st.Roles(),
	}
}

// Roles returns the names of the roles.
func (s *Standing) Roles() (names []string) {
	for _, role := range []struct {
		name string
		is   bool
	}{{"moderator", s.IsModerator}, {"vip", s.IsVIP}, {"og", s.IsOG}} {
		if role.is {
			names = append(names, role.name)
		}
	}
	return names
}
