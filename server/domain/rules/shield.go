package rules

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/shield"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

const (
	// shieldTime is for how long a shield is up unless the request says otherwise, and if it is
	// raised by itself.
	shieldTime = 15 * time.Minute
	// shieldRest is how long a shield that a moderator lowered is not raised by itself.
	shieldRest = 15 * time.Minute
)

// GetShield returns the shield of a channel.
func (s *Service) GetShield(ctx context.Context, req *moderatov1.GetShieldRequest) (*moderatov1.GetShieldResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	row, err := readShield(ctx, s.Store.Read.Shield, channelID)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if row.EndsAt != nil && *row.EndsAt <= now {
		takeDown(row) // no job has announced it yet
	}
	shown, err := shieldProto(ctx, s.Store.Read.User, row, now)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &moderatov1.GetShieldResponse{
		Active: shown.GetActive(), StartedBy: shown.GetStartedBy(), Cause: shown.Cause, Reason: shown.Reason,
		StartedAt: shown.GetStartedAt(), EndsAt: shown.GetEndsAt(), Preset: shown.GetPreset(),
	}, nil
}

// UpdateShield raises or lowers the shield of a channel.
func (s *Service) UpdateShield(ctx context.Context, req *moderatov1.UpdateShieldRequest) (*moderatov1.UpdateShieldResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	duration, reason := shieldTime, ""
	if req.DurationSeconds != nil {
		duration = time.Duration(f.Number("durationSeconds", req.GetDurationSeconds())) * time.Second
	}
	if req.Reason != nil {
		reason = f.GivenText("reason", req.GetReason())
	}
	switch {
	case req.Active == nil:
		f.Add("active", "is required")
	case !req.GetActive() && req.DurationSeconds != nil:
		f.Add("durationSeconds", "must not be given unless active is true")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.UpdateShieldResponse
	idempotency.Result(ctx, &result)
	err := change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		present, err := endPassed(ctx, c)
		if err != nil {
			return err
		}
		row, err := readShield(ctx, c.Tx.Shield, channelID)
		switch {
		case err != nil:
			return err
		case req.GetActive():
			err = raise(ctx, c, present, row, byModerator, c.Now.Add(duration), reason)
		case row.EndsAt != nil:
			err = lower(ctx, c, present, row, byModerator, c.Now)
		}
		if err == nil {
			result, err = shieldProto(ctx, c.Tx.User, row, c.Now)
		}
		return err
	})
	return result, err
}

// readShield reads the shield of a channel. A channel that has no row gets an empty one.
func readShield(ctx context.Context, from *ent.ShieldClient, channelID uid.ID) (*ent.Shield, error) {
	row, err := from.Get(ctx, channelID)
	switch {
	case ent.IsNotFound(err):
		return &ent.Shield{ID: channelID, Preset: "{}"}, nil
	case err != nil:
		return nil, fmt.Errorf("read a shield: %w", err)
	}
	return row, nil
}

// saveShield stores a shield in place of its earlier state.
func saveShield(ctx context.Context, tx *ent.Tx, row *ent.Shield) error {
	_, err := tx.Shield.Delete().Where(shield.ID(row.ID)).Exec(ctx)
	if err == nil {
		err = tx.Shield.Create().SetID(row.ID).SetPreset(row.Preset).SetPresetVersion(row.PresetVersion).
			SetStartsItself(row.StartsItself).SetNillableFollowsPerMinute(row.FollowsPerMinute).
			SetNillableFirstMessagesPerMinute(row.FirstMessagesPerMinute).SetNillableHeldPerMinute(row.HeldPerMinute).
			SetNillableRestsUntil(row.RestsUntil).SetNillableStartedBy(row.StartedBy).SetCause(row.Cause).SetReason(row.Reason).
			SetNillableStartedAt(row.StartedAt).SetNillableEndsAt(row.EndsAt).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("save a shield: %w", err)
	}
	return nil
}

// takeDown resets what a shield has while it is up.
func takeDown(row *ent.Shield) {
	row.StartedBy, row.Cause, row.Reason, row.StartedAt, row.EndsAt = nil, "", "", nil, nil
}

// shieldProto returns a shield as clients read it at an instant.
func shieldProto(ctx context.Context, of *ent.UserClient, row *ent.Shield, now instant.Instant) (*moderatov1.UpdateShieldResponse, error) {
	preset, err := presetOf(row, now)
	shown := &moderatov1.UpdateShieldResponse{Preset: preset}
	if err != nil || row.EndsAt == nil {
		return shown, err
	}
	shown.Active, shown.Cause = true, &row.Cause
	shown.StartedAt, shown.EndsAt = row.StartedAt.Proto(), row.EndsAt.Proto()
	if row.Reason != "" {
		shown.Reason = &row.Reason
	}
	if row.StartedBy == nil {
		return shown, nil
	}
	starter, err := of.Get(ctx, *row.StartedBy)
	switch {
	case err == nil:
		shown.StartedBy = users.Person(starter)
	case !ent.IsNotFound(err): // the user may be gone since the shield was read
		return nil, fmt.Errorf("read who raised a shield: %w", err)
	}
	return shown, nil
}

// raise raises the shield of the channel of a change, or changes when it ends. A shield that is up
// keeps who raised it.
func raise(ctx context.Context, c *change.Change, s *settings, row *ent.Shield, why cause, endsAt instant.Instant, reason string) error {
	if row.EndsAt == nil {
		row.Cause, row.StartedAt = string(why), &c.Now
		if !c.ActorID.IsZero() {
			row.StartedBy = &c.ActorID
		}
	}
	row.Reason = cmp.Or(reason, row.Reason)
	row.EndsAt = &endsAt
	if err := saveShield(ctx, c.Tx, row); err != nil {
		return err
	}
	c.Emit("channel.shield.begin", uid.ID{}, &moderatov1.ShieldBeginEvent{
		ChannelId: c.ChannelID.String(), ModeratorId: c.ModeratorID(), ClientId: c.ClientID, Cause: string(why), EndsAt: endsAt.Proto(),
	})
	return s.follow(ctx, c, row, c.Now)
}

// lower takes down the shield of the channel of a change, which was up until then.
func lower(ctx context.Context, c *change.Change, s *settings, row *ent.Shield, why cause, at instant.Instant) error {
	takeDown(row)
	if why == byModerator {
		row.RestsUntil = new(at.Add(shieldRest))
	}
	if err := saveShield(ctx, c.Tx, row); err != nil {
		return err
	}
	c.Emit("channel.shield.end", uid.ID{}, &moderatov1.ShieldEndEvent{
		ChannelId: c.ChannelID.String(), ModeratorId: c.ModeratorID(), ClientId: c.ClientID, Cause: string(why), EndedAt: at.Proto(),
	})
	return s.follow(ctx, c, row, at)
}
