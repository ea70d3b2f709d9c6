package main

import (
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/server/demo"
)

// exampleTime is when the examples of events happen.
var exampleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func exampleAfter(d time.Duration) protoreflect.Message {
	return timestamppb.New(exampleTime.Add(d)).ProtoReflect()
}

// exampleNulls lists the fields that are null in the events of a type.
var exampleNulls = map[string][]protoreflect.Name{
	"channel.follow": {"unfollowed_at"},
	"stream.online":  {"ended_at"},
}

// isQuoted reports whether an integer is a string in JSON.
func isQuoted(field protoreflect.FieldDescriptor) bool {
	options, _ := field.Options().(*descriptorpb.FieldOptions)
	return options.GetJstype() == descriptorpb.FieldOptions_JS_STRING
}

// examples holds the examples of fields. The people are those of the demo.
var examples = makeExamples(demo.People())

func makeExamples(cast demo.Cast) map[string]any {
	const message = "6f1d2c1e-3f0a-4a52-9a51-0c7a5e0f7b11"
	all := map[string]any{
		"message_id": message, "message_type": "notification", "subscription_type": "", "subscription_version": "1", "sequence": int64(41),
		"EventMetadata.message_id": "0d8f6c0a-91c5-4b52-8a8e-6e5b1f1f2a77", "message_timestamp": exampleAfter(0),

		"channel_id": cast.Owner.ID.String(), "moderator_id": cast.Moderator.ID.String(), "client_id": cast.Client,
		"user_id": cast.Viewer.ID.String(), "user_display_name": cast.Viewer.DisplayName, "user_slug": cast.Viewer.Username,
		"id": cast.Viewer.ID.String(), "username": cast.Viewer.Username, "display_name": cast.Viewer.DisplayName,
		"avatar_url": "https://img.example.com/" + cast.Viewer.Username + ".png", "target_user_id": cast.Raider.ID.String(),

		"banned_user_id": cast.Raider.ID.String(), "banned_user_display_name": cast.Raider.DisplayName,
		"unbanned_user_id": cast.Raider.ID.String(), "unbanned_user_display_name": cast.Raider.DisplayName,
		"muted_user_id": cast.Raider.ID.String(), "muted_user_display_name": cast.Raider.DisplayName,

		"channel.moderator.add role": "moderator", "channel.moderator.remove role": "moderator",
		"channel.vip.add role": "vip", "channel.vip.remove role": "vip", "channel.og.add role": "og", "channel.og.remove role": "og",

		"key": "gift-1042", "ThanksEvent.key": "thanks-1042", "thanks_id": "thanks-1042", "count": int64(5), "gift_count": int64(5),
		"amount": int64(250), "message": "Good game!", "renew_count": int64(2), "streak_count": int64(3), "months": int64(3),
		"streak_months": int64(3), "VoteEvent.id": "1f0e4d6b-52b3-4d8e-9c1f-7d1b7a1d2c90", "address": "", "epoch": int64(42),

		"title": "Drawing a tiny harbour, 32 colours, no undo", "lang": "en", "category_id": int64(7), "category_title": "Art",
		"EventCategory.id": int64(7), "EventCategory.title": "Art", "viewer_count": int64(250),
		"is_owner": false, "is_moderator": false, "is_vip": true, "is_og": false, "is_subscriber": true, "is_follower": true,

		"mute_expires_at": exampleAfter(10 * time.Minute), "followed_at": exampleAfter(0),
		"channel.unfollow followed_at": exampleAfter(-48 * time.Hour), "unfollowed_at": exampleAfter(0),
		"subscribed_at": exampleAfter(0), "expires_at": exampleAfter(30 * 24 * time.Hour), "subscription_expires_at": exampleAfter(30 * 24 * time.Hour),
		"channel.subscription.end subscribed_at": exampleAfter(-30 * 24 * time.Hour), "channel.subscription.end expires_at": exampleAfter(0),
		"channel.subscription.end subscription_expires_at": exampleAfter(0), "channel.subscription.end client_id": "",
		"started_at": exampleAfter(0), "stream.offline started_at": exampleAfter(-3 * time.Hour), "ended_at": exampleAfter(0),
	}
	for _, now := range []string{
		"banned_at", "unbanned_at", "mute_expired_at", "cleared_at", "changed_at", "updated_at", "created_at", "gifted_at",
		"thanked_at", "voted_at", "deleted_at",
	} {
		all[now] = exampleAfter(0)
	}
	return all
}
