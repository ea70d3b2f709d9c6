package feed_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// wrong is an invalid value of a field, and its violation.
type wrong struct {
	value any
	want  string
}

const (
	isRequired = "is required"
	noUUID     = "must be a UUID in its 36-character form"
	noControls = "must not contain control characters"
	noURL      = "must be an http or https address of at most 2048 characters"
	noTime     = "must be a time in the years 1 to 9999"
	noLanguage = "must be a BCP 47 language tag, such as en or pt-BR"
	noNatural  = "must be 0 or more"
	noAmount   = "must be 1 to 9007199254740991"
	noFact     = "must be 0 to 9007199254740991"
	noNumber   = "must be a number of at most 9007199254740991, so that it keeps its digits"
	noType     = "must be one of follower, subscriber, gift, thanks, vote"
)

func badText(want string, most int) []wrong {
	return []wrong{{strings.Repeat("ü", most+1), want}, {"a\x00b", noControls}, {"a\nb", noControls}, {"a\u0085b", noControls}}
}

// badFields returns the invalid values of the fields by their kind. A field that accepts
// every value, or whose values are tested elsewhere, has none.
func badFields() map[string][]wrong {
	required := []wrong{{"", isRequired}}
	spaces := []wrong{{"", isRequired}, {" \t ", isRequired}}
	times := []wrong{
		{&timestamppb.Timestamp{Seconds: 253402300800}, noTime}, {&timestamppb.Timestamp{Seconds: -62135596801}, noTime},
		{&timestamppb.Timestamp{Seconds: math.MaxInt64}, noTime}, {&timestamppb.Timestamp{Nanos: -1}, noTime}, {&timestamppb.Timestamp{Nanos: 1e9}, noTime},
	}
	owner := servertest.Owner.String()
	urls := []wrong{
		{"/a.png", noURL}, {"javascript:alert(1)", noURL}, {"ftp://img.example.com/a.png", noURL}, {"https://", noURL},
		{"https://img.example.com/\x00", noURL}, {"https://img.example.com/" + strings.Repeat("a", 2025), noURL},
	}
	return map[string][]wrong{
		"id": append(required,
			wrong{"x", noUUID}, wrong{owner[:35], noUUID}, wrong{"{" + owner + "}", noUUID},
			wrong{strings.ReplaceAll(owner, "-", ""), noUUID}, wrong{"00000000-0000-0000-0000-000000000000", noUUID}),
		"optionalID":    {{"x", noUUID}},
		"title":         append(spaces, badText("must be 1 to 140 characters", 140)...),
		"optionalTitle": badText("must be 0 to 140 characters", 140),
		"address":       badText("must be 0 to 140 characters", 140),
		"key":           append(spaces, badText("must be 1 to 64 characters", 64)...),
		"message":       badText("must be 0 to 500 characters", 500),
		"lang":          {{"english please", noLanguage}, {strings.Repeat("a", 256), noLanguage}, {"e\x00", noLanguage}},
		"emoteName":     append(spaces, badText("must be 1 to 40 characters", 40)...),
		"url":           urls,
		"requiredURL":   append(required, urls...),
		"natural":       {{int64(-1), noNatural}, {int64(math.MinInt64), noNatural}},
		"fact":          {{int64(-1), noFact}, {int64(1 << 53), noFact}, {int64(math.MaxInt64), noFact}},
		"amount":        {{int64(0), noAmount}, {int64(-1), noAmount}, {int64(1 << 53), noAmount}, {int64(math.MaxInt64), noAmount}},
		"time":          times,
		"must":          append([]wrong{{nil, isRequired}}, times...),
		"type":          {{"", noType}, {"raid", noType}, {"Vote", noType}},
		"free":          nil,
	}
}

