package gateway_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// goldenNow is when the golden files' calls are made. The World was imported an
// hour before, and the records of testdata a minute before: roles have an order
// by time, and the subscription that ends at this very instant was active when
// it was counted.
var goldenNow = instant.Of(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

// goldenServer starts a server whose responses are the same at every run: its clock is
// frozen.
func goldenServer(t *testing.T, url store.URL) *servertest.Server {
	t.Helper()
	config := servertest.Config(url)
	config.DefaultAvatarURL = "https://img.example.com/default.svg"
	s := servertest.Start(t, config)
	s.Store.Clock.Freeze(goldenNow.Add(-time.Hour))
	s.Load(t, servertest.World()...)
	s.Store.Clock.Freeze(goldenNow.Add(-time.Minute))
	s.Load(t, goldenRecords(t)...)
	earlyBird := args("channelId", servertest.Owner.String(), "banUsername", "early.bird")
	wantOK(t, s.REST(t, s.As(t, servertest.Owner), "POST", banPath, earlyBird))
	s.Store.Clock.Freeze(goldenNow)
	return s
}

func goldenRecords(t *testing.T) []*platformv1.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var records []*platformv1.Record
	for line := range bytes.Lines(text) {
		record, err := importer.ParseRecord(bytes.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, record)
	}
	return records
}

// whole returns the complete response without the headers that net/http adds: the date,
// and the length, which wantJSON checks.
func whole(r servertest.Response) string {
	var text strings.Builder
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\n", r.Status, http.StatusText(r.Status))
	header := r.Header.Clone()
	header.Del("Date")
	header.Del("Content-Length")
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	return text.String() + "\n" + r.Body + "\n"
}

// madeUp matches the ids that Moderato generates.
var madeUp = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// numbered matches the sequence of an event. The end of a subscription may be emitted
// before or after the events of the other steps.
var numbered = regexp.MustCompile(`"sequence":\d+`)

// sealed matches a cursor, which is encrypted with the key of the database.
var sealed = regexp.MustCompile(`"cursor":"[A-Za-z0-9_-]+"`)

// batchIn matches the id of a batch.
var batchIn = regexp.MustCompile(`"batchId":"([^"]+)"`)

// sweepIn matches the token of a sweep.
var sweepIn = regexp.MustCompile(`"sweepToken":"([^"]+)"`)

// listing matches the operations that a token may call. A golden file, which is an example of the
// documentation as well, has only the first: other tests compare the list with the contract.
var listing = regexp.MustCompile(`"operations":\[(\{[^{}]*\}),.*\]`)

// golden compares a response with a file in testdata, byte for byte.
func golden(t *testing.T, name string, r servertest.Response) {
	t.Helper()
	got := madeUp.ReplaceAllString(whole(r), "(an id)")
	got = numbered.ReplaceAllString(got, `"sequence":0`)
	got = sealed.ReplaceAllString(got, `"cursor":"(a cursor)"`)
	got = sweepIn.ReplaceAllString(got, `"sweepToken":"(a token)"`)
	got = listing.ReplaceAllString(got, `"operations":[$1]`)
	path := filepath.Join("testdata", name+".http")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the answer is not that of %s (-update writes it anew; -want +got):\n%s", path, diff)
	}
}

func TestOperationsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	if *update { // one store writes the files; the next run compares all stores with them
		goldenSteps(t, storetest.SQLite(t))
		return
	}
	storetest.Each(t, goldenSteps)
}

