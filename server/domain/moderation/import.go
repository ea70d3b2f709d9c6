package moderation

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	entban "github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/mute"
	"github.com/moderato-live/moderato/ent/replacedban"
	"github.com/moderato-live/moderato/ent/role"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

func putRole(ctx context.Context, tx feed.Tx, r *platformv1.RoleRecord) error {
	f := validate.Of(r)
	channelID := f.UUID("channelId", r.GetChannelId())
	userID := f.UUID("userId", r.GetUserId())
	name := f.Choice("role", r.GetRole())
	if err := f.Err(); err != nil {
		return err
	}
	if channelID == userID {
		return apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	_, err := tx.LockChannel(ctx, channelID) // see authz.RightsChanged
	if err := errors.Join(err, tx.RequireUser(ctx, userID)); err != nil {
		return err
	}
	has, err := tx.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(name)).Exist(ctx)
	if err != nil || has {
		return err
	}
	err = tx.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
		SetRole(name).SetCreatedAt(tx.Now).
		Exec(ctx)
	tx.StandingsChanged()
	if err != nil || name != Moderator.Name {
		return err
	}
	return tx.RightsChanged(ctx, userID)
}

// importedSanction is a ban or mute of an import.
type importedSanction struct {
	terms

	channelID, userID, moderatorID uid.ID
	at                             instant.Instant
}

// sanctionRecord is a BanRecord or MuteRecord.
type sanctionRecord interface {
	proto.Message
	GetChannelId() string
	GetUserId() string
	GetModeratorId() string
	GetExpiresAt() *timestamppb.Timestamp
	GetReason() string
}

// parseSanction reads a record, whose field atField has the time at. An end is optional for a
// ban only.
func parseSanction(r sanctionRecord, atField string, at *timestamppb.Timestamp, needsEnd bool, now instant.Instant) (*importedSanction, error) {
	f := validate.Of(r)
	x := &importedSanction{
		channelID: f.UUID("channelId", r.GetChannelId()), userID: f.UUID("userId", r.GetUserId()), moderatorID: f.UUID("moderatorId", r.GetModeratorId()),
		terms: terms{reason: f.Text("reason", r.GetReason())},
	}
	isTime := false
	if x.at, isTime = f.RequiredTime(atField, at); isTime && x.at > now {
		f.Add(atField, "must not be in the future")
	}
	if needsEnd || r.GetExpiresAt() != nil {
		end, isEnd := f.RequiredTime("expiresAt", r.GetExpiresAt())
		if x.expiresAt = &end; isEnd && isTime && end <= x.at {
			f.Add("expiresAt", "must be after "+atField)
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return x, refuseChannel(x.channelID, x.userID)
}

// put hides the messages of the user until the ban or mute, cancels those that were held until then,
// and stores it with store, unless it has ended.
func (x *importedSanction) put(ctx context.Context, tx feed.Tx, by chat.Sanction, store func() error) error {
	_, err := tx.LockChannel(ctx, x.channelID)
	if err := errors.Join(err, tx.RequireUser(ctx, x.userID), tx.RequireUser(ctx, x.moderatorID)); err != nil {
		return err
	}
	if x.hasLapsed(tx.Now) {
		return nil
	}
	if err := store(); err != nil {
		return err
	}
	tx.StandingsChanged()
	if err := held.CancelUntil(ctx, tx, x.channelID, x.userID, x.at); err != nil {
		return err
	}
	return chat.ClearUntil(ctx, tx.Tx, tx.Store.Dialect, x.channelID, x.userID, by, x.at)
}

func putBan(ctx context.Context, tx feed.Tx, r *platformv1.BanRecord) error {
	x, err := parseSanction(r, "bannedAt", r.GetBannedAt(), false, tx.Now)
	if err != nil {
		return err
	}
	return x.put(ctx, tx, chat.Ban, func() error {
		if _, err := tx.ReplacedBan.Delete().Where(replacedban.ChannelID(x.channelID), replacedban.UserID(x.userID)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.Ban.Delete().Where(entban.ChannelID(x.channelID), entban.UserID(x.userID)).Exec(ctx); err != nil {
			return err
		}
		err := tx.Ban.Create().SetChannelID(x.channelID).SetUserID(x.userID).SetModeratorID(x.moderatorID).
			SetBannedAt(x.at).SetReason(x.reason).SetNillableExpiresAt(x.expiresAt).SetImported(true).Exec(ctx)
		if err != nil {
			return err
		}
		return tx.RightsChanged(ctx, x.userID)
	})
}

func putMute(ctx context.Context, tx feed.Tx, r *platformv1.MuteRecord) error {
	x, err := parseSanction(r, "mutedAt", r.GetMutedAt(), true, tx.Now)
	if err != nil {
		return err
	}
	return x.put(ctx, tx, chat.Mute, func() error {
		if _, err := tx.Mute.Delete().Where(mute.ChannelID(x.channelID), mute.UserID(x.userID)).Exec(ctx); err != nil {
			return err
		}
		return tx.Mute.Create().SetChannelID(x.channelID).SetUserID(x.userID).SetModeratorID(x.moderatorID).
			SetMutedAt(x.at).SetReason(x.reason).SetExpiresAt(*x.expiresAt).Exec(ctx)
	})
}