// fieldKinds returns the kind of each field of each request.
func fieldKinds() map[string]map[string]string {
	who := map[string]string{"channelId": "id", "userId": "id"}
	with := func(more map[string]string) map[string]string {
		for name, kind := range who {
			more[name] = kind
		}
		return more
	}
	return map[string]map[string]string{
		"FollowRequest":                 with(map[string]string{"followedAt": "time", "isNotificationEnabled": "free"}),
		"UnfollowRequest":               who,
		"SetFollowNotificationsRequest": with(map[string]string{"isNotificationEnabled": "free"}),
		"PutSubscriptionRequest": {
			"subscription.channelId": "id", "subscription.userId": "id", "subscription.subscribedAt": "time", "subscription.expiresAt": "must",
			"subscription.renewCount": "fact", "subscription.streakCount": "natural",
		},
		"EndSubscriptionRequest": who,
		"StartStreamRequest": {
			"channelId": "id", "startedAt": "time", "title": "optionalTitle", "lang": "lang", "categoryId": "free",
			"previewImgUrl": "url", "viewerCount": "natural",
		},
		"UpdateStreamRequest": {"channelId": "id", "viewerCount": "natural", "previewImgUrl": "url"},
		"EndStreamRequest":    {"channelId": "id", "startedAt": "time", "endedAt": "time"},
		"PutClipRequest": {
			"clip.clipId": "id", "clip.channelId": "id", "clip.creatorId": "id", "clip.title": "title", "clip.viewCount": "natural",
			"clip.duration": "natural", "clip.previewImgUrl": "url", "clip.clipUrl": "url", "clip.categoryId": "free", "clip.createdAt": "time",
		},
		"DeleteClipRequest": {"clipId": "id"},
		"PutEmoteRequest": {
			"emote.id": "id", "emote.channelId": "optionalID", "emote.name": "emoteName", "emote.imageUrl": "requiredURL", "emote.isPublic": "free",
		},
		"DeleteEmoteRequest": {"emoteId": "id"},
		"PutVodRequest": {
			"vod.id": "id", "vod.channelId": "id", "vod.title": "title", "vod.viewCount": "natural", "vod.duration": "natural",
			"vod.previewImgUrl": "url", "vod.startedAt": "must", "vod.endedAt": "must", "vod.categoryId": "free",
		},
		"DeleteVodRequest": {"vodId": "id"},
		"RecordVoteRequest": with(map[string]string{
			"id": "id", "epoch": "fact", "address": "address", "amount": "amount", "votedAt": "time", "action": "free",
		}),
		"RecordGiftRequest":   with(map[string]string{"key": "key", "count": "amount", "giftedAt": "time", "action": "free"}),
		"RecordThanksRequest": with(map[string]string{"key": "key", "amount": "amount", "message": "message", "messageId": "optionalID", "thankedAt": "time", "action": "free"}),
		"PutActivityRequest": {
			"activity.channelId": "id", "activity.key": "key", "activity.type": "type", "activity.createdAt": "time",
			"activity.info": "free", "activity.action": "free",
		},
	}
}

// kindOf returns the kind of a field that fieldKinds does not list, by the field's name.
func kindOf(name string) string {
	switch {
	case name == "key":
		return "key"
	case strings.HasSuffix(name, "Id"):
		return "id"
	case strings.HasSuffix(name, "At"):
		return "time"
	case strings.HasSuffix(name, "Count"):
		return "natural"
	case strings.HasSuffix(name, "Url"):
		return "url"
	}
	return name
}

// TestEveryFieldIsValidated sets invalid values in every field of every request: each
// must be rejected under the name that the caller wrote, and change nothing.
func TestEveryFieldIsValidated(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		bad := badFields()
		for _, request := range feedRequests(f.now) {
			d := request.ProtoReflect().Descriptor()
			kinds, isListed := fieldKinds()[string(d.Name())]
			paths := pathsOf(d)
			if !isListed {
				kinds = map[string]string{}
				for _, path := range paths {
					kinds[strings.Join(path, ".")] = kindOf(path[len(path)-1])
				}
			}
			if len(paths) != len(kinds) {
				t.Errorf("%s has %d fields, and %d of them are tested", d.Name(), len(paths), len(kinds))
			}
			for _, path := range paths {
				name := strings.Join(path, ".")
				values, isKnown := bad[kinds[name]]
				if !isKnown {
					t.Errorf("%s: %s is not tested", d.Name(), name)
				}
				for _, w := range values {
					f.refuse(edit(request, path, w.value), "INVALID_ARGUMENT", name+" "+w.want)
				}
			}
		}
	})
}