// The steps run in order, because some need the state that earlier steps created.
func goldenSteps(t *testing.T, url store.URL) {
	s := goldenServer(t, url)
	channel := servertest.Owner.String()
	owner, moderator, viewer, app := s.As(t, servertest.Owner), s.As(t, servertest.Moderator), s.As(t, servertest.Viewer), s.AsApp(t)
	ban := args("channelId", channel, "banUsername", "lootgoblin77")
	mute := args("channelId", channel, "mutedUserId", servertest.Viewer.String())
	og := args("channelId", channel, "userId", "0b6e0001-0000-4000-8000-0000000000f1")
	hasFile := map[string]bool{}
	batch, sweep := "", "" // the id of the latest batch, and the token of the latest sweep, in a response
	for _, step := range []struct {
		name   string
		caller servertest.Credentials
		status int
		method string
		path   string
		body   string
	}{
		{"get_metrics", moderator, 200, "GET", "/v1/moderation/metrics?stepSeconds=3600&since=2026-11-20T12:00:00Z&channelId=" + channel, ""},
		{"list_moderated_channels", moderator, 200, "GET", channelsPath + "?userId=" + servertest.Moderator.String(), ""},
		{"list_moderators", moderator, 200, "GET", listModerators(), ""},
		{"add_moderator", owner, 200, "POST", moderatorsPath, roleArgs(servertest.Viewer)},
		{"list_mods", owner, 200, "GET", "/v1/channels/roles/mods", ""},
		{"remove_moderator", owner, 200, "DELETE", moderatorsPath, roleArgs(servertest.Viewer)},
		{"ban_user", moderator, 200, "POST", banPath, ban},
		{"list_banned_users", owner, 200, "GET", "/v1/channels/banned-users", ""},
		{"remove_ban", owner, 200, "DELETE", banPath, ban},
		{"mute_user", moderator, 200, "POST", mutePath, mute},
		{"list_mutes", owner, 200, "GET", "/v1/moderation/muted-users?channelId=" + channel, ""},
		{"error_mute_active", owner, 409, "POST", mutePath, mute},
		{"remove_mute", owner, 200, "DELETE", mutePath, mute},
		{"error_not_muted", owner, 404, "DELETE", mutePath, mute},
		{"error_not_banned", owner, 404, "DELETE", banPath, ban},
		{"error_invalid_argument", owner, 400, "POST", banPath, args("channelId", "x")},
		{"error_token_kind", app, 403, "POST", banPath, ban},
		{"error_scope_missing", narrow(t, s, servertest.Owner), 403, "POST", banPath, ban},

		{"list_channels", app, 200, "GET", "/v1/channels?limit=2", ""},
		{"get_stream_info", owner, 200, "GET", "/v1/channels/stream-info", ""},
		{"get_stats", owner, 200, "GET", "/v1/channels/stats", ""},
		{"get_live_stats", app, 200, "GET", "/v1/channels/live-stats?channelId=" + channel, ""},
		{"list_followers", owner, 200, "GET", "/v1/channels/followers?limit=3", ""},
		{"list_followed", viewer, 200, "GET", "/v1/channels/followed", ""},
		{"list_subscribers", owner, 200, "GET", "/v1/channels/subscribers", ""},
		{"list_activities", owner, 200, "GET", "/v1/channels/activities", ""},
		{"list_votes", app, 200, "GET", "/v1/channels/votes?epoch=all&channelId=" + channel, ""},
		{"list_clips", viewer, 200, "GET", "/v1/channels/clips?limit=2&channelId=" + channel, ""},
		{"list_vods", viewer, 200, "GET", "/v1/channels/vods?channelId=" + channel, ""},
		{"list_raids", viewer, 200, "GET", "/v1/channels/raids?channelId=" + channel, ""},
		{"add_vip", owner, 200, "POST", "/v1/channels/vips", roleArgs(servertest.Raider)},
		{"list_vips", owner, 200, "GET", "/v1/channels/roles/vips", ""},
		{"remove_vip", owner, 200, "DELETE", "/v1/channels/vips", roleArgs(servertest.Raider)},
		{"add_og", owner, 200, "POST", "/v1/channels/ogs", og},
		{"list_ogs", app, 200, "GET", "/v1/channels/roles/ogs?channelId=" + channel, ""},
		{"remove_og", owner, 200, "DELETE", "/v1/channels/ogs", og},
		{"update_info", owner, 200, "POST", "/v1/channels/info", `{"title":" Cafe\u0301, then bed ","lang":"PT-br","categoryId":1}`},
		{"get_profile", viewer, 200, "GET", "/v1/users/profile", ""},
		{"get_achievement_stats", app, 200, "GET", "/v1/users/achievement-stats?userId=" + channel, ""},
		{"list_users", app, 200, "GET", "/v1/users?username[]=@Amara.Okafor&userId[]=" + channel, ""},
		{"list_categories", viewer, 200, "GET", "/v1/categories?query=a", ""},
		{"list_platform_emotes", viewer, 200, "GET", "/v1/emotes/blaze", ""},
		{"get_self", app, 200, "GET", "/v1/tokens/self", ""},
		{"get_user", moderator, 200, "GET", "/v1/moderation/users?username=tomasz_wrona&channelId=" + channel, ""},
		{"list_log", moderator, 200, "GET", logPath + "?channelId=" + channel, ""},
		{"ban_users", moderator, 200, "POST", bansPath,
			`{"channelId":"` + channel + `","users":[{"username":"LOOTGOBLIN77"},{"userId":"` + channel + `"},{"username":"nobody"}],"reason":"spam raid","durationSeconds":3600}`},
		{"list_ban_batches", owner, 200, "GET", bansPath + "?channelId=" + channel, ""},
		{"list_roles", moderator, 200, "GET", "/v1/moderation/roles?role=moderator&channelId=" + channel, ""},
		{"list_bans", moderator, 200, "GET", "/v1/moderation/banned-users?query=loot&channelId=" + channel, ""},
		{"undo_ban_batch", owner, 200, "DELETE", bansPath, `{"channelId":"` + channel + `","batchId":"{batch}","restoreMessages":true}`},
		{"preview_sweep", moderator, 200, "POST", sweepsPath, `{"channelId":"` + channel + `","followedWithinSeconds":1209600,"withinSeconds":60}`},
		{"commit_sweep", moderator, 200, "POST", sweepsPath + "/commit", `{"channelId":"` + channel + `","sweepToken":"{sweep}","reason":"raid"}`},
		{"error_sweep_expired", owner, 409, "POST", sweepsPath + "/commit", `{"channelId":"` + channel + `","sweepToken":"{sweep}"}`},
		{"revert_moderator", owner, 200, "POST", "/v1/moderation/reverts",
			args("channelId", channel, "moderatorId", servertest.Moderator.String(), "since", goldenNow.String())},
		{"error_sweep_not_found", owner, 404, "POST", sweepsPath + "/commit", args("channelId", channel, "sweepToken", "unknown")},
		{"error_batch_not_found", owner, 404, "DELETE", bansPath, args("channelId", channel, "batchId", servertest.Nobody.String())},
	} {
		o := operationAt(t, step.method, step.path)
		hasFile[o.rpc] = hasFile[o.rpc] || step.status == http.StatusOK
		t.Run(step.name, func(t *testing.T) {
			request := s.Request(t, step.caller, step.method, step.path, strings.NewReplacer("{batch}", batch, "{sweep}", sweep).Replace(step.body))
			request.Header.Set(requestid.Header, step.name)
			r := s.Do(t, request)
			if found := batchIn.FindStringSubmatch(r.Body); found != nil {
				batch = found[1]
			}
			if found := sweepIn.FindStringSubmatch(r.Body); found != nil {
				sweep = found[1]
			}
			if r.Status != step.status {
				t.Errorf("status: got %d, want %d", r.Status, step.status)
			}
			wantJSON(t, r)
			golden(t, step.name, r)
			if r.Status == http.StatusOK {
				wantFields(t, o, r)
			}
		})
	}
	for _, o := range slices.Concat(operations, additions) {
		if !hasFile[o.rpc] {
			t.Errorf("%s has no golden file", o.rpc)
		}
	}
}
