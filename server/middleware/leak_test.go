package middleware_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// traces returns the parts of a token that must not be revealed: the prefixes of its
// kinds, any eight consecutive characters, and its stored digest.
func traces(token string) []string {
	const part = 8
	sum := digest.Of(token)
	found := []string{
		"mdu_", "mda_", "mds_", "Bearer", "bearer",
		hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:]),
	}
	for i := range len(token) - part + 1 {
		found = append(found, token[i:i+part])
	}
	return found
}

func TestTokensAreNotLoggedOrInMetrics(t *testing.T) {
	t.Parallel()
	s, log := logged(t)
	short := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Viewer, Lifetime: time.Minute})
	s.Store.Clock.Advance(time.Hour)
	owner, viewer, app, service := s.As(t, servertest.Owner), s.As(t, servertest.Viewer), s.AsApp(t), s.AsService(t)
	revoked := s.As(t, servertest.Viewer)
	if _, err := authn.Revoke(context.Background(), s.Store, revoked.Token, nil); err != nil {
		t.Fatal(err)
	}
	acting := service
	acting.ActingUser = servertest.Owner
	damaged, swapped := owner, owner
	damaged.Token = owner.Token[:len(owner.Token)-2] + "zz"
	swapped.ClientID = servertest.OtherDashboard
	all := []servertest.Credentials{owner, viewer, app, service, acting, revoked, short, damaged, swapped}

	for _, c := range all {
		callEverything(t, s, c)
		misplaceToken(t, s, c)
	}
	if _, err := s.Store.DB().ExecContext(t.Context(), "DROP TABLE roles"); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		callEverything(t, s, c)
	}
	if _, err := s.Store.DB().ExecContext(t.Context(), "DROP TABLE tokens"); err != nil {
		t.Fatal(err)
	}
	late := servertest.Credentials{Token: owner.Token[:4] + viewer.Token[4:], ClientID: owner.ClientID}
	for _, c := range append(all, late) {
		callEverything(t, s, c)
	}

	for what, text := range map[string]string{"log": log.String(), "metrics": s.Metrics(t)} {
		if len(text) < 1000 {
			t.Fatalf("the %s says too little for a test: %s", what, text)
		}
		for _, c := range all {
			for _, trace := range traces(c.Token) {
				if at := strings.Index(text, trace); at >= 0 {
					t.Errorf("the %s shows %q of a token: %.200s", what, trace, text[max(0, at-100):])
				}
			}
		}
	}
	for _, code := range []string{"OK", "TOKEN_INVALID", "TOKEN_EXPIRED", "CLIENT_ID_MISMATCH", "TOKEN_KIND_NOT_ACCEPTED", "INTERNAL"} {
		if len(log.find(t, "code", code)) == 0 {
			t.Errorf("no call ended with %s, so this test shows too little", code)
		}
	}
}

// callEverything makes calls of all kinds and ignores their results.
func callEverything(t *testing.T, s *servertest.Server, c servertest.Credentials) {
	t.Helper()
	channel := servertest.Owner.String()
	for _, call := range []struct{ method, path, body string }{
		{"GET", listOf(servertest.Owner), ""},
		{"GET", listOf(servertest.Nobody), ""},
		{"GET", moderatorsPath, ""},
		{"GET", "/v1/moderation/channels?userId=" + channel, ""},
		{"POST", moderatorsPath, roleOf(servertest.Viewer)},
		{"POST", moderatorsPath, "{"},
		{"DELETE", moderatorsPath, roleOf(servertest.Viewer)},
		{"POST", banPath, `{"channelId":"` + channel + `","banUsername":"LootGoblin77"}`},
		{"DELETE", banPath, `{"channelId":"` + channel + `","banUsername":"LootGoblin77"}`},
		{"PUT", banPath, ""},
		{"GET", "/nowhere", ""},
	} {
		s.REST(t, c, call.method, call.path, call.body)
	}
	_, _ = s.Moderation.MuteUser(c.Context(), &moderatov1.MuteUserRequest{ChannelId: channel, MutedUserId: uid.New().String()})
	_, _ = s.Chat.GetStanding(c.Context(), &platformv1.GetStandingRequest{ChannelId: channel, UserId: servertest.Viewer.String()})
	_, _ = healthv1.NewHealthClient(s.Conn).Check(c.Context(), &healthv1.HealthCheckRequest{Service: "nothing"})
}

// misplaceToken sends a token in places where it does not belong.
func misplaceToken(t *testing.T, s *servertest.Server, c servertest.Credentials) {
	t.Helper()
	for _, path := range []string{"/v1/" + c.Token, moderatorsPath + "?channelId=" + c.Token, moderatorsPath + "?access_token=" + c.Token} {
		s.REST(t, c, "GET", path, "")
	}
	for _, body := range []string{
		`{"channelId":"` + c.Token + `","userId":"` + c.Token + `"}`,
		`{"` + c.Token + `":1,"` + c.Token + `":2}`,
		`{"channelId":"` + servertest.Owner.String() + `","banUsername":"` + c.Token + `"}`,
	} {
		s.REST(t, c, "POST", moderatorsPath, body)
		s.REST(t, c, "POST", banPath, body)
	}
	for _, change := range []func(http.Header){
		func(h http.Header) { h.Set("client-id", c.Token) },
		func(h http.Header) { h.Set("acting-user", c.Token) },
		func(h http.Header) { h.Set("Authorization", c.Token) },
		func(h http.Header) { h.Set("Authorization", "Basic "+c.Token) },
		func(h http.Header) { h.Add("Authorization", "Bearer "+c.Token) },
		func(h http.Header) { h.Set("Grpc-Metadata-Authorization", "Bearer "+c.Token) },
		func(h http.Header) { h.Set("Cookie", c.Token) },
	} {
		r := s.Request(t, c, "GET", listOf(servertest.Owner), "")
		change(r.Header)
		s.Do(t, r)
	}
}
