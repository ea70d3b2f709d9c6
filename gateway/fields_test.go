package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/gateway/assets"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// The resources of docs/interface.md, section 2, field by field. A type is
// one of the words in checkWord, with "?" if it can be null; an object; or a
// list of one of these.
type (
	object map[string]any
	list   struct{ of any }
	some   struct{ of any } // a list that may be empty
	maybe  struct{ of any } // or null
	absent struct{ of any } // or missing
)

var (
	moderatedChannel = object{"uuid": "uuid", "username": "string", "avatarUrl": "url"}
	userSummary      = object{"id": "uuid", "displayName": "string", "slug": "string", "avatarUrl": "url"}
	banResult        = object{
		"channelId": "uuid", "moderatorId": "uuid", "bannedUserId": "uuid", "bannedUserDisplayName": "string", "bannedAt": "timestamp",
	}
	muteResult = object{
		"channelId": "uuid", "moderatorId": "uuid", "mutedUserId": "uuid", "mutedUserDisplayName": "string", "muteExpiresAt": "timestamp",
	}
	roleAssignment = object{"channelId": "uuid", "userId": "uuid", "role": "string"}
	logUser        = object{"id": "uuid", "displayName": "string", "slug": "string"}
	logEntry       = object{
		"id": "uuid", "sequence": "integer", "type": "string", "createdAt": "timestamp", "moderator": maybe{logUser}, "user": maybe{logUser},
		"clientId": "string", "requestId": "string", "payload": "object",
		// Of bans and mutes.
		"reason": absent{"string?"}, "expiresAt": absent{"timestamp?"}, "batchId": absent{"uuid?"},
		"endReason": absent{"string?"}, // of their ends
		"evidence":  absent{some{object{"messageId": "uuid", "text": "string", "sentAt": "timestamp"}}},
	}
	targetResult = object{"userId": "uuid?", "username": "string?", "status": "string"}
	batchResult  = object{
		"batchId": "uuid?", "results": list{targetResult},
		"counts": object{"banned": "integer", "alreadyBanned": "integer", "userNotFound": "integer", "targetIsChannel": "integer", "duplicate": "integer", "extended": "integer", "invalid": "integer"},
	}
	batchRow = object{
		"batchId": "uuid", "createdAt": "timestamp", "bannedBy": logUser, "reason": "string?", "expiresAt": "timestamp?",
		"bannedCount": "integer", "stillBannedCount": "integer", "afterglowEndsAt": "timestamp?",
	}
	undoResult = object{
		"results": list{targetResult}, "counts": object{"unbanned": "integer", "changed": "integer", "notBanned": "integer", "restored": "integer"}, "messagesRemovedBefore": "timestamp?",
	}
	revertResult = object{
		"results": list{targetResult}, "counts": object{"unbanned": "integer", "unmuted": "integer", "restored": "integer"}, "hasMore": "boolean", "messagesRemovedBefore": "timestamp?",
	}
	sweepPreview = object{
		"sweepToken": "string", "expiresAt": "timestamp", "matched": "integer",
		"exempted": object{"owner": "integer", "moderators": "integer", "vips": "integer", "ogs": "integer", "subscribers": "integer", "followers": "integer"},
		"sample": list{object{
			"userId": "uuid", "username": "string", "displayName": "string",
			"message": maybe{object{"messageId": "uuid", "message": "string", "createdAt": "timestamp"}},
		}},
	}
	sweepResult = object{
		"batchId": "uuid", "status": "string", "counts": object{"banned": "integer", "alreadyBanned": "integer", "userNotFound": "integer", "extended": "integer"},
	}
	// Category 0, of what has none, has no picture.
	channelCategory = object{"id": "integer", "name": "string", "slug": "string", "imageUrl": "url"}
	contentCategory = object{"id": "integer", "parentId": "integer?", "name": "string", "slug": "string", "imageUrl": "url"}
	channelRow      = object{
		"id": "uuid", "title": "string", "displayName": "string", "bio": "string", "slug": "string", "avatarUrl": "url",
		"lang": "string", "isLive": "boolean", "followerCount": "integer", "category": channelCategory,
	}
	tokenSelf = object{
		"clientId": "string", "kind": "string", "userId": "uuid?", "scopes": list{"string"}, "expiresAt": "timestamp?",
		"operations": list{object{"name": "string", "method": "string?", "path": "string?", "relation": "string?"}},
	}
	pagination = object{"cursor": "string"}
	streamInfo = object{
		"isLive": "boolean", "title": "string", "previewImgUrl": "url", "startedAt": "timestamp",
		"category": object{"id": "integer", "title": "string"},
	}
	channelStats = object{"followerCount": "integer", "subscriberCount": "integer", "viewerCount": "integer"}
	liveStats    = object{
		"startedAt": "timestamp", "isLive": "boolean", "newFollowerCount": "integer", "newSubscriberCount": "integer", "viewerCount": "integer",
	}
	subscriptionInfo = object{
		"isSubscriber": "boolean", "hadSubscriptionBefore": "boolean", "renewCount": "integer?", "streakCount": "integer?",
		"expiresAt": "timestamp?", "subscribedAt": "timestamp?",
	}
	followerRow = object{
		"id": "uuid", "displayName": "string", "slug": "string", "avatarUrl": "url", "isFollower": "boolean",
		"followedAt": "timestamp", "subscriptionInfo": subscriptionInfo,
	}
	// A subscriber who does not follow has no followedAt.
	subscriberRow = object{
		"id": "uuid", "displayName": "string", "slug": "string", "avatarUrl": "url", "isFollower": "boolean",
		"followedAt": "timestamp?", "subscriptionInfo": subscriptionInfo,
	}
	followedRow = object{
		"id": "uuid", "displayName": "string", "slug": "string", "avatarUrl": "url", "isFollower": "boolean",
		"followedAt": "timestamp", "subscriptionInfo": subscriptionInfo, "isNotificationEnabled": "boolean",
	}
	bannedRow = object{
		"id": "uuid", "displayName": "string", "slug": "string", "bannedAt": "timestamp",
		"bannedBy": object{"id": "uuid", "displayName": "string", "slug": "string"},
		"reason":   "string?", "expiresAt": "timestamp?", // added after the document
	}
	listedBan = object{
		"id": "uuid", "displayName": "string", "slug": "string", "bannedAt": "timestamp", "bannedBy": logUser,
		"reason": "string?", "expiresAt": "timestamp?", "batchId": "uuid?", "cause": "string",
	}
	listedMute = object{
		"id": "uuid", "displayName": "string", "slug": "string", "mutedAt": "timestamp", "mutedBy": logUser, "reason": "string?", "expiresAt": "timestamp",
		"cause": "string", "ruleId": "uuid?",
	}
	roleHolder = object{
		"id": "uuid", "displayName": "string", "slug": "string", "avatarUrl": "url", "role": "string", "createdAt": "timestamp", "isBanned": "boolean",
	}
	metricsRow = object{
		"startedAt": "timestamp", "messages": "integer", "firstMessages": "integer", "follows": "integer", "bans": "integer", "mutes": "integer", "held": "integer", "viewers": "integer?",
	}
	categoryRow      = object{"id": "integer", "title": "string", "slug": "string", "imageUrl": "url", "parentId": "integer?", "name": "string"}
	emoteRows        = list{object{"id": "uuid", "name": "string", "imageUrl": "url", "isPublic": "boolean"}}
	profile          = object{"userId": "uuid", "username": "string", "slug": "string", "displayName": "string", "avatarUrl": "url", "channelId": "uuid?"}
	achievementStats = object{
		"tier": "integer", "followerCount": "integer", "subscriberCount": "integer", "streamHours": "integer", "uniqueChatters": "integer",
	}
	moderatedUser = object{
		"user": userSummary, "roles": list{"string"},
		"ban":    maybe{object{"bannedAt": "timestamp", "bannedBy": object{"id": "uuid", "displayName": "string", "slug": "string"}}},
		"mute":   maybe{object{"muteExpiresAt": "timestamp"}},
		"follow": maybe{object{"followedAt": "timestamp"}}, "subscription": subscriptionInfo,
		"messages": list{object{"messageId": "uuid", "message": "string", "createdAt": "timestamp"}},
	}
	activityRow = object{"id": "integer", "type": "string", "createdAt": "timestamp", "info": "object", "action": "object"}
	raidRow     = object{
		"id": "uuid", "raider": object{"id": "uuid", "username": "string", "displayName": "string", "avatarUrl": "url"},
		"viewerCount": "integer", "createdAt": "timestamp",
	}
	voteRow     = object{"id": "uuid", "username": "string", "address": "string", "amount": "integer", "votedAt": "timestamp"}
	contentUser = object{"id": "uuid", "username": "string", "avatarUrl": "url"}
	clipRow     = object{
		"clipId": "uuid", "title": "string", "viewCount": "integer", "duration": "integer", "previewImgUrl": "url", "clipUrl": "url",
		"creator": contentUser, "channel": contentUser, "category": contentCategory,
	}
	vodRow = object{
		"id": "uuid", "previewImgUrl": "url", "title": "string", "viewCount": "integer", "duration": "integer",
		"startedAt": "timestamp", "endedAt": "timestamp", "category": contentCategory, "channel": contentUser,
	}
	newWebhook = object{
		"id": "uuid", "channelId": "uuid?", "url": "url", "type": list{"string"}, "secret": "string", "createdAt": "timestamp",
	}
	webhookRow = object{
		"id": "uuid", "channelId": "uuid?", "userId": "uuid?", "url": "url", "type": list{"string"}, "status": "string",
		"disabledReason": "string?", "createdAt": "timestamp", "lastSuccessAt": "timestamp?", "lastError": "string?", "clientId": "string?",
	}
	rotatedSecret = object{"id": "uuid", "secret": "string", "formerSecretExpiresAt": "timestamp"}
	deliveryRow   = object{
		"id": "uuid", "eventId": "uuid", "type": "string", "status": "string", "attempts": "integer", "lastStatus": "integer?",
		"lastError": "string?", "nextAttemptAt": "timestamp?", "deliveredAt": "timestamp?",
	}
	infoResult = object{"title": "string", "lang": "string", "categoryId": "integer", "categoryTitle": "string"}
)

