package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// GetChatSettings returns the settings of a channel that are in force.
func (s *Service) GetChatSettings(ctx context.Context, req *moderatov1.GetChatSettingsRequest) (*moderatov1.GetChatSettingsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &moderatov1.GetChatSettingsResponse{}
	present, err := s.read(ctx, channelID, result)
	if err != nil {
		return nil, err
	}
	result.ChannelId, result.Version = channelID.String(), present.version
	return result, nil
}

// GetModerationSettings returns the settings of a channel as they are in force, and as they are
// without the shield, and when those end that are set for a time.
func (s *Service) GetModerationSettings(ctx context.Context, req *moderatov1.GetModerationSettingsRequest) (*moderatov1.GetModerationSettingsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	result := &moderatov1.GetModerationSettingsResponse{}
	present, err := s.read(ctx, channelID, result)
	if err != nil {
		return nil, err
	}
	result.ChannelId, result.Version, result.Timed, result.Own = channelID.String(), present.version, present.timedProto(), &moderatov1.ChatSettings{}
	present.Shield = nil
	return result, fill(result.GetOwn(), present, 0) // what has ended was removed
}

// read reads the settings of a channel, as they are after every end until now, and fills them
// into a message.
func (s *Service) read(ctx context.Context, channelID uid.ID, into proto.Message) (*settings, error) {
	if err := listing.CheckChannel(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	present, err := readSettings(ctx, s.Store.Read, channelID)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	for isEnded := true; isEnded; {
		_, isEnded = present.endFirst(now)
	}
	return present, fill(into, present, now)
}

// fill fills the settings that are in force into a message that has fields for them: public
// messages lack some. It resets the other fields.
func fill(into proto.Message, s *settings, now instant.Instant) error {
	at, err := s.At(now)
	if err != nil {
		return err
	}
	text, err := json.Marshal(at)
	if err == nil {
		err = jsonapi.Unmarshal(text, into, jsonapi.Options{})
	}
	if err != nil {
		return fmt.Errorf("write the settings of a chat: %w", err)
	}
	return nil
}

// UpdateChatSettings changes settings of a channel.
func (s *Service) UpdateChatSettings(ctx context.Context, req *moderatov1.UpdateChatSettingsRequest) (*moderatov1.UpdateChatSettingsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	f.Number("expectedVersion", req.GetExpectedVersion())
	var duration time.Duration
	if req.DurationSeconds != nil {
		duration = time.Duration(f.Number("durationSeconds", req.GetDurationSeconds())) * time.Second
	}
	given := parseGiven(f, req)
	if len(given) == 0 && duration > 0 {
		f.Add("durationSeconds", "must be given together with a setting")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.UpdateChatSettingsResponse
	idempotency.Result(ctx, &result)
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		present, err := endPassed(ctx, c)
		if err != nil {
			return err
		}
		if req.ExpectedVersion != nil && req.GetExpectedVersion() != present.version {
			return apierr.VersionConflict(present.version)
		}
		isChanged, err := present.set(given, duration, c.Now)
		if err == nil && isChanged {
			err = save(ctx, c, present, byModerator, c.Now)
		}
		if err != nil {
			return err
		}
		result = &moderatov1.UpdateChatSettingsResponse{}
		if err := fill(result, present, c.Now); err != nil {
			return err
		}
		result.ChannelId, result.Version, result.Timed = channelID.String(), present.version, present.timedProto()
		return nil
	})
	return result, err
}

// parseGiven returns the settings that a request has.
func parseGiven(f *validate.Fields, req *moderatov1.UpdateChatSettingsRequest) values {
	given := values{}
	number := func(name string, value *int64) {
		if value != nil {
			given.add(name, f.Number(name, *value))
		}
	}
	number("slowSeconds", req.SlowSeconds)
	number("followersOnlySeconds", req.FollowersOnlySeconds)
	number("minAccountAgeSeconds", req.MinAccountAgeSeconds)
	number("uniqueSeconds", req.UniqueSeconds)
	if req.SubscribersOnly != nil {
		given.add("subscribersOnly", req.GetSubscribersOnly())
	}
	if req.EmoteOnly != nil {
		given.add("emoteOnly", req.GetEmoteOnly())
	}
	if req.FirstMessage != nil {
		given.add("firstMessage", f.Choice("firstMessage", req.GetFirstMessage()))
	}
	number("holdSeconds", req.HoldSeconds)
	if req.OnHoldExpiry != nil {
		given.add("onHoldExpiry", f.Choice("onHoldExpiry", req.GetOnHoldExpiry()))
	}
	if req.GetExemptRoles() != nil {
		roles := []string{}
		for _, role := range req.GetExemptRoles().GetValues() {
			roles = append(roles, role.GetStringValue())
		}
		parseRoles(f, roles)
		if i := slices.Index(roles, "subscriber"); i >= 0 && req.GetSubscribersOnly() {
			f.Add(fieldOf("exemptRoles", i), "must not be subscriber if subscribersOnly is true, because no other setting would restrict anyone")
		}
		given.add("exemptRoles", roles)
	}
	return given
}
