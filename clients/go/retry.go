package moderato

import (
	"encoding/json"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// methodName names a method, or all methods of a service, in a service config.
type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method,omitempty"`
}

// repeatable lists the changes that can be repeated: a second call changes nothing, and
// has the result of the first. Reads need no entry.
var repeatable = []methodName{
	{"moderato.v1.ModerationService", "BanUser"},
	{"moderato.v1.ModerationService", "AddModerator"}, {"moderato.v1.ModerationService", "RemoveModerator"},
	{"moderato.v1.ChannelsService", "AddVip"}, {"moderato.v1.ChannelsService", "RemoveVip"},
	{"moderato.v1.ChannelsService", "AddOg"}, {"moderato.v1.ChannelsService", "RemoveOg"},
	{"moderato.v1.ChannelsService", "UpdateInfo"},
	{"moderato.v1.ChatService", "PostMessage"}, // callUnary gives every message an id
	{"moderato.v1.EventSubscriptionsService", "CreateSubscription"},
	{"moderato.v1.UsersService", "RevokeGrant"},
	{"moderato.platform.v1.ChatService", "PostMessage"},
	{"moderato.platform.v1.AccessService", "PutGrant"}, {"moderato.platform.v1.AccessService", "RevokeToken"},
	{"moderato.platform.v1.AccessService", "DeleteClient"},
	{Service: "moderato.platform.v1.AudienceService"}, {Service: "moderato.platform.v1.ContentService"},
	{Service: "moderato.platform.v1.DirectoryService"}, {Service: "moderato.platform.v1.StreamService"},
}

// reads returns the methods that the contract declares to be without side effects.
func reads() []methodName {
	var names []methodName
	for _, file := range []protoreflect.FileDescriptor{
		moderatov1.File_moderato_v1_moderation_proto, moderatov1.File_moderato_v1_channels_proto,
		moderatov1.File_moderato_v1_users_proto, moderatov1.File_moderato_v1_tokens_proto,
		moderatov1.File_moderato_v1_chat_proto, moderatov1.File_moderato_v1_subscriptions_proto,
		moderatov1.File_moderato_v1_webhooks_proto, platformv1.File_moderato_platform_v1_access_proto,
		platformv1.File_moderato_platform_v1_authorization_proto, platformv1.File_moderato_platform_v1_chat_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				options, ok := method.Options().(*descriptorpb.MethodOptions)
				if ok && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
					names = append(names, methodName{string(service.FullName()), string(method.Name())})
				}
			}
		}
	}
	return names
}

// serviceConfig returns the gRPC service config: calls that can be repeated are retried,
// with backoff, while the server is unavailable.
func serviceConfig() string {
	text, err := json.Marshal(map[string]any{
		"methodConfig": []any{map[string]any{
			"name": append(reads(), repeatable...),
			"retryPolicy": map[string]any{
				"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "5s", "backoffMultiplier": 2.5,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}},
		// When most calls fail, retries would only add load.
		"retryThrottling": map[string]any{"maxTokens": 100, "tokenRatio": 0.5},
	})
	if err != nil {
		panic(err) // it holds only strings and numbers
	}
	return string(text)
}