// counted returns a page with the total number of rows; paged returns one without it.
func counted(row object) object {
	return object{"count": "integer", "rows": list{row}, "pagination": pagination}
}
func paged(row object) object { return object{"rows": list{row}, "pagination": pagination} }

// TestResponseFieldsMatchInterfaceDocument calls each of the 27 operations on the demo,
// which fills all lists, and compares each response with the tables above.
func TestResponseFieldsMatchInterfaceDocument(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.DefaultAvatarURL = assets.Avatar
	s := servertest.Start(t, config)
	tokens, err := demo.Load(context.Background(), s.Store, s.Origin())
	if err != nil {
		t.Fatal(err)
	}
	cast := demo.People()
	channel, raider := cast.Owner.ID.String(), cast.Raider.ID.String()
	body := func(pairs ...string) string { return args(append([]string{"channelId", channel}, pairs...)...) }
	asked := map[string]bool{}
	for _, call := range []struct{ method, target, body string }{
		{"GET", "/v1/moderation/channels?userId=" + cast.Moderator.ID.String(), ""},
		{"GET", "/v1/moderation/moderators?channelId=" + channel, ""},
		{"POST", "/v1/moderation/moderators", body("userId", raider)},
		{"DELETE", "/v1/moderation/moderators", body("userId", raider)},
		{"POST", "/v1/moderation/ban", body("banUserId", raider)},
		{"DELETE", "/v1/moderation/ban", body("banUsername", cast.Raider.Username)},
		{"POST", "/v1/moderation/mute", body("mutedUserId", raider)},
		{"GET", "/v1/channels", ""},
		{"GET", "/v1/channels/stream-info", ""},
		{"GET", "/v1/channels/stats", ""},
		{"GET", "/v1/channels/followers", ""},
		{"GET", "/v1/channels/followed", ""},
		{"GET", "/v1/channels/banned-users", ""},
		{"GET", "/v1/channels/roles/vips", ""},
		{"POST", "/v1/channels/vips", body("userId", raider)},
		{"DELETE", "/v1/channels/vips", body("userId", raider)},
		{"GET", "/v1/channels/roles/mods", ""},
		{"GET", "/v1/channels/roles/ogs", ""},
		{"POST", "/v1/channels/ogs", body("userId", raider)},
		{"DELETE", "/v1/channels/ogs", body("userId", raider)},
		{"GET", "/v1/channels/subscribers", ""},
		{"GET", "/v1/channels/activities", ""},
		{"GET", "/v1/channels/votes?epoch=all&channelId=" + channel, ""},
		{"GET", "/v1/channels/clips?channelId=" + channel, ""},
		{"GET", "/v1/channels/vods?channelId=" + channel, ""},
		{"GET", "/v1/channels/live-stats", ""},
		{"POST", "/v1/channels/info", `{"title":"A new title","lang":"pt-br"}`},
		{"GET", logPath + "?channelId=" + channel, ""},
	} {
		token := tokens.Owner
		if strings.HasPrefix(call.target, channelsPath) {
			token = tokens.Moderator
		}
		r := s.REST(t, servertest.Credentials{Token: token, ClientID: cast.Client}, call.method, call.target, call.body)
		if r.Status != http.StatusOK {
			t.Errorf("%s %s: %d %s", call.method, call.target, r.Status, r.Body)
			continue
		}
		o := operationAt(t, call.method, call.target)
		asked[o.rpc] = true
		wantFields(t, o, r)
	}
	if len(asked) != len(operations) {
		t.Errorf("%d operations are asked, want all %d", len(asked), len(operations))
	}
}

