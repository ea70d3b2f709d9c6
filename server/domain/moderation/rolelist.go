package moderation

import (
	"context"
	"fmt"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// listedRoles are the roles that ListRoles returns, in this order.
var listedRoles = []Role{Moderator, VIP, OG}

// rolesPlace is a place in the list of several roles, one after the other.
type rolesPlace struct {
	Role  int        // of listedRoles
	After *rolePlace // nil is before the first user who holds the role
}

// listedHolder is a user who holds a role, with their place in the list.
type listedHolder struct {
	holder
	place rolesPlace
}

// ListRoles returns a page of the users who hold roles in a channel and match the search.
func (s *Service) ListRoles(ctx context.Context, req *moderatov1.ListRolesRequest) (*moderatov1.ListRolesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	roles := listedRoles
	if req.GetRole() != "" {
		f.Choice("role", req.GetRole())
		roles = slices.DeleteFunc(slices.Clone(roles), func(r Role) bool { return r.Name != req.GetRole() })
	}
	names := users.ParseNames(f, req.GetQuery())
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	search := paging.Search[listedHolder, rolesPlace]{
		Store: s.Store, Name: fmt.Sprintf("ListRoles/%s/%s/%s", channelID, req.GetRole(), names), Max: maxExamined,
		Read: func(ctx context.Context, after rolesPlace, limit int) ([]listedHolder, error) {
			return s.readRoles(ctx, channelID, roles, after, limit)
		},
		Place: func(h listedHolder) rolesPlace { return h.place },
	}
	if names != "" {
		search.Matches = func(h listedHolder) bool { return names.Match(h.GetSlug(), h.GetDisplayName()) }
	}
	page, pagination, err := search.Page(ctx, req.GetCursor(), rolesPlace{}, limit)
	if err != nil {
		return nil, err
	}
	isBanned, err := s.readBannedAmong(ctx, channelID, page)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	result := &moderatov1.ListRolesResponse{Pagination: pagination}
	for _, h := range page {
		result.Rows = append(result.Rows, &moderatov1.RoleHolder{
			Id: h.GetId(), DisplayName: h.GetDisplayName(), Slug: h.GetSlug(), AvatarUrl: h.GetAvatarUrl(),
			Role: roles[h.place.Role].Name, CreatedAt: h.At.Proto(), IsBanned: isBanned[h.ID],
		})
	}
	return result, nil
}

// readRoles reads the users who hold roles, one role after the other.
func (s *Service) readRoles(ctx context.Context, channelID uid.ID, roles []Role, after rolesPlace, limit int) (rows []listedHolder, err error) {
	for n := after.Role; n < len(roles) && len(rows) < limit; n++ {
		holders, err := readHolders(ctx, s.Store, channelID, roles[n], after.After, limit-len(rows))
		if err != nil {
			return nil, err
		}
		for _, h := range holders {
			rows = append(rows, listedHolder{h, rolesPlace{n, &h.rolePlace}})
		}
		after.After = nil
	}
	return rows, nil
}

// bannedAmong selects which of some users are banned from a channel.
var bannedAmong = store.Declare(func(d *store.Dialect, q bannedAmongQuery) (string, []any) {
	args := store.PaddedArgs(q.ids)
	return "SELECT b.user_id FROM bans b WHERE b.channel_id = ? AND b.user_id IN (" + store.Placeholders(len(args)) + ") AND " +
		authz.InForce(d.Clock, "b"), append([]any{q.channelID}, args...)
})

type bannedAmongQuery struct {
	channelID uid.ID
	ids       map[uid.ID]bool
}

// readBannedAmong returns which of the users of a page are banned.
func (s *Service) readBannedAmong(ctx context.Context, channelID uid.ID, page []listedHolder) (map[uid.ID]bool, error) {
	ids, isBanned := map[uid.ID]bool{}, map[uid.ID]bool{}
	for _, h := range page {
		ids[h.ID] = true
	}
	if len(ids) == 0 {
		return isBanned, nil
	}
	err := bannedAmong.Each(ctx, s.Store, bannedAmongQuery{channelID, ids}, func(r *store.Row) error {
		isBanned[r.ID()] = true
		return nil
	})
	return isBanned, err
}
