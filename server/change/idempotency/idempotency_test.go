package idempotency_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

// wantAnswer checks the reason of an answer, and whether it is a replay.
func wantAnswer(t *testing.T, what string, got answer, reason string, isReplay bool) {
	t.Helper()
	if got.reason != reason || got.isReplay != isReplay {
		t.Errorf("%s: got %s, replayed is %t; want %s and %t", what, got.reason, got.isReplay, reason, isReplay)
	}
}

func TestKeyIsBoundToClientUserAndOperation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		first := mute(t, s, servertest.Raider)
		wantAnswer(t, "the first", first.overREST(t, s), "OK", false)
		by := func(caller servertest.Credentials) change { c := first; c.caller = caller; return c }
		acting := func(user uid.ID) servertest.Credentials { c := s.AsService(t); c.ActingUser = user; return c }
		otherClient := s.Token(t, authn.NewToken{
			Kind: authn.User, ClientID: servertest.OtherDashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour,
		})
		wantAnswer(t, "another token", by(s.As(t, servertest.Owner)).overREST(t, s), "OK", true)
		wantAnswer(t, "another user", by(s.As(t, servertest.Moderator)).overREST(t, s), "MUTE_ACTIVE", false)
		wantAnswer(t, "another client", by(otherClient).overREST(t, s), "MUTE_ACTIVE", false)

		ofViewer := mute(t, s, servertest.Viewer)
		ofViewer.key, ofViewer.caller = first.key, acting(servertest.Owner)
		wantAnswer(t, "a backend that acts for the owner", ofViewer.overGRPC(t, s), "OK", false)
		wantAnswer(t, "the same", ofViewer.overGRPC(t, s), "OK", true)
		ofViewer.caller = acting(servertest.Moderator)
		wantAnswer(t, "another acting user", ofViewer.overGRPC(t, s), "MUTE_ACTIVE", false)

		otherOperation := ban(t, s, servertest.Raider)
		otherOperation.key = first.key
		wantAnswer(t, "another operation", otherOperation.overREST(t, s), "OK", false)
	})
}

func TestOtherArgumentsAreRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		first := mute(t, s, servertest.Raider)
		wantAnswer(t, "the first", first.overREST(t, s), "OK", false)
		other := mute(t, s, servertest.Viewer)
		other.key = first.key
		got := other.overREST(t, s)
		wantAnswer(t, "with another user", got, "IDEMPOTENCY_KEY_REUSED", false)
		if got.rest.Status != http.StatusUnprocessableEntity {
			t.Errorf("got the status %d, want 422", got.rest.Status)
		}
		if n := count(t, s, "mutes"); n != 1 {
			t.Errorf("%d users are muted, want 1", n)
		}
	})
}

func TestRefusalIsNotKept(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		wantAnswer(t, "a mute", mute(t, s, servertest.Raider).overREST(t, s), "OK", false)
		refused := mute(t, s, servertest.Raider)
		for range 2 {
			wantAnswer(t, "a second mute", refused.overREST(t, s), "MUTE_ACTIVE", false)
		}
		if n := count(t, s, "idempotency_keys"); n != 1 {
			t.Errorf("%d keys are stored, want 1", n)
		}
		ofViewer := mute(t, s, servertest.Viewer)
		ofViewer.key = refused.key
		wantAnswer(t, "the same key with other arguments", ofViewer.overREST(t, s), "OK", false)
	})
}

func TestKeyExpires(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(t.Context(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Clock.Freeze(now)
		first := mute(t, s, servertest.Raider)
		before := first.overREST(t, s)
		s.Store.Clock.Freeze(now.Add(idempotency.Lifetime - time.Millisecond))
		wantAnswer(t, "a millisecond before the end", first.overREST(t, s), "OK", true)
		s.Store.Clock.Freeze(now.Add(idempotency.Lifetime))
		after := first.overREST(t, s)
		wantAnswer(t, "at the end", after, "OK", false)
		if after.rest.Body == before.rest.Body {
			t.Errorf("the mute did not begin anew: %s", after.rest.Body)
		}
		wantAnswer(t, "and its repeat", first.overREST(t, s), "OK", true)
		s.Store.Clock.Freeze(now.Add(2*idempotency.Lifetime + time.Millisecond))
		if _, err := idempotency.Tables[0].Expire(tables.Env{Store: s.Store}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "idempotency_keys"); n != 0 {
			t.Errorf("%d expired keys are stored", n)
		}
	})
}

func TestUnusableKeyIsRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner := s.As(t, servertest.Owner)
		body := fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Raider)
		send := func(caller servertest.Credentials, keys ...string) servertest.Response {
			r := s.Request(t, caller, http.MethodPost, mutePath, body)
			r.Header["Idempotency-Key"] = keys
			return s.Do(t, r)
		}
		const invisible = "must consist of visible ASCII characters, without spaces; character "
		for _, c := range []struct {
			description string
			keys        []string
		}{
			{"must not be empty", []string{""}},
			{"has 256 characters, but must have at most 255", []string{strings.Repeat("k", 256)}},
			{invisible + "2 is another one", []string{"a b"}},
			{invisible + "1 is another one", []string{"é"}},
			{invisible + "3 is another one", []string{"ab\tc"}},
			{"must be given once, but is given 2 times", []string{"a", "a"}},
			{"must be given once, but is given 2 times", []string{"a", "b"}},
		} {
			got := send(owner, c.keys...)
			want := `"field":"idempotency-key","description":"` + c.description + `"`
			if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, want) {
				t.Errorf("%q: got %d %s, want %s", c.keys, got.Status, got.Body, want)
			}
		}
		for _, key := range []string{"", "a b", strings.Repeat("k", 256)} {
			c := mute(t, s, servertest.Raider)
			c.key = key
			got := c.overGRPC(t, s)
			if got.reason != "INVALID_ARGUMENT" || !strings.Contains(got.err.Error(), "idempotency-key ") {
				t.Errorf("%q over gRPC: got %v", key, got.err)
			}
		}
		if n := count(t, s, "mutes"); n != 0 {
			t.Errorf("%d users are muted", n)
		}
		reader := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
		if got := servertest.ReasonOf(t, send(reader, "")); got != "SCOPE_MISSING" {
			t.Errorf("without the scope: got %s", got)
		}
		read := s.Request(t, owner, http.MethodGet, "/v1/moderation/moderators?channelId="+servertest.Owner.String(), "")
		read.Header["Idempotency-Key"] = []string{""}
		if got := s.Do(t, read); got.Status != http.StatusOK {
			t.Errorf("a read, which has no use for a key: got %d %s", got.Status, got.Body)
		}
		if got := send(owner, "!~"+strings.Repeat("k", 253)); got.Status != http.StatusOK {
			t.Errorf("the longest key: got %d %s", got.Status, got.Body)
		}
	})
}

// TestDryRunsStoreNothing repeats dry runs with their keys. Their responses may be large, and
// nothing was changed.
func TestDryRunsStoreNothing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner, channel := s.As(t, servertest.Owner), servertest.Owner.String()
		for method, request := range map[string]proto.Message{
			moderatov1.ModerationService_BanUsers_FullMethodName: &moderatov1.BanUsersRequest{
				ChannelId: channel, Users: []*moderatov1.BatchTarget{{UserId: servertest.Raider.String()}}, DryRun: true,
			},
			moderatov1.ModerationService_RevertModerator_FullMethodName: &moderatov1.RevertModeratorRequest{
				ChannelId: channel, ModeratorId: servertest.Moderator.String(), Since: timestamppb.New(time.Unix(0, 0)), DryRun: true,
			},
		} {
			c := changeOf(t, owner, method, request)
			for range 2 {
				wantAnswer(t, method, c.overREST(t, s), "OK", false)
			}
		}
		if n := count(t, s, "idempotency_keys"); n != 0 {
			t.Errorf("%d responses are stored", n)
		}
	})
}

// TestNothingIsReadableInDatabase looks for a token and an idempotency key in every row.
func TestNothingIsReadableInDatabase(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		issue := changeOf(t, s.AsService(t), platformv1.AccessService_IssueToken_FullMethodName, &platformv1.IssueTokenRequest{
			Kind: platformv1.TokenKind_TOKEN_KIND_APP, ClientId: servertest.Dashboard, Scopes: []string{authn.UsersRead},
		})
		first := issue.overGRPC(t, s)
		wantAnswer(t, "IssueToken", first, "OK", false)
		again := issue.overGRPC(t, s)
		wantAnswer(t, "the repeat", again, "OK", true)
		if diff := cmp.Diff(first.message, again.message, protocmp.Transform()); diff != "" {
			t.Errorf("the repeat has another token (-first +repeat):\n%s", diff)
		}
		token := first.message.(*platformv1.IssueTokenResponse).GetToken()
		for _, row := range servertest.Rows(t, s.Store) {
			for i, value := range row.Values {
				for _, secret := range []string{token, issue.key} {
					if bytes.Contains(value, []byte(secret)) {
						t.Errorf("%s.%s has %s", row.Table, row.Columns[i], secret)
					}
				}
			}
		}
	})
}