// TestAllViolationsAreReportedTogether sends empty requests, and one in which every field
// is invalid.
func TestAllViolationsAreReportedTogether(t *testing.T) {
	who := []string{"channelId is required", "userId is required"}
	subscription := []string{"subscription.channelId is required", "subscription.userId is required", "subscription.expiresAt is required"}
	clip := []string{"clip.clipId is required", "clip.channelId is required", "clip.creatorId is required", "clip.title is required"}
	vod := []string{"vod.id is required", "vod.channelId is required", "vod.title is required", "vod.startedAt is required", "vod.endedAt is required"}
	act := []string{"activity.channelId is required", "activity.key is required", "activity.type " + noType, "activity.info.userId is required"}
	empty := map[proto.Message][]string{
		&platformv1.FollowRequest{}:                                                        who,
		&platformv1.UnfollowRequest{}:                                                      who,
		&platformv1.SetFollowNotificationsRequest{}:                                        who,
		&platformv1.EndSubscriptionRequest{}:                                               who,
		&platformv1.PutSubscriptionRequest{}:                                               subscription,
		&platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{}}: subscription,
		&platformv1.StartStreamRequest{}:                                                   {"channelId is required"},
		&platformv1.UpdateStreamRequest{}:                                                  {"channelId is required", "viewerCount is required, or previewImgUrl instead"},
		&platformv1.EndStreamRequest{}:                                                     {"channelId is required"},
		&platformv1.PutClipRequest{}:                                                       clip,
		&platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{}}:                         clip,
		&platformv1.DeleteClipRequest{}:                                                    {"clipId is required"},
		&platformv1.PutEmoteRequest{}:                                                      {"emote.id is required", "emote.name is required", "emote.imageUrl is required"},
		&platformv1.DeleteEmoteRequest{}:                                                   {"emoteId is required"},
		&platformv1.PutVodRequest{}:                                                        vod,
		&platformv1.PutVodRequest{Vod: &platformv1.VodRecord{}}:                            vod,
		&platformv1.DeleteVodRequest{}:                                                     {"vodId is required"},
		&platformv1.RecordVoteRequest{}:                                                    append([]string{"id is required", "amount " + noAmount}, who...),
		&platformv1.RecordGiftRequest{}:                                                    append([]string{"key is required", "count " + noAmount}, who...),
		&platformv1.RecordThanksRequest{}:                                                  append([]string{"key is required", "amount " + noAmount}, who...),
		&platformv1.PutActivityRequest{}:                                                   act,
		&platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{}}:             act,
		&platformv1.StartStreamRequest{
			ChannelId: "x", Title: "\x00", Lang: "english please", PreviewImgUrl: "x", ViewerCount: -1,
		}: {"channelId " + noUUID, "title " + noControls, "previewImgUrl " + noURL, "viewerCount " + noNatural, "lang " + noLanguage},
	}
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for request, want := range empty {
			_, err := f.call(f.ctx(), request)
			got := refusalOf(err)
			if slices.Sort(got[1:]); got[0] != "INVALID_ARGUMENT" || !slices.Equal(got[1:], slices.Sorted(slices.Values(want))) {
				t.Errorf("%T %v: got %q, want %q", request, request, got, want)
			}
		}
	})
}

// TestObjectSizeAndDepthAreLimited sends info and action objects that are too large or
// too deep, and numbers at any depth that could not be returned exactly.
func TestObjectSizeAndDepthAreLimited(t *testing.T) {
	viewer := servertest.Viewer.String()
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		for _, request := range feedRequests(f.now) {
			for _, path := range pathsOf(request.ProtoReflect().Descriptor()) {
				name := path[len(path)-1]
				if name != "info" && name != "action" {
					continue
				}
				where := strings.Join(path, ".")
				f.refuse(edit(request, path, object(map[string]any{"userId": viewer, "text": strings.Repeat("x", 8<<10)})),
					"INVALID_ARGUMENT", where+" must be at most 8 KiB of JSON")
				var deep any = "x"
				for range 16 {
					deep = []any{deep}
				}
				f.refuse(edit(request, path, object(map[string]any{"userId": viewer, "deep": deep})),
					"INVALID_ARGUMENT", where+" must be at most 16 levels deep")
				for _, n := range []float64{1 << 53, -1 << 53, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
					f.refuse(edit(request, path, object(map[string]any{"userId": viewer, "n": n})), "INVALID_ARGUMENT", where+".n "+noNumber)
					f.refuse(edit(request, path, object(map[string]any{"userId": viewer, "a": []any{map[string]any{"b": n}}})),
						"INVALID_ARGUMENT", where+".a.b "+noNumber)
				}
			}
		}
		for what, info := range map[string]*structpb.Struct{
			"nothing":        object(map[string]any{}),
			"a number":       object(map[string]any{"userId": 5}),
			"null":           object(map[string]any{"userId": nil}),
			"an empty text":  object(map[string]any{"userId": ""}),
			"another's name": object(map[string]any{"userID": viewer}),
		} {
			t.Run("info has "+what, func(*testing.T) {
				f.refuse(&platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{
					ChannelId: servertest.Owner.String(), Key: "k", Type: "vote", Info: info,
				}}, "INVALID_ARGUMENT", "activity.info.userId is required")
			})
		}
	})
}
