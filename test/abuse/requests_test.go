package abuse_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestManyInvalidElementsHaveBoundedError sends requests with thousands of unknown types.
// The responses and the log lines must be small, and list few violations.
func TestManyInvalidElementsHaveBoundedError(t *testing.T) {
	const n, maxAnswer, maxLogged, maxViolations = 15_000, 32 << 10, 4 << 10, 100
	each(t, func(t *testing.T, s *target) {
		c := s.as(t, servertest.Owner)
		types := make([]string, n)
		for i := range types {
			types[i] = "x" // so that the body stays below its limit
		}
		body, err := json.Marshal(map[string]any{"url": "https://hooks.example.com/", "type": types})
		if err != nil {
			t.Fatal(err)
		}
		check := func(name string, violations, size int) {
			if violations < 1 || violations > maxViolations || size > maxAnswer {
				t.Errorf("%s: got %d violations in %d bytes, want at most %d in %d", name, violations, size, maxViolations, maxAnswer)
			}
		}
		for name, r := range map[string]struct{ method, path, body string }{
			"webhook":        {"POST", "/v1/webhooks", string(body)},
			"log over REST":  {"GET", "/v1/moderation/log?channelId=" + servertest.Owner.String() + strings.Repeat("&type=x", n/10), ""},
			"events in REST": {"GET", "/v1/events?channelId=" + servertest.Owner.String() + strings.Repeat("&type=x", n/10), ""},
		} {
			status, text := s.request(t, c, r.method, r.path, r.body)
			if status != http.StatusBadRequest || !json.Valid([]byte(text)) {
				t.Errorf("%s: got %d, %.200s", name, status, text)
			}
			check(name, strings.Count(text, `"field"`), len(text))
		}
		conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		ctx := c.Context()
		for name, call := range map[string]func() error{
			"webhook over gRPC": func() error {
				_, err := moderatov1.NewWebhooksServiceClient(conn).CreateWebhook(ctx, &moderatov1.CreateWebhookRequest{Type: types, Url: "https://hooks.example.com/"})
				return err
			},
			"log over gRPC": func() error {
				_, err := moderatov1.NewModerationServiceClient(conn).ListLog(ctx, &moderatov1.ListLogRequest{Type: types, ChannelId: servertest.Owner.String()})
				return err
			},
			"log of live types over gRPC": func() error {
				live := slices.Repeat([]string{"channel.chat.message"}, n)
				_, err := moderatov1.NewModerationServiceClient(conn).ListLog(ctx, &moderatov1.ListLogRequest{Type: live, ChannelId: servertest.Owner.String()})
				if e := apierrtest.Of(err); len(e.Violations) != 1 {
					t.Errorf("got %d violations, want only that the list is too long", len(e.Violations))
				}
				return err
			},
			"events over gRPC": func() error {
				stream, err := moderatov1.NewEventsServiceClient(conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{Type: types, ChannelId: servertest.Owner.String()})
				if err == nil {
					_, err = stream.Recv()
				}
				return err
			},
		} {
			err := call()
			check(name, len(apierrtest.Of(err).Violations), proto.Size(status.Convert(err).Proto()))
		}
		for line := range strings.Lines(s.Log()) {
			if len(line) > maxLogged {
				t.Errorf("a line of the log has %d bytes, want at most %d: %.200s", len(line), maxLogged, line)
			}
		}
	})
}

// request makes a call over REST.
func (s *target) request(t *testing.T, c servertest.Credentials, method, path, body string) (status int, text string) {
	t.Helper()
	status, text, _ = s.answer(t, c, method, path, body)
	return status, text
}

// answer makes a call over REST, and also returns the header of the response.
func (s *target) answer(t *testing.T, c servertest.Credentials, method, path, body string) (status int, text string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.REST+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	if !c.ActingUser.IsZero() {
		r.Header.Set(authn.ActingUserKey, c.ActingUser.String())
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer), response.Header
}
