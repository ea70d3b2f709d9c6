package platform

import (
	"context"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	entchannel "github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jsonapi"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

const maxActivityKey = 64

// The kinds of activity.
const (
	followerActivity   = "follower"
	subscriberActivity = "subscriber"
	giftActivity       = "gift"
	thanksActivity     = "thanks"
	voteActivity       = "vote"
)

// activity stores an activity record. Unless mayChangeType is true, an existing
// activity with the same key must have the same type.
func (p putter) activity(ctx context.Context, r *platformv1.ActivityRecord, mayChangeType bool) (*ent.Activity, error) {
	var f validate.Fields
	channelID := f.UUID("channelId", r.GetChannelId())
	key := f.Text("key", r.GetKey(), 1, maxActivityKey)
	kind := f.ActivityType("type", r.GetType())
	userID := f.UUID("info.userId", r.GetInfo().GetFields()["userId"].GetStringValue())
	f.Time("createdAt", r.GetCreatedAt())
	f.Struct("info", r.GetInfo())
	f.Struct("action", r.GetAction())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channel, err := p.lockChannel(ctx, channelID)
	if err != nil {
		return nil, err
	}
	user, err := users.Get(ctx, p.User, userID)
	if err != nil {
		return nil, err
	}
	a := &ent.Activity{
		ChannelID: channelID, DedupKey: key, Type: kind, UserID: &userID, CreatedAt: p.orNow(r.GetCreatedAt()),
		Info: describe(user, r.GetInfo()), Action: actionOf(r.GetAction()),
	}
	before, err := p.findActivity(ctx, channelID, key)
	if err != nil {
		return nil, err
	}
	if before == nil {
		a.Number = channel.ActivityNumber + 1
		if err := p.Channel.Update().Where(entchannel.ID(channelID)).SetActivityNumber(a.Number).Exec(ctx); err != nil {
			return nil, err
		}
		return p.addActivity(ctx, a)
	}
	if before.Type != kind && !mayChangeType {
		return nil, ofAnotherType("key", before)
	}
	update := p.Activity.UpdateOne(before).SetType(kind).SetUserID(userID).SetInfo(a.Info).SetAction(a.Action)
	if r.GetCreatedAt() != nil {
		update.SetCreatedAt(a.CreatedAt)
	}
	return update.Save(ctx)
}

// findActivity returns the activity with a key; nil if there is none.
func (p putter) findActivity(ctx context.Context, channelID uid.ID, key string) (*ent.Activity, error) {
	a, err := p.Activity.Query().Where(activity.ChannelID(channelID), activity.DedupKey(key)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no activity is no error
	}
	return a, err
}

// addActivity stores a new activity, whose number is the channel's next.
func (p putter) addActivity(ctx context.Context, a *ent.Activity) (*ent.Activity, error) {
	return p.Activity.Create().SetID(uid.New()).SetChannelID(a.ChannelID).SetDedupKey(a.DedupKey).SetNumber(a.Number).SetType(a.Type).
		SetNillableUserID(a.UserID).SetInfo(a.Info).SetAction(a.Action).SetCreatedAt(a.CreatedAt).
		Save(ctx)
}

// occurrence is something that a user did in a channel, which the channel's dashboard
// lists.
type occurrence struct {
	kind   string
	key    string // empty: a unique key is generated
	user   *ent.User
	at     instant.Instant
	facts  map[string]any // info besides the user
	action *structpb.Struct
}

// record stores a new occurrence as part of a change.
func (p putter) record(ctx context.Context, c *change.Change, o occurrence) (*ent.Activity, error) {
	facts, err := structpb.NewStruct(o.facts)
	if err != nil {
		return nil, err
	}
	if o.key == "" {
		o.key = o.kind + "/" + uid.New().String()
	}
	return p.addActivity(ctx, &ent.Activity{
		ChannelID: c.ChannelID, DedupKey: o.key, Number: c.NextActivity(), Type: o.kind, UserID: &o.user.ID, CreatedAt: o.at,
		Info: describe(o.user, facts), Action: actionOf(o.action),
	})
}

// repeated returns the activity of an earlier call with the same key; nil if this
// call is the first. An existing activity must be of the same kind.
func (p putter) repeated(ctx context.Context, channelID uid.ID, field, key, kind string) (*ent.Activity, error) {
	before, err := p.findActivity(ctx, channelID, key)
	if before != nil && before.Type != kind {
		return nil, ofAnotherType(field, before)
	}
	return before, err
}

func ofAnotherType(field string, before *ent.Activity) error {
	return apierr.Invalid(apierr.Violation{Field: field, Description: "belongs to another activity of the channel, of type " + before.Type})
}

// describe returns the info of an activity as it is stored: with the user's id, and
// with the user's display name and slug unless info has them.
func describe(user *ent.User, info *structpb.Struct) string {
	full, _ := proto.Clone(info).(*structpb.Struct)
	if full.GetFields() == nil {
		full = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	for name, value := range map[string]string{"displayName": user.DisplayName, "slug": user.Slug} {
		if full.GetFields()[name] == nil {
			full.Fields[name] = structpb.NewStringValue(value)
		}
	}
	full.Fields["userId"] = structpb.NewStringValue(user.ID.String())
	return string(jsonapi.Marshal(full))
}

func actionOf(action *structpb.Struct) string {
	if action == nil {
		return "{}"
	}
	return string(jsonapi.Marshal(action))
}

func activityRecord(a *ent.Activity) (*platformv1.ActivityRecord, error) {
	r := &platformv1.ActivityRecord{
		ChannelId: a.ChannelID.String(), Key: a.DedupKey, Type: a.Type, CreatedAt: a.CreatedAt.Proto(),
		Info: &structpb.Struct{}, Action: &structpb.Struct{},
	}
	if err := protojson.Unmarshal([]byte(a.Info), r.GetInfo()); err != nil {
		return nil, err
	}
	return r, protojson.Unmarshal([]byte(a.Action), r.GetAction())
}
