package abuse_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestMalformedRequestsDoNotWidenScope sends requests that once returned more than they
// asked for.
func TestMalformedRequestsDoNotWidenScope(t *testing.T) {
	channel, raider := servertest.Owner.String(), servertest.Raider.String()
	each(t, func(t *testing.T, s *target) {
		owner := s.as(t, servertest.Owner)
		for _, c := range []struct {
			name, method, path, body string
			status                   int
			want                     string
		}{
			{"an indexed filter", "GET", "/v1/channels?slug[0]=nobody-has-this", "", http.StatusOK, `"count":0`},
			{"a misspelt filter", "GET", "/v1/channels?slugs[]=x", "", http.StatusBadRequest, "did you mean slug"},
			{"a misspelt channel", "GET", "/v1/moderation/log?channel_id=" + channel, "", http.StatusBadRequest, "did you mean channelId"},
			{"a number with a sign", "GET", "/v1/channels?limit=%2B5", "", http.StatusBadRequest, "limit"},
			{"a number with zeros", "GET", "/v1/channels?limit=007", "", http.StatusBadRequest, "limit"},
			{"a category out of range", "GET", "/v1/channels?categoryId=-9223372036854775797", "", http.StatusOK, `"count":0`},
			{"a ban with a duration", "POST", "/v1/moderation/ban", `{"channelId":"` + channel + `","banUserId":"` + raider + `","duration":60}`,
				http.StatusBadRequest, "duration"},
		} {
			if status, text := s.request(t, owner, c.method, c.path, c.body); status != c.status || !strings.Contains(text, c.want) {
				t.Errorf("%s: got %d, %.300s, want %d with %s", c.name, status, text, c.status, c.want)
			}
		}
	})
}

// TestBackendLimitsAndDeletedUsers has backends store objects that are too large, creates
// users with formerly generated names, and has a deleted moderator act.
func TestBackendLimitsAndDeletedUsers(t *testing.T) {
	each(t, func(t *testing.T, s *target) {
		conn, err := grpc.NewClient(s.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		service := s.token(t, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
		content, directory := platformv1.NewContentServiceClient(conn), platformv1.NewDirectoryServiceClient(conn)
		large, err := structpb.NewStruct(map[string]any{"userId": servertest.Raider.String(), "text": strings.Repeat("x", 9<<10)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = content.PutActivity(service.Context(), &platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{
			ChannelId: servertest.Owner.String(), Key: "large", Type: "gift", Info: large,
		}})
		if o := servertest.OutcomeOf(err); o.Reason != "INVALID_ARGUMENT" || !strings.Contains(strings.Join(o.Violations, " "), "info") {
			t.Errorf("a large object: got %+v", o)
		}

		moderator := servertest.Moderator.String()
		_, err = directory.PutUser(service.Context(), &platformv1.PutUserRequest{User: &platformv1.UserRecord{
			Id: servertest.Nobody.String(), Username: "deleted-" + strings.ReplaceAll(moderator, "-", ""),
		}})
		if err != nil {
			t.Error(err)
		}
		if _, err = directory.DeleteUser(service.Context(), &platformv1.DeleteUserRequest{UserId: moderator}); err != nil {
			t.Error(err)
		}
		acting := service
		acting.ActingUser = servertest.Moderator
		status, text := s.request(t, acting, "POST", "/v1/moderation/ban",
			`{"channelId":"`+servertest.Owner.String()+`","banUserId":"`+servertest.Raider.String()+`"}`)
		if status != http.StatusForbidden {
			t.Errorf("a deleted moderator: got %d, %s", status, text)
		}
	})
}

// TestEventStreamsPerUserAreLimited opens more streams than a user may have.
func TestEventStreamsPerUserAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *target) {
		owner := s.as(t, servertest.Owner)
		for range 2 {
			stream, err := s.listen(t.Context(), owner, "/v1/events")
			if err != nil || stream.StatusCode != http.StatusOK {
				t.Fatalf("got %v, %v", stream, err)
			}
			defer func() { _ = stream.Body.Close() }()
		}
		status, text := s.request(t, owner, "GET", "/v1/events", "")
		if status != http.StatusTooManyRequests || !strings.Contains(text, "STREAM_LIMIT_REACHED") {
			t.Errorf("a third stream: got %d, %s", status, text)
		}
	}, "--max-streams-per-user=2")
}