// wantFields checks that a response has exactly the fields that the document lists for
// the operation.
func wantFields(t *testing.T, o operation, r servertest.Response) {
	t.Helper()
	var envelope object
	if err := json.Unmarshal([]byte(r.Body), &envelope); err != nil {
		t.Errorf("%s: %v in %s", o.rpc, err, r.Body)
		return
	}
	want := object{"success": "boolean", "message": "string"}
	if o.data != nil {
		want["data"] = o.data
	}
	for _, problem := range check("", envelope, want) {
		t.Errorf("%s: %s", o.rpc, problem)
	}
}

// check returns the places at which a decoded value does not have the wanted type.
func check(at string, got, want any) (problems []string) {
	switch want := want.(type) {
	case object:
		fields, ok := asObject(got)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, want an object", at, got)}
		}
		for name := range fields {
			if _, known := want[name]; !known {
				problems = append(problems, at+"."+name+" is not in the document")
			}
		}
		for name, kind := range want {
			value, there := fields[name]
			if optional, is := kind.(absent); is {
				if kind = optional.of; !there {
					continue
				}
			}
			if !there {
				problems = append(problems, at+"."+name+" is missing")
				continue
			}
			problems = append(problems, check(at+"."+name, value, kind)...)
		}
	case maybe:
		if got != nil {
			return check(at, got, want.of)
		}
	case some:
		if rows, ok := got.([]any); !ok || len(rows) > 0 {
			return check(at, got, list(want))
		}
	case list:
		rows, ok := got.([]any)
		if !ok || len(rows) == 0 {
			return []string{fmt.Sprintf("%s is %v, want a list with something in it", at, got)}
		}
		for i, row := range rows {
			problems = append(problems, check(fmt.Sprintf("%s[%d]", at, i), row, want.of)...)
		}
	case string:
		word, nullable := strings.CutSuffix(want, "?")
		if isNull := nullable && got == nil; !isNull && !checkWord(word, got) {
			return []string{fmt.Sprintf("%s is %v, want %s", at, got, want)}
		}
	}
	return problems
}

func asObject(v any) (map[string]any, bool) {
	if o, ok := v.(object); ok {
		return o, true
	}
	o, ok := v.(map[string]any)
	return o, ok
}

var (
	uuidForm      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	timestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

func checkWord(word string, got any) bool {
	text, isText := got.(string)
	switch word {
	case "string":
		return isText
	case "uuid":
		return isText && uuidForm.MatchString(text)
	case "timestamp":
		return isText && timestampForm.MatchString(text)
	case "url":
		u, err := url.Parse(text)
		return isText && err == nil && u.Host != ""
	case "integer":
		n, ok := got.(float64)
		return ok && n == math.Trunc(n)
	case "boolean":
		_, ok := got.(bool)
		return ok
	case "object":
		_, ok := got.(map[string]any)
		return ok
	}
	return false
}
