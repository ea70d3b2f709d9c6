package gateway_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/test/servertest"
)

// operation is a row of the tables of docs/interface.md, section 4.
type operation struct {
	rpc          string // its full name over gRPC
	method, path string
	data         any // the fields of its answer, from the tables of its section 2; nil: no data
}

// operations are the 27 operations of the interface document. Rules for every path or
// response are tested over this table. It is written by hand and not read from the
// annotations, because the annotations are under test.
var operations = []operation{
	{"moderato.v1.ModerationService.ListModeratedChannels", "GET", channelsPath, list{moderatedChannel}},
	{"moderato.v1.ModerationService.ListModerators", "GET", moderatorsPath, list{userSummary}},
	{"moderato.v1.ModerationService.AddModerator", "POST", moderatorsPath, nil},
	{"moderato.v1.ModerationService.RemoveModerator", "DELETE", moderatorsPath, nil},
	{"moderato.v1.ModerationService.BanUser", "POST", banPath, banResult},
	{"moderato.v1.ModerationService.RemoveBan", "DELETE", banPath, nil},
	{"moderato.v1.ModerationService.MuteUser", "POST", mutePath, muteResult},
	{"moderato.v1.ModerationService.ListLog", "GET", logPath, object{"rows": list{logEntry}, "pagination": pagination, "trimmedSequence": "integer"}},
	{"moderato.v1.ChannelsService.ListChannels", "GET", "/v1/channels", counted(channelRow)},
	{"moderato.v1.ChannelsService.GetStreamInfo", "GET", "/v1/channels/stream-info", streamInfo},
	{"moderato.v1.ChannelsService.GetStats", "GET", "/v1/channels/stats", channelStats},
	{"moderato.v1.ChannelsService.ListFollowers", "GET", "/v1/channels/followers", paged(followerRow)},
	{"moderato.v1.ChannelsService.ListFollowed", "GET", "/v1/channels/followed", paged(followedRow)},
	{"moderato.v1.ChannelsService.ListBannedUsers", "GET", "/v1/channels/banned-users", paged(bannedRow)},
	{"moderato.v1.ChannelsService.ListVips", "GET", "/v1/channels/roles/vips", list{userSummary}},
	{"moderato.v1.ChannelsService.AddVip", "POST", "/v1/channels/vips", roleAssignment},
	{"moderato.v1.ChannelsService.RemoveVip", "DELETE", "/v1/channels/vips", nil},
	{"moderato.v1.ChannelsService.ListMods", "GET", "/v1/channels/roles/mods", list{userSummary}},
	{"moderato.v1.ChannelsService.ListOgs", "GET", "/v1/channels/roles/ogs", list{userSummary}},
	{"moderato.v1.ChannelsService.AddOg", "POST", "/v1/channels/ogs", roleAssignment},
	{"moderato.v1.ChannelsService.RemoveOg", "DELETE", "/v1/channels/ogs", nil},
	{"moderato.v1.ChannelsService.ListSubscribers", "GET", "/v1/channels/subscribers", paged(subscriberRow)},
	{"moderato.v1.ChannelsService.ListActivities", "GET", "/v1/channels/activities", paged(activityRow)},
	{"moderato.v1.ChannelsService.ListVotes", "GET", "/v1/channels/votes", list{voteRow}},
	{"moderato.v1.ChannelsService.ListClips", "GET", "/v1/channels/clips", counted(clipRow)},
	{"moderato.v1.ChannelsService.ListVods", "GET", "/v1/channels/vods", counted(vodRow)},
	{"moderato.v1.ChannelsService.GetLiveStats", "GET", "/v1/channels/live-stats", liveStats},
	{"moderato.v1.ChannelsService.UpdateInfo", "POST", "/v1/channels/info", infoResult},
}

