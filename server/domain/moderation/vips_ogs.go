package moderation

import (
	"context"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// ListVips returns the VIPs of the authorized channel.
func (s *Service) ListVips(ctx context.Context, req *moderatov1.ListVipsRequest) (*moderatov1.ListVipsResponse, error) {
	users, pagination, err := s.listRole(ctx, req, req.Limit, VIP)
	return &moderatov1.ListVipsResponse{Users: users, Pagination: pagination}, err
}

// ListMods returns the moderators of the authorized channel.
func (s *Service) ListMods(ctx context.Context, req *moderatov1.ListModsRequest) (*moderatov1.ListModsResponse, error) {
	users, pagination, err := s.listRole(ctx, req, req.Limit, Moderator)
	return &moderatov1.ListModsResponse{Users: users, Pagination: pagination}, err
}

// ListOgs returns the OGs of the authorized channel.
func (s *Service) ListOgs(ctx context.Context, req *moderatov1.ListOgsRequest) (*moderatov1.ListOgsResponse, error) {
	users, pagination, err := s.listRole(ctx, req, req.Limit, OG)
	return &moderatov1.ListOgsResponse{Users: users, Pagination: pagination}, err
}

func (s *Service) listRole(ctx context.Context, req interface {
	proto.Message
	GetChannelId() string
	GetCursor() string
}, limit *int32, role Role) ([]*moderatov1.UserSummary, *moderatov1.Pagination, error) {
	f := validate.Of(req)
	id := listing.AuthorizedChannel(ctx, f, req.GetChannelId())
	window := paging.ParseWindow(f, limit, req.GetCursor())
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	if err := listing.Authorize(ctx, id); err != nil {
		return nil, nil, err
	}
	return listHolders(ctx, s.Store, s.Lists, id, role, window)
}

// AddVip gives a user the VIP role.
func (s *Service) AddVip(ctx context.Context, req *moderatov1.AddVipRequest) (*moderatov1.AddVipResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	result := &moderatov1.AddVipResponse{ChannelId: channelID.String(), UserId: userID.String(), Role: VIP.Name}
	idempotency.Result(ctx, &result)
	if err := giveRole(ctx, s.Store, channelID, userID, VIP); err != nil {
		return nil, err
	}
	return result, nil
}

// RemoveVip takes the VIP role from a user.
func (s *Service) RemoveVip(ctx context.Context, req *moderatov1.RemoveVipRequest) (*moderatov1.RemoveVipResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.RemoveVipResponse{}, s.takeRole(ctx, channelID, userID, VIP)
}

// AddOg gives a user the OG role.
func (s *Service) AddOg(ctx context.Context, req *moderatov1.AddOgRequest) (*moderatov1.AddOgResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	result := &moderatov1.AddOgResponse{ChannelId: channelID.String(), UserId: userID.String(), Role: OG.Name}
	idempotency.Result(ctx, &result)
	if err := giveRole(ctx, s.Store, channelID, userID, OG); err != nil {
		return nil, err
	}
	return result, nil
}

// RemoveOg takes the OG role from a user.
func (s *Service) RemoveOg(ctx context.Context, req *moderatov1.RemoveOgRequest) (*moderatov1.RemoveOgResponse, error) {
	channelID, userID, err := validate.ChannelAndUser(req)
	if err != nil {
		return nil, err
	}
	return &moderatov1.RemoveOgResponse{}, s.takeRole(ctx, channelID, userID, OG)
}
