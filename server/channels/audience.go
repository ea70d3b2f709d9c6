package channels

import (
	"context"
	"fmt"
	"math"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// timePlace is where a list by time goes on, newest first: after the row of this
// instant and id.
type timePlace struct {
	At instant.Instant
	ID uid.ID
}

// start is before every row.
func start() timePlace { return timePlace{At: math.MaxInt64} }

// subscriptionColumns are the columns that readSubscription reads.
const subscriptionColumns = "s.is_active, s.subscribed_at, s.expires_at, s.renew_count, s.streak_count"

// subscriptionRow is a row of a subscription that may be missing.
type subscriptionRow struct {
	isActive                *int64
	subscribedAt, expiresAt *instant.Instant
	renewCount, streakCount *int64
}

func readSubscription(r *store.Row) subscriptionRow {
	return subscriptionRow{
		isActive:     r.OptionalInt(),
		subscribedAt: r.OptionalInstant(), expiresAt: r.OptionalInstant(),
		renewCount: r.OptionalInt(), streakCount: r.OptionalInt(),
	}
}

// tell writes the subscription as it is at an instant: lapsed from the end on,
// whether or not the sweeper has seen it.
func (s *subscriptionRow) tell(info *moderatov1.SubscriptionInfo, now instant.Instant) {
	if s.isActive == nil {
		return
	}
	info.IsSubscriber = *s.isActive != 0 && now < *s.expiresAt
	info.RenewCount, info.StreakCount = s.renewCount, s.streakCount
	info.HadSubscriptionBefore = !info.GetIsSubscriber() || *s.renewCount > 0
	if info.GetIsSubscriber() {
		info.SubscribedAt, info.ExpiresAt = s.subscribedAt.Proto(), s.expiresAt.Proto()
	}
}

// people is a list of followers or subscribers.
type people struct {
	list      string // its name, for cursors
	channelID uid.ID
	userID    uid.ID // zero for all
	after     timePlace
	limit     int
}

// parsePeople reads and authorizes a request for followers or subscribers.
func parsePeople(ctx context.Context, operation string, req interface {
	GetChannelId() string
	GetUserId() string
	GetCursor() string
}, limit *int32) (*people, error) {
	var f validate.Fields
	p := &people{after: start()}
	p.channelID = authorizedChannel(ctx, &f, req.GetChannelId())
	p.userID = f.OptionalUUID("userId", req.GetUserId())
	p.limit = f.Limit("limit", limit, defaultLimit, maxPeople)
	if err := f.Err(); err != nil {
		return nil, err
	}
	p.list = fmt.Sprintf("%s/%s/%s", operation, p.channelID, p.userID)
	if err := readCursor(p.list, req.GetCursor(), &p.after); err != nil {
		return nil, err
	}
	return p, authorize(ctx, p.channelID)
}

// from says how the rows of the page are found in the channel: on the index that
// the list is sorted by, or the one row of userId by the table's key.
func (p *people) from(s *store.Store, key, index string) (by, where string, args []any) {
	if !p.userID.IsZero() {
		return "", "user_id = ?", []any{p.channelID, p.userID}
	}
	where, args = after(s, key, "user_id", p.after.At, p.after.ID)
	return byIndex(s, index), where, append([]any{p.channelID}, args...)
}

// member is a row with its place.
type member struct {
	timePlace
	row *moderatov1.AudienceMember
}

// newAudienceMember makes a message with its subscription in one piece.
func newAudienceMember() *moderatov1.AudienceMember {
	made := new(struct {
		member moderatov1.AudienceMember
		info   moderatov1.SubscriptionInfo
	})
	made.member.SubscriptionInfo = &made.info
	return &made.member
}

// read runs the query of a page. What follows SELECT are the place, the user,
// when they follow, and subscriptionColumns.
func (p *people) read(ctx context.Context, s *store.Store, from string, args []any) ([]*moderatov1.AudienceMember, *moderatov1.Pagination, error) {
	rows := make([]member, 0, p.limit+1)
	isThere := false
	err := s.Each(ctx, "SELECT "+roles.ChannelNow(s)+", "+from, append([]any{p.channelID}, args...), func(r *store.Row) error {
		now := r.OptionalInt()
		if now == nil {
			return nil
		}
		isThere = true
		m := member{timePlace: timePlace{r.Instant(), r.ID()}, row: newAudienceMember()}
		m.row.Id, m.row.DisplayName, m.row.Slug, m.row.AvatarUrl = m.ID.String(), r.Text(), r.Text(), r.Text()
		if followedAt := r.OptionalInstant(); followedAt != nil {
			m.row.IsFollower, m.row.FollowedAt = true, followedAt.Proto()
		}
		sub := readSubscription(r)
		sub.tell(m.row.GetSubscriptionInfo(), s.Clock.At(*now))
		rows = append(rows, m)
		return nil
	})
	if err == nil && !isThere {
		err = roles.CheckChannel(ctx, s, p.channelID)
	}
	if err != nil {
		return nil, nil, s.Classify(err)
	}
	page, pagination, err := cut(p.list, rows, p.limit, func(m member) any { return m.timePlace })
	result := make([]*moderatov1.AudienceMember, len(page))
	for i, m := range page {
		result[i] = m.row
	}
	return result, pagination, err
}

// ListFollowers answers a page of the authorized channel's followers.
func (s *Service) ListFollowers(ctx context.Context, req *moderatov1.ListFollowersRequest) (*moderatov1.ListFollowersResponse, error) {
	p, err := parsePeople(ctx, "ListFollowers", req, req.Limit)
	if err != nil {
		return nil, err
	}
	// The page is cut on the index before anything is joined to it.
	by, where, args := p.from(s.Store, "followed_at", "follow_channel_id_followed_at_user_id")
	rows, pagination, err := p.read(ctx, s.Store, `
		f.followed_at, f.user_id, u.display_name, u.slug, u.avatar_url, f.followed_at, `+subscriptionColumns+`
		FROM (SELECT channel_id, user_id, followed_at FROM follows`+by+`
			WHERE channel_id = ? AND `+where+`
			ORDER BY followed_at DESC, user_id DESC LIMIT ?) f
		JOIN users u ON u.id = f.user_id
		LEFT JOIN subscriptions s ON s.channel_id = f.channel_id AND s.user_id = f.user_id
		ORDER BY f.followed_at DESC, f.user_id DESC`,
		append(args, p.limit+1))
	if err != nil {
		return nil, err
	}
	return &moderatov1.ListFollowersResponse{Rows: rows, Pagination: pagination}, nil
}

// ListSubscribers answers a page of the authorized channel's active subscribers.
func (s *Service) ListSubscribers(ctx context.Context, req *moderatov1.ListSubscribersRequest) (*moderatov1.ListSubscribersResponse, error) {
	p, err := parsePeople(ctx, "ListSubscribers", req, req.Limit)
	if err != nil {
		return nil, err
	}
	by, where, args := p.from(s.Store, "subscribed_at", "subscription_channel_id_is_active_subscribed_at_user_id")
	now, nowArgs := s.Store.Clock.Expression()
	rows, pagination, err := p.read(ctx, s.Store, `
		s.subscribed_at, s.user_id, u.display_name, u.slug, u.avatar_url, f.followed_at, `+subscriptionColumns+`
		FROM (SELECT * FROM subscriptions`+by+`
			WHERE channel_id = ? AND `+where+` AND is_active = ? AND expires_at > `+now+`
			ORDER BY subscribed_at DESC, user_id DESC LIMIT ?) s
		JOIN users u ON u.id = s.user_id
		LEFT JOIN follows f ON f.channel_id = s.channel_id AND f.user_id = s.user_id
		ORDER BY s.subscribed_at DESC, s.user_id DESC`,
		append(append(append(args, true), nowArgs...), p.limit+1))
	if err != nil {
		return nil, err
	}
	return &moderatov1.ListSubscribersResponse{Rows: rows, Pagination: pagination}, nil
}

// followed is a row of ListFollowed with its place.
type followed struct {
	timePlace
	row    *moderatov1.FollowedChannel
	isGone bool // the channel was deleted, and the follow will be
}

// ListFollowed answers a page of the channels that the token's user follows.
func (s *Service) ListFollowed(ctx context.Context, req *moderatov1.ListFollowedRequest) (*moderatov1.ListFollowedResponse, error) {
	var f validate.Fields
	limit := f.Limit("limit", req.Limit, defaultLimit, maxPeople)
	if err := f.Err(); err != nil {
		return nil, err
	}
	userID, place := auth.FromContext(ctx).UserID, start()
	list := "ListFollowed/" + userID.String()
	if err := readCursor(list, req.GetCursor(), &place); err != nil {
		return nil, err
	}
	where, args := after(s.Store, "followed_at", "channel_id", place.At, place.ID)
	var rows []followed
	err := s.Store.Each(ctx, `
		SELECT `+s.Store.Clock.SQL()+`, f.followed_at, f.channel_id, u.display_name, u.slug, u.avatar_url, f.is_notification_enabled, c.id IS NULL, `+subscriptionColumns+`
		FROM (SELECT channel_id, user_id, followed_at, is_notification_enabled FROM follows`+byIndex(s.Store, "follow_user_id_followed_at_channel_id")+`
			WHERE user_id = ? AND `+where+`
			ORDER BY followed_at DESC, channel_id DESC LIMIT ?) f
		JOIN users u ON u.id = f.channel_id
		LEFT JOIN channels c ON c.id = f.channel_id
		LEFT JOIN subscriptions s ON s.channel_id = f.channel_id AND s.user_id = f.user_id
		ORDER BY f.followed_at DESC, f.channel_id DESC`,
		append(append([]any{userID}, args...), limit+1),
		func(r *store.Row) error {
			now := s.Store.Clock.At(r.Int())
			f := followed{timePlace: timePlace{r.Instant(), r.ID()}}
			f.row = &moderatov1.FollowedChannel{
				Id: f.ID.String(), IsFollower: true, FollowedAt: f.At.Proto(), SubscriptionInfo: &moderatov1.SubscriptionInfo{},
				DisplayName: r.Text(), Slug: r.Text(), AvatarUrl: r.Text(), IsNotificationEnabled: r.Bool(),
			}
			f.isGone = r.Bool()
			sub := readSubscription(r)
			sub.tell(f.row.GetSubscriptionInfo(), now)
			rows = append(rows, f)
			return nil
		})
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	page, pagination, err := cut(list, rows, limit, func(r followed) any { return r.timePlace })
	result := &moderatov1.ListFollowedResponse{Pagination: pagination}
	for _, r := range page {
		if !r.isGone {
			result.Rows = append(result.Rows, r.row)
		}
	}
	return result, err
}
