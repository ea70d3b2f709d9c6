package gateway_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/moderato-live/moderato/server/servertest"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

var (
	timePattern      = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	requestIDPattern = regexp.MustCompile(`"requestId":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`)
)

// normalised is a body without what differs from run to run: times become
// "<time>" and request ids "<request id>". Only the forms that they must have
// are known, so that one in another form stays, and differs from the golden
// file.
func normalised(body string) string {
	body = timePattern.ReplaceAllString(body, `"<time>"`)
	return requestIDPattern.ReplaceAllString(body, `"requestId":"<request id>"`)
}

// golden compares a body with a file of testdata.
func golden(t *testing.T, name, body string) {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	got := normalised(body) + "\n"
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
	if got != string(want) {
		t.Errorf("the answer is not that of %s (-update writes it anew)\ngot  %swant %s", path, got, want)
	}
}

// One step follows the other: the mute and the ban need the states before.
func TestEachOperationAnswersAsItsGoldenFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner, moderator := s.As(t, servertest.Owner), s.As(t, servertest.Moderator)
	ban := args("channelId", servertest.Owner.String(), "banUsername", "lootgoblin77")
	mute := args("channelId", servertest.Owner.String(), "mutedUserId", servertest.Viewer.String())
	for _, step := range []struct {
		name   string
		caller servertest.Credentials
		status int
		method string
		path   string
		body   string
	}{
		{"list_moderated_channels", moderator, 200, "GET", channelsPath + "?userId=" + servertest.Moderator.String(), ""},
		{"list_moderators", moderator, 200, "GET", listModerators(), ""},
		{"add_moderator", owner, 200, "POST", moderatorsPath, roleArgs(servertest.Viewer)},
		{"remove_moderator", owner, 200, "DELETE", moderatorsPath, roleArgs(servertest.Viewer)},
		{"ban_user", moderator, 200, "POST", banPath, ban},
		{"remove_ban", owner, 200, "DELETE", banPath, ban},
		{"mute_user", moderator, 200, "POST", mutePath, mute},
		{"error_mute_active", owner, 409, "POST", mutePath, mute},
		{"error_not_banned", owner, 404, "DELETE", banPath, ban},
		{"error_invalid_argument", owner, 400, "POST", banPath, args("channelId", "x")},
		{"error_token_kind", s.AsApp(t), 403, "POST", banPath, ban},
		{"error_scope_missing", narrow(t, s, servertest.Owner), 403, "POST", banPath, ban},
	} {
		t.Run(step.name, func(t *testing.T) {
			r := s.REST(t, step.caller, step.method, step.path, step.body)
			if r.Status != step.status {
				t.Errorf("status: got %d, want %d", r.Status, step.status)
			}
			wantJSON(t, r)
			golden(t, step.name, r.Body)
		})
	}
}
