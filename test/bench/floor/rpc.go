package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// rpc serves the reads of ChannelsService.
type rpc struct {
	moderatov1.UnimplementedChannelsServiceServer
	*tables
}

func stamp(ms int64) *timestamppb.Timestamp { return timestamppb.New(time.UnixMilli(ms)) }

func (r *rpc) ListFollowers(ctx context.Context, req *moderatov1.ListFollowersRequest) (*moderatov1.ListFollowersResponse, error) {
	id, err := uuid.Parse(req.GetChannelId())
	if err != nil {
		return nil, err
	}
	result := &moderatov1.ListFollowersResponse{Rows: make([]*moderatov1.AudienceMember, 0, pageSize)}
	now := time.Now().UnixMilli()
	next, err := r.readFollowers(ctx, id, func(f *follower) {
		info := &moderatov1.SubscriptionInfo{RenewCount: f.renewals, StreakCount: f.streak}
		info.IsSubscriber = f.isActive != nil && *f.isActive && now < *f.expires
		info.HadSubscriptionBefore = f.isActive != nil && (!info.GetIsSubscriber() || *f.renewals > 0)
		if info.GetIsSubscriber() {
			info.SubscribedAt, info.ExpiresAt = stamp(*f.subscribedAt), stamp(*f.expires)
		}
		result.Rows = append(result.Rows, &moderatov1.AudienceMember{
			Id: f.id.String(), DisplayName: f.displayName, Slug: f.slug, AvatarUrl: f.url,
			IsFollower: true, FollowedAt: stamp(f.at), SubscriptionInfo: info,
		})
	})
	result.Pagination = &moderatov1.Pagination{Cursor: next}
	return result, err
}

func (r *rpc) GetStats(ctx context.Context, req *moderatov1.GetStatsRequest) (*moderatov1.GetStatsResponse, error) {
	id, err := uuid.Parse(req.GetChannelId())
	if err != nil {
		return nil, err
	}
	followers, subscribers, viewers, err := r.readStats(ctx, id)
	return &moderatov1.GetStatsResponse{FollowerCount: followers, SubscriberCount: subscribers, ViewerCount: viewers}, err
}

// chat serves the standing of a user in a channel.
type chat struct {
	platformv1.UnimplementedChatServiceServer
	*tables
	fan *fan
}

func (c chat) PostMessage(ctx context.Context, req *platformv1.PostMessageRequest) (*platformv1.PostMessageResponse, error) {
	return c.fan.PostMessage(ctx, req)
}

func (c chat) GetStanding(ctx context.Context, req *platformv1.GetStandingRequest) (*platformv1.GetStandingResponse, error) {
	channelID, err := uuid.Parse(req.GetChannelId())
	if err != nil {
		return nil, err
	}
	userID, err := uuid.Parse(req.GetUserId())
	if err != nil {
		return nil, err
	}
	var now int64
	var bannedAt, mutedUntil *int64
	var isModerator, isVIP, isOG bool
	var skip any
	ch, u := channelID[:], userID[:]
	err = c.standing.QueryRowContext(ctx, ch, u, ch, u, ch, u, ch, u, ch, ch, u, ch, u, ch, u).
		Scan(&now, &skip, &skip, &bannedAt, &mutedUntil, &skip, &isModerator, &isVIP, &isOG)
	if err != nil {
		return nil, err
	}
	result := &platformv1.GetStandingResponse{IsBanned: bannedAt != nil, CanPost: bannedAt == nil}
	if bannedAt != nil {
		result.BannedAt = stamp(*bannedAt)
	}
	if mutedUntil != nil && now < *mutedUntil {
		result.MuteExpiresAt, result.CanPost = stamp(*mutedUntil), false
	}
	for i, is := range []bool{userID == channelID, isModerator, isVIP, isOG} {
		if is {
			result.Roles = append(result.Roles, platformv1.Role(i+1)) // of four roles
		}
	}
	return result, nil
}