// additions are public operations that were added after the interface document. Rules for
// responses are tested over them too.
var additions = []operation{
	{"moderato.v1.ModerationService.RemoveMute", "DELETE", mutePath, nil},
	{"moderato.v1.ModerationService.BanUsers", "POST", bansPath, batchResult},
	{"moderato.v1.ModerationService.ListBanBatches", "GET", bansPath, paged(batchRow)},
	{"moderato.v1.ModerationService.ListBans", "GET", "/v1/moderation/banned-users", paged(listedBan)},
	{"moderato.v1.ModerationService.ListMutes", "GET", "/v1/moderation/muted-users", paged(listedMute)},
	{"moderato.v1.ModerationService.ListRoles", "GET", "/v1/moderation/roles", paged(roleHolder)},
	{"moderato.v1.ModerationService.GetMetrics", "GET", "/v1/moderation/metrics", object{"rows": list{metricsRow}}},
	{"moderato.v1.ModerationService.UndoBanBatch", "DELETE", bansPath, undoResult},
	{"moderato.v1.ModerationService.PreviewSweep", "POST", sweepsPath, sweepPreview},
	{"moderato.v1.ModerationService.CommitSweep", "POST", sweepsPath + "/commit", sweepResult},
	{"moderato.v1.ModerationService.RevertModerator", "POST", "/v1/moderation/reverts", revertResult},
	{"moderato.v1.ChannelsService.ListRaids", "GET", "/v1/channels/raids", paged(raidRow)},
	{"moderato.v1.ChannelsService.ListCategories", "GET", "/v1/categories", paged(categoryRow)},
	{"moderato.v1.ChannelsService.ListPlatformEmotes", "GET", "/v1/emotes/blaze", emoteRows},
	{"moderato.v1.ModerationService.GetUser", "GET", "/v1/moderation/users", moderatedUser},
	{"moderato.v1.UsersService.GetProfile", "GET", "/v1/users/profile", profile},
	{"moderato.v1.UsersService.GetAchievementStats", "GET", "/v1/users/achievement-stats", achievementStats},
	{"moderato.v1.UsersService.ListUsers", "GET", "/v1/users", list{userSummary}},
	{"moderato.v1.TokensService.GetSelf", "GET", "/v1/tokens/self", tokenSelf},
}

// webhookOperations are the operations that the interface document leaves open.
var webhookOperations = []operation{
	{"moderato.v1.WebhooksService.CreateWebhook", "POST", webhooksPath, newWebhook},
	{"moderato.v1.WebhooksService.ListWebhooks", "GET", webhooksPath, list{webhookRow}},
	{"moderato.v1.WebhooksService.DeleteWebhook", "DELETE", webhooksPath, nil},
	{"moderato.v1.WebhooksService.RotateWebhookSecret", "POST", webhooksPath + "/rotate-secret", rotatedSecret},
	{"moderato.v1.WebhooksService.EnableWebhook", "POST", webhooksPath + "/enable", object{"resumed": "boolean"}},
	{"moderato.v1.WebhooksService.ListWebhookDeliveries", "GET", webhooksPath + "/deliveries", paged(deliveryRow)},
	{"moderato.v1.WebhooksService.RedeliverWebhookEvent", "POST", webhooksPath + "/redeliver", nil},
}

// otherOperations are served too, and declared by the contract alone. The package of their
// domain tests their responses.
var otherOperations = func() (others []operation) {
	for _, o := range declaredOperations() {
		if !slices.ContainsFunc(slices.Concat(operations, additions, webhookOperations), func(known operation) bool { return known.rpc == o.rpc }) {
			others = append(others, o)
		}
	}
	return others
}()

// allOperations are all operations that the facade serves by annotation.
var allOperations = slices.Concat(operations, additions, webhookOperations, otherOperations)

// inPath matches a variable in the path of an annotation.
var inPath = regexp.MustCompile(`\{\w+\}`)

// declaredOperations reads the operations from the annotations of the contract, with a value
// for the variables in their paths.
func declaredOperations() (declared []operation) {
	for rpc := range authz.Methods() {
		rule, isPublic := proto.GetExtension(rpc.Options(), annotations.E_Http).(*annotations.HttpRule)
		if !isPublic || rule == nil {
			continue
		}
		method, path := http.MethodGet, rule.GetGet()
		switch {
		case rule.GetPost() != "":
			method, path = http.MethodPost, rule.GetPost()
		case rule.GetDelete() != "":
			method, path = http.MethodDelete, rule.GetDelete()
		}
		path = inPath.ReplaceAllString(path, servertest.Nobody.String())
		declared = append(declared, operation{rpc: string(rpc.FullName()), method: method, path: path})
	}
	return declared
}

// operationAt returns the operation that a method and a target with its query call.
func operationAt(t *testing.T, method, target string) operation {
	t.Helper()
	path, _, _ := strings.Cut(target, "?")
	at := slices.IndexFunc(allOperations, func(o operation) bool { return o.method == method && o.path == path })
	if at < 0 {
		t.Fatalf("no operation is at %s %s", method, path)
	}
	return allOperations[at]
}

// pathMethods holds the methods of each path.
var pathMethods = func() map[string][]string {
	methods := map[string][]string{}
	for _, o := range allOperations {
		methods[o.path] = append(methods[o.path], o.method)
	}
	return methods
}()

// TestAnnotationsMatchInterfaceDocument compares the annotations with the tables above.
func TestAnnotationsMatchInterfaceDocument(t *testing.T) {
	t.Parallel()
	if len(operations) != 28 {
		t.Errorf("%d operations are in the table, want the 27 of the document and the log", len(operations))
	}
	declared := declaredOperations()
	for _, o := range slices.Concat(operations, additions, webhookOperations) {
		isServed := func(d operation) bool { return d.rpc == o.rpc && d.method == o.method && d.path == o.path }
		if !slices.ContainsFunc(declared, isServed) {
			t.Errorf("%s is not served at %s %s", o.rpc, o.method, o.path)
		}
	}
}
