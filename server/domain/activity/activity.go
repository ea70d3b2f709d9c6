// Package activity stores and lists the activities of channels: what viewers did that the
// channel's dashboard shows, such as follows and votes.
package activity

import (
	"context"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	entchannel "github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves the operations about activities.
type Service struct {
	// Store is the database.
	Store *store.Store
}

// The kinds of activity.
const (
	Follower   = "follower"
	Subscriber = "subscriber"
	gift       = "gift"
	thanks     = "thanks"
	Vote       = "vote"
)

// putActivity stores an activity record. Unless mayChangeType is true, an existing
// activity with the same key must have the same type.
func putActivity(ctx context.Context, tx feed.Tx, r *platformv1.ActivityRecord, mayChangeType bool) (*ent.Activity, error) {
	f := validate.Of(r)
	channelID := f.UUID("channelId", r.GetChannelId())
	key := f.Text("key", r.GetKey())
	kind := f.Choice("type", r.GetType())
	userID := f.UUID("info.userId", r.GetInfo().GetFields()["userId"].GetStringValue())
	f.Time("createdAt", r.GetCreatedAt())
	f.Struct("info", r.GetInfo())
	f.Struct("action", r.GetAction())
	if err := f.Err(); err != nil {
		return nil, err
	}
	channel, err := tx.LockChannel(ctx, channelID)
	if err != nil {
		return nil, err
	}
	user, err := users.Get(ctx, tx.User, userID)
	if err != nil {
		return nil, err
	}
	a := &ent.Activity{
		ChannelID: channelID, DedupKey: key, Type: kind, UserID: &userID, CreatedAt: tx.OrNow(r.GetCreatedAt()),
		Info: describe(user, r.GetInfo()), Action: actionOf(r.GetAction()),
	}
	before, err := findActivity(ctx, tx, channelID, key)
	if err != nil {
		return nil, err
	}
	if before == nil {
		a.Number = channel.ActivityNumber + 1
		if err := tx.Channel.Update().Where(entchannel.ID(channelID)).SetActivityNumber(a.Number).Exec(ctx); err != nil {
			return nil, err
		}
		a.ID = uid.New()
		return a, Add(ctx, tx.Tx, a)
	}
	if before.Type != kind && !mayChangeType {
		return nil, ofAnotherType("key", before)
	}
	update := tx.Activity.UpdateOne(before).SetType(kind).SetUserID(userID).SetInfo(a.Info).SetAction(a.Action)
	if r.GetCreatedAt() != nil {
		update.SetCreatedAt(a.CreatedAt)
	}
	return update.Save(ctx)
}

// findActivity returns the activity with a key; nil if there is none.
func findActivity(ctx context.Context, tx feed.Tx, channelID uid.ID, key string) (*ent.Activity, error) {
	a, err := tx.Activity.Query().Where(activity.ChannelID(channelID), activity.DedupKey(key)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no activity is no error
	}
	return a, err
}

// Add stores new activities.
func Add(ctx context.Context, tx *ent.Tx, all ...*ent.Activity) error {
	rows := make([]*ent.ActivityCreate, len(all))
	for i, a := range all {
		rows[i] = tx.Activity.Create().SetID(a.ID).SetChannelID(a.ChannelID).SetDedupKey(a.DedupKey).SetNumber(a.Number).SetType(a.Type).
			SetNillableUserID(a.UserID).SetInfo(a.Info).SetAction(a.Action).SetCreatedAt(a.CreatedAt)
	}
	return tx.Activity.CreateBulk(rows...).Exec(ctx)
}

// Occurrence is something that a user did in a channel, which the channel's dashboard
// lists.
type Occurrence struct {
	// Kind is the type of the activity.
	Kind string
	// Key identifies the occurrence in its channel; empty for a generated one.
	Key string
	// User is the user who did it.
	User *ent.User
	// At is when it happened.
	At instant.Instant
	// Facts are the parts of the activity's info besides the user.
	Facts map[string]any
	// Action is the activity's action; nil for none.
	Action *structpb.Struct
}

// Record stores a new Occurrence as part of a change.
func Record(ctx context.Context, c *change.Change, o Occurrence) (*ent.Activity, error) {
	a, err := New(c, o)
	if err != nil {
		return nil, err
	}
	return a, Add(ctx, c.Tx, a)
}

// New returns the activity of an Occurrence, with the next number of the channel, without
// storing it: see Add.
func New(c *change.Change, o Occurrence) (*ent.Activity, error) {
	facts, err := structpb.NewStruct(o.Facts)
	if err != nil {
		return nil, err
	}
	if o.Key == "" {
		o.Key = o.Kind + "/" + uid.New().String()
	}
	return &ent.Activity{
		ID: uid.New(), ChannelID: c.ChannelID, DedupKey: o.Key, Number: c.NextActivity(), Type: o.Kind, UserID: &o.User.ID, CreatedAt: o.At,
		Info: describe(o.User, facts), Action: actionOf(o.Action),
	}, nil
}

// FindRepeat returns the activity of an earlier call with the same key; nil if this
// call is the first. An existing activity must be of the same kind.
func FindRepeat(ctx context.Context, tx feed.Tx, channelID uid.ID, field, key, kind string) (*ent.Activity, error) {
	before, err := findActivity(ctx, tx, channelID, key)
	if before != nil && before.Type != kind {
		return nil, ofAnotherType(field, before)
	}
	return before, err
}

func ofAnotherType(field string, before *ent.Activity) error {
	return apierr.Invalid(apierr.Violation{Field: field, Description: "belongs to another activity of the channel, of type " + before.Type})
}

// describe returns the info of an activity as it is stored: with the user's id, and
// with the user's display name and slug unless info has such texts.
func describe(user *ent.User, info *structpb.Struct) string {
	full, _ := proto.Clone(info).(*structpb.Struct)
	if full.GetFields() == nil {
		full = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	for name, value := range map[string]string{"displayName": user.DisplayName, "slug": user.Slug} {
		if full.GetFields()[name].GetStringValue() == "" {
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
