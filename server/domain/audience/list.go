package audience

import (
	"context"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// SubscriptionColumns returns the columns that ReadSubscription reads, with the arguments
// of the first column, which says whether the subscription is active now. A subscription
// is lapsed from its expires_at on, even if the sweeper has not handled it yet.
func SubscriptionColumns(d *store.Dialect) (columns string, args []any) {
	now, args := d.Clock.Expression()
	return "CASE WHEN subscriptions.is_active THEN subscriptions.expires_at > " + now + " ELSE subscriptions.is_active END, " +
		"subscriptions.subscribed_at, subscriptions.expires_at, subscriptions.renew_count, subscriptions.streak_count", args
}

// ReadSubscription reads a subscription. Its columns are NULL if there is none.
func ReadSubscription(r *store.Row, info *moderatov1.SubscriptionInfo) {
	isActive, subscribedAt, expiresAt := r.OptionalInt(), r.OptionalInstant(), r.OptionalInstant()
	info.RenewCount, info.StreakCount = r.OptionalInt(), r.OptionalInt()
	if isActive == nil {
		return
	}
	info.IsSubscriber = *isActive != 0
	info.HadSubscriptionBefore = !info.GetIsSubscriber() || info.GetRenewCount() > 0
	if info.GetIsSubscriber() {
		info.SubscribedAt, info.ExpiresAt = subscribedAt.Proto(), expiresAt.Proto()
	}
}

// people is a parsed request for a list of followers or subscribers.
type people struct {
	list      string // the name to which cursors are bound
	channelID uid.ID
	userID    uid.ID // the only user to list; zero for all
	after     listing.TimePlace
	limit     int
}

// parsePeople reads and authorizes a request for followers or subscribers.
func (s *Service) parsePeople(ctx context.Context, operation string, req interface {
	proto.Message
	GetChannelId() string
	GetUserId() string
	GetCursor() string
}, limit *int32) (*people, error) {
	f := validate.Of(req)
	p := &people{after: listing.Start()}
	p.channelID = listing.AuthorizedChannel(ctx, f, req.GetChannelId())
	p.userID = f.OptionalUUID("userId", req.GetUserId())
	p.limit = f.Limit("limit", limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	p.list = operation + "/" + p.channelID.String() + "/" + p.userID.String()
	if err := paging.Read(ctx, s.Store, p.list, req.GetCursor(), &p.after); err != nil {
		return nil, err
	}
	return p, listing.Authorize(ctx, p.channelID)
}

// of returns the page of a table that is sorted by a time, with its arguments. The rows are
// found by the index that the list is sorted by or, for one user, by the table's primary key.
// condition restricts them further.
func (p *people) of(d *store.Dialect, table, key, index, condition string) (from, end string, args []any) {
	page := store.Page{
		Table: table, By: d.ByIndex(index), Where: table + ".channel_id = ? AND " + listing.ChannelExists + condition,
		Order: table + "." + key + " DESC, " + table + ".user_id DESC", Limit: p.limit + 1,
	}
	where, place := d.Below(table+"."+key, table+".user_id", p.after.At, p.after.ID)
	if !p.userID.IsZero() {
		page.By, where, place = d.ByPrimaryKey(table), table+".user_id = ?", []any{p.userID}
	}
	page.Where += " AND " + where
	from, end = d.Page(page)
	return from, end, append([]any{p.channelID, p.channelID}, place...)
}

// member is a follower or subscriber with their place in the list.
type member struct {
	listing.TimePlace
	row *moderatov1.AudienceMember
}

// newAudienceMember returns a message with its subscription, in a single allocation.
func newAudienceMember() *moderatov1.AudienceMember {
	made := new(struct {
		member moderatov1.AudienceMember
		info   moderatov1.SubscriptionInfo
	})
	made.member.SubscriptionInfo = &made.info
	return &made.member
}

// followersPage selects a page of a channel's followers.
var followersPage = store.Declare(func(d *store.Dialect, p *people) (string, []any) {
	from, end, args := p.of(d, "follows", "followed_at", "follow_channel_id_followed_at_user_id", "")
	subscription, now := SubscriptionColumns(d)
	return `
		SELECT follows.followed_at, follows.user_id, u.display_name, u.slug, u.avatar_url, follows.followed_at, ` + subscription + `
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = follows.user_id
		LEFT JOIN subscriptions ON subscriptions.channel_id = follows.channel_id AND subscriptions.user_id = follows.user_id` + end,
		append(now, args...)
})

// subscribersPage selects a page of a channel's active subscribers.
var subscribersPage = store.Declare(func(d *store.Dialect, p *people) (string, []any) {
	from, end, args := p.of(d, "subscriptions", "subscribed_at", "subscription_channel_id_is_active_subscribed_at_user_id",
		" AND subscriptions.is_active = TRUE AND subscriptions.expires_at > "+d.Clock.Present())
	subscription, now := SubscriptionColumns(d)
	return `
		SELECT subscriptions.subscribed_at, subscriptions.user_id, u.display_name, u.slug, u.avatar_url, f.followed_at, ` + subscription + `
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = subscriptions.user_id
		LEFT JOIN follows f ON f.channel_id = subscriptions.channel_id AND f.user_id = subscriptions.user_id` + end,
		append(now, args...)
})

// read reads a page. The columns of the page are the place, the user, when the user
// followed, and SubscriptionColumns.
func (p *people) read(ctx context.Context, s *store.Store, page store.Statement[*people]) ([]*moderatov1.AudienceMember, *moderatov1.Pagination, error) {
	rows := make([]member, 0, p.limit+1)
	err := page.Each(ctx, s, p, func(r *store.Row) error {
		m := member{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}, row: newAudienceMember()}
		m.row.Id, m.row.DisplayName, m.row.Slug, m.row.AvatarUrl = m.ID.String(), r.Text(), r.Text(), r.Text()
		if followedAt := r.OptionalInstant(); followedAt != nil {
			m.row.IsFollower, m.row.FollowedAt = true, followedAt.Proto()
		}
		ReadSubscription(r, m.row.GetSubscriptionInfo())
		rows = append(rows, m)
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = listing.CheckChannel(ctx, s, p.channelID)
	}
	if err != nil {
		return nil, nil, s.Classify(err)
	}
	members, pagination, err := paging.Cut(ctx, s, p.list, rows, p.limit, func(m member) any { return m.TimePlace })
	result := make([]*moderatov1.AudienceMember, len(members))
	for i, m := range members {
		result[i] = m.row
	}
	return result, pagination, err
}

// ListFollowers returns a page of the authorized channel's followers.
func (s *Service) ListFollowers(ctx context.Context, req *moderatov1.ListFollowersRequest) (*moderatov1.ListFollowersResponse, error) {
	p, err := s.parsePeople(ctx, "ListFollowers", req, req.Limit)
	if err != nil {
		return nil, err
	}
	rows, pagination, err := p.read(ctx, s.Store, followersPage)
	if err != nil {
		return nil, err
	}
	return &moderatov1.ListFollowersResponse{Rows: rows, Pagination: pagination}, nil
}

// ListSubscribers returns a page of the authorized channel's active subscribers.
func (s *Service) ListSubscribers(ctx context.Context, req *moderatov1.ListSubscribersRequest) (*moderatov1.ListSubscribersResponse, error) {
	p, err := s.parsePeople(ctx, "ListSubscribers", req, req.Limit)
	if err != nil {
		return nil, err
	}
	rows, pagination, err := p.read(ctx, s.Store, subscribersPage)
	if err != nil {
		return nil, err
	}
	return &moderatov1.ListSubscribersResponse{Rows: rows, Pagination: pagination}, nil
}

// followed is a followed channel with its place in the list.
type followed struct {
	listing.TimePlace
	row    *moderatov1.FollowedChannel
	isGone bool // the channel was deleted; its follow will be removed
}

// followedQuery holds the parameters of followedPage.
type followedQuery struct {
	userID uid.ID
	after  listing.TimePlace
	limit  int
}

// followedPage selects a page of the channels that a user follows.
var followedPage = store.Declare(func(d *store.Dialect, q followedQuery) (string, []any) {
	where, args := d.Below("follows.followed_at", "follows.channel_id", q.after.At, q.after.ID)
	from, end := d.Page(store.Page{
		Table: "follows", By: d.ByIndex("follow_user_id_followed_at_channel_id"), Where: "follows.user_id = ? AND " + where,
		Order: "follows.followed_at DESC, follows.channel_id DESC", Limit: q.limit,
	})
	subscription, now := SubscriptionColumns(d)
	return `
		SELECT follows.followed_at, follows.channel_id, u.display_name, u.slug, u.avatar_url, follows.is_notification_enabled, c.id IS NULL, ` + subscription + `
		FROM ` + from + d.OrderedJoin() + `users u ON u.id = follows.channel_id
		LEFT JOIN channels c ON c.id = follows.channel_id
		LEFT JOIN subscriptions ON subscriptions.channel_id = follows.channel_id AND subscriptions.user_id = follows.user_id` + end,
		append(append(now, q.userID), args...)
})

// ListFollowed returns a page of the channels that the token's user follows.
func (s *Service) ListFollowed(ctx context.Context, req *moderatov1.ListFollowedRequest) (*moderatov1.ListFollowedResponse, error) {
	f := validate.Of(req)
	limit := f.Limit("limit", req.Limit)
	if err := f.Err(); err != nil {
		return nil, err
	}
	userID, place := authn.FromContext(ctx).UserID, listing.Start()
	list := "ListFollowed/" + userID.String()
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &place); err != nil {
		return nil, err
	}
	var rows []followed
	err := followedPage.Each(ctx, s.Store, followedQuery{userID, place, limit + 1}, func(r *store.Row) error {
		f := followed{TimePlace: listing.TimePlace{At: r.Instant(), ID: r.ID()}}
		f.row = &moderatov1.FollowedChannel{
			Id: f.ID.String(), IsFollower: true, FollowedAt: f.At.Proto(), SubscriptionInfo: &moderatov1.SubscriptionInfo{},
			DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text(), IsNotificationEnabled: r.Bool(),
		}
		f.isGone = r.Bool()
		ReadSubscription(r, f.row.GetSubscriptionInfo())
		rows = append(rows, f)
		return nil
	})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := paging.Cut(ctx, s.Store, list, rows, limit, func(r followed) any { return r.TimePlace })
	result := &moderatov1.ListFollowedResponse{Pagination: pagination}
	for _, r := range page {
		if !r.isGone {
			result.Rows = append(result.Rows, r.row)
		}
	}
	return result, err
}

// CountLapsed returns a subquery, with its arguments. The subquery counts the
// lapsed subscriptions that the sweeper has not yet removed from the counters of the
// channel c. They are few, and an index finds them.
func CountLapsed(d *store.Dialect) (query string, args []any) {
	now, args := d.Clock.Expression()
	return "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active = ? AND s.expires_at <= " + now,
		append([]any{true}, args...)
}
