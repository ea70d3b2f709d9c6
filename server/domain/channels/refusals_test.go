package channels_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/test/servertest"
)

const v1 = "/v1/channels"

// TestInvalidInputIsRejectedOnBothTransports sends invalid requests of each operation,
// and compares the errors of both transports.
func TestInvalidInputIsRejectedOnBothTransports(t *testing.T) {
	owner, viewer, other := servertest.Owner.String(), servertest.Viewer.String(), servertest.Other.String()
	nobody := servertest.Nobody.String()
	const (
		notUUID    = "must be a UUID in its 36-character form"
		upTo20     = "limit must be between 1 and 20"
		upTo100    = "limit must be between 1 and 100"
		orders     = "orderBy must be one of most_recent, most_viewed"
		weeks      = "epoch must be a week number of 0 or more, or all"
		activities = "type must be one of follower, subscriber, gift, thanks, vote"
	)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		user, app := s.As(t, servertest.Owner), s.AsApp(t)
		type args = servertest.Args
		many := strings.Split(strings.Repeat("a ", 101), " ")[:101]
		for _, c := range []struct {
			name         string
			as           servertest.Credentials
			method, path string
			args         args
			reason       string
			violations   []string
		}{
			{"channels, limit 0", user, "GET", "", args{"limit": 0}, "INVALID_ARGUMENT", []string{upTo20}},
			{"channels, limit 21", user, "GET", "", args{"limit": 21}, "INVALID_ARGUMENT", []string{upTo20}},
			{"channels, limit below 0", user, "GET", "", args{"limit": -1}, "INVALID_ARGUMENT", []string{upTo20}},
			{"channels, unknown type", user, "GET", "", args{"type": "offline"}, "INVALID_ARGUMENT", []string{"type must be one of live, all"}},
			{"channels, too many slugs", user, "GET", "", args{"slug": many}, "INVALID_ARGUMENT", []string{"slug[] must have at most 100 values"}},
			{"channels, bad cursor", user, "GET", "", args{"cursor": "x"}, "CURSOR_INVALID", nil},
			{"channels, several violations", user, "GET", "", args{"limit": 0, "type": "x"}, "INVALID_ARGUMENT", []string{upTo20, "type must be one of live, all"}},
			{"clips, limit 21", user, "GET", "/clips", args{"channelId": owner, "limit": 21}, "INVALID_ARGUMENT", []string{upTo20}},
			{"clips, no channel", user, "GET", "/clips", args{}, "INVALID_ARGUMENT", []string{"channelId is required"}},
			{"clips, unknown order", user, "GET", "/clips", args{"channelId": owner, "orderBy": "oldest"}, "INVALID_ARGUMENT", []string{orders}},
			{"clips, unknown channel", user, "GET", "/clips", args{"channelId": nobody}, "CHANNEL_NOT_FOUND", nil},
			{"vods, limit 0", user, "GET", "/vods", args{"channelId": owner, "limit": 0}, "INVALID_ARGUMENT", []string{upTo20}},
			{"vods, unknown order", user, "GET", "/vods", args{"channelId": owner, "orderBy": "x"}, "INVALID_ARGUMENT", []string{orders}},
			{"vods, unknown channel", app, "GET", "/vods", args{"channelId": nobody}, "CHANNEL_NOT_FOUND", nil},
			{"followers, limit 101", user, "GET", "/followers", args{"limit": 101}, "INVALID_ARGUMENT", []string{upTo100}},
			{"followers, malformed user", user, "GET", "/followers", args{"userId": "x"}, "INVALID_ARGUMENT", []string{"userId " + notUUID}},
			{"followers, another's channel", user, "GET", "/followers", args{"channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"followed, limit 0", user, "GET", "/followed", args{"limit": 0}, "INVALID_ARGUMENT", []string{upTo100}},
			{"banned users, limit 101", user, "GET", "/banned-users", args{"limit": 101}, "INVALID_ARGUMENT", []string{upTo100}},
			{"banned users, another's channel", user, "GET", "/banned-users", args{"channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"subscribers, limit 0", user, "GET", "/subscribers", args{"limit": 0}, "INVALID_ARGUMENT", []string{upTo100}},
			{"activities, unknown type", user, "GET", "/activities", args{"type": "raid"}, "INVALID_ARGUMENT", []string{activities}},
			{"activities, bad cursor", user, "GET", "/activities", args{"cursor": "AAAA"}, "CURSOR_INVALID", nil},
			{"votes, epoch is a word", user, "GET", "/votes", args{"channelId": owner, "epoch": "x"}, "INVALID_ARGUMENT", []string{weeks}},
			{"votes, epoch below 0", user, "GET", "/votes", args{"channelId": owner, "epoch": "-1"}, "INVALID_ARGUMENT", []string{weeks}},
			{"votes, no epoch and no channel", user, "GET", "/votes", args{}, "INVALID_ARGUMENT", []string{"channelId is required", "epoch is required"}},
			{"votes, another's channel", user, "GET", "/votes", args{"channelId": other, "epoch": "all"}, "NOT_CHANNEL_OWNER", nil},
			{"votes, app and an unknown channel", app, "GET", "/votes", args{"channelId": nobody, "epoch": "1"}, "CHANNEL_NOT_FOUND", nil},
			{"stats, app without a channel", app, "GET", "/stats", args{}, "INVALID_ARGUMENT", []string{"channelId is required"}},
			{"stats, app and an unknown channel", app, "GET", "/stats", args{"channelId": nobody}, "CHANNEL_NOT_FOUND", nil},
			{"stats, malformed channel", app, "GET", "/stats", args{"channelId": "x"}, "INVALID_ARGUMENT", []string{"channelId " + notUUID}},
			{"stats, another's channel", user, "GET", "/stats", args{"channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"live stats, app without a channel", app, "GET", "/live-stats", args{}, "INVALID_ARGUMENT", []string{"channelId is required"}},
			{"stream info, another's channel", user, "GET", "/stream-info", args{"channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"VIPs, app and an unknown channel", app, "GET", "/roles/vips", args{"channelId": nobody}, "CHANNEL_NOT_FOUND", nil},
			{"moderators, app without a channel", app, "GET", "/roles/mods", args{}, "INVALID_ARGUMENT", []string{"channelId is required"}},
			{"OGs, another's channel", user, "GET", "/roles/ogs", args{"channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"add VIP, no arguments", user, "POST", "/vips", args{}, "INVALID_ARGUMENT", []string{"channelId is required", "userId is required"}},
			{"add VIP, another's channel", user, "POST", "/vips", args{"channelId": other, "userId": viewer}, "NOT_CHANNEL_OWNER", nil},
			{"add VIP, unknown user", user, "POST", "/vips", args{"channelId": owner, "userId": nobody}, "USER_NOT_FOUND", nil},
			{"add VIP, the owner", user, "POST", "/vips", args{"channelId": owner, "userId": owner}, "TARGET_IS_CHANNEL", nil},
			{"remove VIP, malformed user", user, "DELETE", "/vips", args{"channelId": owner, "userId": "x"}, "INVALID_ARGUMENT", []string{"userId " + notUUID}},
			{"remove VIP, unknown user", user, "DELETE", "/vips", args{"channelId": owner, "userId": nobody}, "USER_NOT_FOUND", nil},
			{"add OG, the owner", user, "POST", "/ogs", args{"channelId": owner, "userId": owner}, "TARGET_IS_CHANNEL", nil},
			{"remove OG, another's channel", user, "DELETE", "/ogs", args{"channelId": other, "userId": viewer}, "NOT_CHANNEL_OWNER", nil},
			{"info, no arguments", user, "POST", "/info", args{}, "INVALID_ARGUMENT", []string{"title is required", "lang is required"}},
			{"info, title of spaces", user, "POST", "/info", args{"title": "  ", "lang": "en"}, "INVALID_ARGUMENT", []string{"title is required"}},
			{"info, title of 141 characters", user, "POST", "/info", args{"title": strings.Repeat("ü", 141), "lang": "en"}, "INVALID_ARGUMENT", []string{"title must be 1 to 140 characters"}},
			{"info, control character", user, "POST", "/info", args{"title": "a\u0007b", "lang": "en"}, "INVALID_ARGUMENT", []string{"title must not contain control characters"}},
			{"info, no language tag", user, "POST", "/info", args{"title": "a", "lang": "english please"}, "INVALID_ARGUMENT", []string{"lang must be a BCP 47 language tag, such as en or pt-BR"}},
			{"info, unknown category", user, "POST", "/info", args{"title": "a", "lang": "en", "categoryId": 99}, "CATEGORY_NOT_FOUND", nil},
			{"info, another's channel", user, "POST", "/info", args{"title": "a", "lang": "en", "channelId": other}, "NOT_CHANNEL_OWNER", nil},
			{"stats, user without a channel", s.As(t, servertest.Viewer), "GET", "/stats", args{}, "CHANNEL_NOT_FOUND", nil},
			{"followers, user without a channel", s.As(t, servertest.Viewer), "GET", "/followers", args{}, "CHANNEL_NOT_FOUND", nil},
			{"info, user without a channel", s.As(t, servertest.Viewer), "POST", "/info", args{"title": "a", "lang": "en"}, "CHANNEL_NOT_FOUND", nil},
		} {
			_, rest := s.CallREST(t, c.as, c.method, v1+c.path, c.args)
			_, grpc := s.CallGRPC(t, c.as, c.method, v1+c.path, c.args)
			want := servertest.Outcome{Reason: c.reason, Violations: c.violations, Metadata: map[string]string{}}
			for transport, got := range map[string]servertest.Outcome{"REST": rest, "gRPC": grpc} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s over %s (-want +got):\n%s", c.name, transport, diff)
				}
			}
		}
	})
}

// TestQueryParametersOfWrongTypeAreRejected sends values that only REST can express.
func TestQueryParametersOfWrongTypeAreRejected(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		for query, want := range map[string]string{
			"?limit=x":                   "limit must be an integer",
			"?limit=1.5":                 "limit must be an integer",
			"?limit=":                    "limit must be an integer",
			"?limit=1&limit=2":           "limit must be given once",
			"?categoryId[]=x":            "categoryId[] must be an integer",
			"?categoryId=1&categoryId=x": "categoryId must be an integer",
			"/votes?epoch=1&epoch=2":     "epoch must be given once",
			"/followers?cursor=a&cursor": "cursor must be given once",
		} {
			r := s.REST(t, owner, http.MethodGet, v1+query, "")
			if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, strings.Replace(want, " ", `","description":"`, 1)) {
				t.Errorf("%s: %d %s, want %s", query, r.Status, r.Body, want)
			}
		}
		r := s.REST(t, owner, http.MethodPost, v1+"/info", `{"title":1,"lang":"en","categoryId":"2"}`)
		for _, want := range []string{`{"field":"title","description":"must be a string"}`, `{"field":"categoryId","description":"must be an integer"}`} {
			if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, want) {
				t.Errorf("info of wrong types: %d %s, want %s", r.Status, r.Body, want)
			}
		}
	})
}
