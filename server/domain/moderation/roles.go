package moderation

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/role"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// Role is a role of a channel.
type Role struct {
	// Name is the name of the role in the database, in responses and in events.
	Name string

	add, remove eventtype.Type
}

// The roles.
var (
	Moderator = Role{"moderator", "channel.moderator.add", "channel.moderator.remove"}
	VIP       = Role{"vip", "channel.vip.add", "channel.vip.remove"}
	OG        = Role{"og", "channel.og.add", "channel.og.remove"}
)

// holder is a user who holds a role, with their rolePlace in the list.
type holder struct {
	rolePlace
	*moderatov1.UserSummary
}

type rolePlace struct {
	At instant.Instant
	ID uid.ID
}

// listHolders returns the users who hold a role in a channel, the oldest role first: all of
// them, or a page. If the channel does not exist, it returns CHANNEL_NOT_FOUND.
func listHolders(ctx context.Context, s *store.Store, lists *paging.Lists, channelID uid.ID, r Role, w paging.Window) ([]*moderatov1.UserSummary, *moderatov1.Pagination, error) {
	rows, pagination, err := paging.Complete[holder, rolePlace]{
		Lists: lists, Store: s, Name: "roles/" + channelID.String() + "/" + r.Name,
		Read: func(ctx context.Context, after *rolePlace, limit int) ([]holder, error) {
			return readHolders(ctx, s, channelID, r, after, limit)
		},
		Place: func(h holder) rolePlace { return h.rolePlace },
	}.Rows(ctx, w)
	if err == nil && len(rows) == 0 {
		err = listing.CheckChannel(ctx, s, channelID)
	}
	if err != nil {
		return nil, nil, err
	}
	users := make([]*moderatov1.UserSummary, len(rows))
	for i, h := range rows {
		users[i] = h.UserSummary
	}
	return users, pagination, nil
}

// holdersQuery holds the parameters of holdersPage.
type holdersQuery struct {
	channelID uid.ID
	role      string
	after     *rolePlace // nil for the start
	limit     int
}

// holdersPage selects users who hold a role in a channel.
var holdersPage = store.Declare(func(d *store.Dialect, q holdersQuery) (string, []any) {
	where, args := "roles.channel_id = ? AND roles.role = ? AND "+listing.ChannelExists, []any{q.channelID, q.role, q.channelID}
	if q.after != nil {
		above, more := d.Above("roles.created_at", "roles.user_id", q.after.At, q.after.ID)
		where, args = where+" AND "+above, append(args, more...)
	}
	from, end := d.Page(store.Page{
		Table: "roles", By: d.ByIndex("role_channel_id_role_created_at_user_id"), Where: where,
		Order: "roles.created_at, roles.user_id", Limit: q.limit,
	})
	return `
		SELECT roles.created_at, u.id, u.display_name, u.slug, u.avatar_url
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = roles.user_id` + end, args
})

func readHolders(ctx context.Context, s *store.Store, channelID uid.ID, r Role, after *rolePlace, limit int) (rows []holder, err error) {
	err = holdersPage.Each(ctx, s, holdersQuery{channelID, r.Name, after, limit}, func(r *store.Row) error {
		h := holder{rolePlace{r.Instant(), r.ID()}, new(moderatov1.UserSummary)}
		h.Id, h.DisplayName, h.Slug, h.AvatarUrl = h.ID.String(), r.Text(), r.Text(), r.Text()
		rows = append(rows, h)
		return nil
	})
	return rows, err
}

// giveRole gives a user a role, on behalf of the caller of the current request. If the user
// already holds the role, nothing changes and no event is emitted.
func giveRole(ctx context.Context, s *store.Store, channelID, userID uid.ID, r Role) error {
	return changeRole(ctx, s, channelID, userID, r, func(ctx context.Context, c *change.Change, u *ent.User, has bool) error {
		if has {
			return nil
		}
		emitRole(c, r.add, u, r)
		err := c.Tx.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
			SetRole(r.Name).SetCreatedAt(c.Now).
			Exec(ctx)
		if err != nil {
			return err
		}
		return r.rightsChanged(ctx, c, userID)
	})
}

// takeRole takes a role from a user, on behalf of the caller of the current request. If the
// user does not hold the role, nothing changes and no event is emitted.
func (s *Service) takeRole(ctx context.Context, channelID, userID uid.ID, r Role) error {
	return changeRole(ctx, s.Store, channelID, userID, r, func(ctx context.Context, c *change.Change, u *ent.User, has bool) error {
		if !has {
			return nil
		}
		emitRole(c, r.remove, u, r)
		_, err := c.Tx.Role.Delete().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(r.Name)).Exec(ctx)
		if err == nil && r == Moderator {
			err = s.PassRules(ctx, c, userID)
		}
		if err != nil {
			return err
		}
		return r.rightsChanged(ctx, c, userID)
	})
}

// rightsChanged records that a user got or lost the role, if the role gives a right.
func (r Role) rightsChanged(ctx context.Context, c *change.Change, userID uid.ID) error {
	if r != Moderator {
		return nil
	}
	return authz.RightsChanged(ctx, c.Store.Dialect, c.Tx, userID)
}

// changeRole runs body as a change of the channel and passes the user, and whether they hold the role.
// It returns TARGET_IS_CHANNEL if the user is the channel's owner.
func changeRole(ctx context.Context, s *store.Store, channelID, userID uid.ID, r Role, body func(context.Context, *change.Change, *ent.User, bool) error) error {
	return change.ApplyTo(ctx, s, channelID, users.Key{ID: userID}, func(ctx context.Context, c *change.Change, u *ent.User) error {
		if userID == channelID {
			return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
		}
		has, err := c.Tx.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(r.Name)).Exist(ctx)
		if err != nil {
			return err
		}
		return body(ctx, c, u, has)
	})
}

func emitRole(c *change.Change, kind eventtype.Type, u *ent.User, r Role) {
	e := &moderatov1.RoleEvent{
		ChannelId:   c.ChannelID.String(),
		ModeratorId: c.ActorID.String(),
		ClientId:    c.ClientID,
		UserId:      u.ID.String(),
		Role:        r.Name,
		ChangedAt:   c.Now.Proto(),
	}
	switch holder := users.Person(u); r {
	case Moderator:
		e.Holder = &moderatov1.RoleEvent_Moderator{Moderator: holder}
	case VIP:
		e.Holder = &moderatov1.RoleEvent_Vip{Vip: holder}
	case OG:
		e.Holder = &moderatov1.RoleEvent_Og{Og: holder}
	}
	c.Emit(kind, u.ID, e)
}
