package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// members returns the keys of a JSON object in order, and its values.
func members(t *testing.T, text string) (keys []string, values map[string]string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		t.Fatalf("not an object: %s", text)
	}
	values = map[string]string{}
	for decoder.More() {
		token, err := decoder.Token()
		key, isKey := token.(string)
		var value json.RawMessage
		if err != nil || !isKey || decoder.Decode(&value) != nil {
			t.Fatalf("not JSON: %s", text)
		}
		keys = append(keys, key)
		values[key] = string(value)
	}
	return keys, values
}

func TestSuccessEnvelope(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	raider := args("channelId", servertest.Owner.String(), "banUserId", servertest.Raider.String())
	const none = "no data"
	for _, c := range []struct {
		name         string
		caller       servertest.Credentials
		method, path string
		body         string
		data         string // how data begins
	}{
		{"a result is an object", owner, "POST", banPath, raider, `{"channelId":`},
		{"a list is an array", owner, "GET", listModerators(), "", `[{"id":`},
		{"an empty list of channels is []", owner, "GET", channelsPath + "?userId=" + servertest.Owner.String(), "", `[]`},
		{"adding a moderator has no data", owner, "POST", moderatorsPath, roleArgs(servertest.Viewer), none},
		{"repeated add has no data", owner, "POST", moderatorsPath, roleArgs(servertest.Viewer), none},
		{"removing a moderator has no data", owner, "DELETE", moderatorsPath, roleArgs(servertest.Viewer), none},
		{"removing a ban has no data", owner, "DELETE", banPath, raider, none},
		{"the last moderator goes", owner, "DELETE", moderatorsPath, roleArgs(servertest.Moderator), none},
		{"an empty list of moderators is []", owner, "GET", listModerators(), "", `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.REST(t, c.caller, c.method, c.path, c.body)
			wantOK(t, r)
			keys, values := members(t, r.Body)
			want := []string{"success", "message", "data"}
			if c.data == none {
				want = want[:2]
			}
			if !slices.Equal(keys, want) {
				t.Fatalf("keys: got %q, want %q", keys, want)
			}
			if values["success"] != "true" || values["message"] != `"success"` {
				t.Errorf("got %s, want success true and message success", r.Body)
			}
			if c.data != none && !strings.HasPrefix(values["data"], c.data) {
				t.Errorf("data: got %s, want it to begin with %s", values["data"], c.data)
			}
			if id := r.Header.Get("X-Request-Id"); id == "" {
				t.Error("X-Request-Id: got none")
			}
		})
	}
}

func TestResponsesAreJSONForAnyAcceptHeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner := s.As(t, servertest.Owner)
	for _, accept := range []string{"application/json", "text/html", "*/*", "application/grpc", "application/octet-stream"} {
		r := s.Request(t, owner, "GET", listModerators(), "")
		r.Header.Set("Accept", accept)
		wantOK(t, s.Do(t, r))
	}
}

// A response larger than the buffer of net/http still has a Content-Length.
func TestLongListHasContentLength(t *testing.T) {
	t.Parallel()
	s := start(t)
	const moderators = 190
	var records []*platformv1.Record
	for i := range moderators {
		id := uid.New().String()
		records = append(records,
			&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: id, Username: fmt.Sprintf("mod%d", i)}}},
			&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
				ChannelId: servertest.Other.String(), UserId: id, Role: "moderator",
			}}})
	}
	s.Load(t, records...)
	r := s.REST(t, s.As(t, servertest.Owner), "GET", moderatorsPath+"?channelId="+servertest.Other.String(), "")
	wantOK(t, r)
	if got, want := strings.Count(r.Body, `"slug":"mod`), moderators; got != want {
		t.Errorf("got %d moderators, want %d", got, want)
	}
}

func TestTimestampsHaveMillisecondPrecision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, muted string
		millis      int
	}{
		{"whole second", "2026-03-14T15:19:26.000Z", 0},
		{"tenths", "2026-03-14T15:19:26.500Z", 500},
		{"hundredths", "2026-03-14T15:19:26.050Z", 50},
		{"thousandths", "2026-03-14T15:19:26.007Z", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Store.Clock.Freeze(instant.Of(time.Date(2026, 3, 14, 15, 9, 26, c.millis*1e6, time.UTC)))
			mute := args("channelId", servertest.Owner.String(), "mutedUserId", servertest.Raider.String())
			owner := s.As(t, servertest.Owner)
			if r := s.REST(t, owner, "POST", mutePath, mute); !strings.Contains(r.Body, `"muteExpiresAt":"`+c.muted+`"`) {
				t.Errorf("mute: got %s, want muteExpiresAt %s", r.Body, c.muted)
			}
			r := s.REST(t, owner, "POST", mutePath, mute)
			if got := wantRefused(t, r, 409, "MUTE_ACTIVE").Data.MuteExpiresAt; got != c.muted {
				t.Errorf("muted already: got muteExpiresAt %s, want %s", got, c.muted)
			}
		})
	}
}
