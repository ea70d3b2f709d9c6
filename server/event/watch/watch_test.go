package watch_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestWatchDeliversBanEvents(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		w := watch(t, s, s.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{
			ChannelId: servertest.Owner.String(),
			// Not channel.unban: the unban of the previous transport may be sequenced only now.
			Type: []string{"channel.ban", "channel.chat.clear_user_messages"},
		})
		ban(t, s, servertest.Other, servertest.Raider) // another channel
		ban(t, s, servertest.Owner, servertest.Raider)
		defer unban(t, s, servertest.Owner, servertest.Raider)
		defer unban(t, s, servertest.Other, servertest.Raider)
		first, second := w.next(t), w.next(t)
		if first.kind() != "channel.ban" || second.kind() != "channel.chat.clear_user_messages" {
			t.Fatalf("got %s, %s, want the ban and the deletion of its messages", first.kind(), second.kind())
		}
		meta, payload := first.event["metadata"].(map[string]any), first.event["payload"].(map[string]any)
		for name, want := range map[string]any{"messageType": "notification", "subscriptionVersion": "1", "channelId": servertest.Owner.String()} {
			if meta[name] != want {
				t.Errorf("metadata.%s: got %v, want %v", name, meta[name], want)
			}
		}
		if len(meta) != 7 || meta["messageTimestamp"] != payload["bannedAt"] || meta["messageId"] == "" || meta["sequence"].(float64) < 1 {
			t.Errorf("got metadata %v", meta)
		}
		for name, want := range map[string]any{
			"channelId": servertest.Owner.String(), "moderatorId": servertest.Owner.String(), "clientId": servertest.Dashboard,
			"bannedUserId": servertest.Raider.String(), "bannedUserDisplayName": `Loot "Goblin" 77`,
		} {
			if payload[name] != want {
				t.Errorf("payload.%s: got %v, want %v", name, payload[name], want)
			}
		}
	})
}

func TestWatchResumesFromCursor(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		req := &moderatov1.WatchEventsRequest{Type: []string{"channel.ban", "channel.unban"}}
		owner := s.As(t, servertest.Owner)
		w := watch(t, s, owner, req)
		ban(t, s, servertest.Owner, servertest.Raider)
		first := w.next(t)
		w.stop()
		unban(t, s, servertest.Owner, servertest.Raider)
		ban(t, s, servertest.Owner, servertest.Viewer)
		req.Cursor = first.cursor
		w = watch(t, s, owner, req)
		unban(t, s, servertest.Owner, servertest.Viewer)
		for i, want := range []string{"channel.unban", "channel.ban", "channel.unban"} {
			if got := w.next(t); got.kind() != want {
				t.Fatalf("event %d after the cursor: got %s, want %s", i, got.kind(), want)
			}
		}
	})
}

func TestWatchAuthorization(t *testing.T) {
	t.Parallel()
	owner, other := servertest.Owner.String(), servertest.Other.String()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		acting := func(user uid.ID) servertest.Credentials {
			c := s.AsService(t)
			c.ActingUser = user
			return c
		}
		read := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
		for _, c := range []struct {
			name    string
			caller  servertest.Credentials
			channel string
			want    string // the channels whose events are delivered ("both", "owner" or ""), or the error
		}{
			{"the owner with a channel", s.As(t, servertest.Owner), owner, "owner"},
			{"the owner without a channel", s.As(t, servertest.Owner), "", "owner"},
			{"a moderator without a channel", s.As(t, servertest.Moderator), "", "both"},
			{"a moderator with a channel", s.As(t, servertest.Moderator), owner, "owner"},
			{"a viewer with a channel", s.As(t, servertest.Viewer), owner, "NOT_CHANNEL_MODERATOR"},
			{"a viewer with a channel of their own id that does not exist", s.As(t, servertest.Viewer), servertest.Viewer.String(), "CHANNEL_NOT_FOUND"},
			{"a viewer without a channel", s.As(t, servertest.Viewer), "", ""},
			{"another owner", s.As(t, servertest.Other), owner, "NOT_CHANNEL_MODERATOR"},
			{"a moderator with an unknown channel", s.As(t, servertest.Moderator), servertest.Nobody.String(), "NOT_CHANNEL_MODERATOR"},
			{"an app", s.AsApp(t), owner, "TOKEN_KIND_NOT_ACCEPTED"},
			{"a user without the scope", read, owner, "SCOPE_MISSING"},
			{"a backend without a channel", s.AsService(t), "", "both"},
			{"a backend with a channel", s.AsService(t), owner, "owner"},
			{"a backend with an unknown channel", s.AsService(t), servertest.Nobody.String(), "CHANNEL_NOT_FOUND"},
			{"a backend acting for another owner", acting(servertest.Other), owner, "NOT_CHANNEL_MODERATOR"},
			{"a backend acting for the owner", acting(servertest.Owner), "", "owner"},
			{"no token", servertest.Credentials{}, owner, "TOKEN_MISSING"},
		} {
			for name, watch := range transports {
				w := watch(t, s, c.caller, &moderatov1.WatchEventsRequest{ChannelId: c.channel, Type: []string{"channel.ban"}})
				want := map[string][]string{"both": {owner, other}, "owner": {owner}, "": {}}[c.want]
				if want == nil {
					if got := w.next(t); got.reason != c.want {
						t.Errorf("%s, %s: got %s, want %s", c.name, name, got.kind(), c.want)
					}
					continue
				}
				ban(t, s, servertest.Other, servertest.Raider)
				ban(t, s, servertest.Owner, servertest.Raider)
				var channels []string // sorted below, because both bans may have the same time
				for range want {
					if got := w.next(t); got.event != nil {
						channels = append(channels, got.event["payload"].(map[string]any)["channelId"].(string))
					}
				}
				if slices.Sort(channels); !slices.Equal(channels, want) {
					t.Errorf("%s, %s: got bans in %v, want %v", c.name, name, channels, want)
				}
				w.stop()
				unban(t, s, servertest.Other, servertest.Raider)
				unban(t, s, servertest.Owner, servertest.Raider)
			}
		}
	})
}

// TestStreamEndsWhenRightEnds ends each right while a stream is open. It checks that the
// stream ends within 2 s, with the right reason.
func TestStreamEndsWhenRightEnds(t *testing.T) {
	t.Parallel()
	owner := servertest.Owner.String()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, c := range []struct {
			name    string
			end     func(t *testing.T, caller servertest.Credentials)
			restore func(t *testing.T)
			want    string
		}{
			{"role removed", func(t *testing.T, _ servertest.Credentials) {
				moderators(t, s, http.MethodDelete)
			}, func(t *testing.T) { moderators(t, s, http.MethodPost) }, "NOT_CHANNEL_MODERATOR"},
			{"moderator banned", func(t *testing.T, _ servertest.Credentials) {
				ban(t, s, servertest.Owner, servertest.Moderator)
			}, func(t *testing.T) { unban(t, s, servertest.Owner, servertest.Moderator) }, "NOT_CHANNEL_MODERATOR"},
			{"token revoked", func(t *testing.T, caller servertest.Credentials) {
				if _, err := authn.Revoke(context.Background(), s.Store, caller.Token, nil); err != nil {
					t.Fatal(err)
				}
			}, func(*testing.T) {}, "TOKEN_INVALID"},
			{"token expired", func(*testing.T, servertest.Credentials) {
				s.Store.Clock.Advance(400 * 24 * time.Hour)
			}, func(*testing.T) {}, "TOKEN_EXPIRED"},
		} {
			for name, watch := range transports {
				caller := s.As(t, servertest.Moderator)
				w := watch(t, s, caller, &moderatov1.WatchEventsRequest{ChannelId: owner, Type: []string{"channel.vip.add"}})
				ended := time.Now()
				c.end(t, caller)
				got := w.next(t)
				if took := time.Since(ended); got.reason != c.want || took > 2*time.Second+servertest.Slack {
					t.Errorf("%s, %s: the stream ended with %s after %s, want %s within 2 s", c.name, name, got.reason, took, c.want)
				}
				c.restore(t)
			}
		}
	})
}

// TestStreamEndsWhenChannelIsDeleted deletes the channel that a backend watches.
func TestStreamEndsWhenChannelIsDeleted(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var streams []watcher
		for _, watch := range transports {
			streams = append(streams, watch(t, s, s.AsService(t), &moderatov1.WatchEventsRequest{ChannelId: servertest.Other.String()}))
		}
		_, err := platformv1.NewDirectoryServiceClient(s.Conn).DeleteChannel(s.AsService(t).Context(),
			&platformv1.DeleteChannelRequest{ChannelId: servertest.Other.String()})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range streams {
			if got := w.next(t); got.reason != "CHANNEL_NOT_FOUND" {
				t.Errorf("the stream ended with %s, want CHANNEL_NOT_FOUND", got.kind())
			}
		}
	})
}

// moderators makes Moderator a moderator of the owner's channel with POST, and removes the
// role with DELETE.
func moderators(t *testing.T, s *servertest.Server, method string) {
	t.Helper()
	body := fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Moderator)
	if r := s.REST(t, s.As(t, servertest.Owner), method, "/v1/moderation/moderators", body); r.Status != http.StatusOK {
		t.Fatal(r.Body)
	}
}

func TestWatchRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		foreign, err := s.Store.Cursors.Seal(t.Context(), "ListMessages", 1)
		if err != nil {
			t.Fatal(err)
		}
		future := servertest.EventCursor(t, s.Store, 1_000_000)
		forged := base64.RawURLEncoding.EncodeToString(append(make([]byte, 18), "0               "...))
		for name, watch := range transports {
			for _, c := range []struct {
				req  *moderatov1.WatchEventsRequest
				want string
			}{
				{&moderatov1.WatchEventsRequest{ChannelId: "x"}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Type: []string{"channel.ban", "channel.bans"}}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Type: strings.Split(strings.Repeat("channel.ban,", 100)+"channel.ban", ",")}, "INVALID_ARGUMENT"},
				{&moderatov1.WatchEventsRequest{Cursor: "x"}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: foreign}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: future}, "CURSOR_INVALID"},
				{&moderatov1.WatchEventsRequest{Cursor: forged}, "CURSOR_INVALID"},
			} {
				if got := watch(t, s, s.As(t, servertest.Owner), c.req).next(t); got.reason != c.want {
					t.Errorf("%s: %v: got %s, want %s", name, c.req, got.kind(), c.want)
				}
			}
		}
	})
}

func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		for name, watch := range transports {
			s := servertest.Start(t, servertest.Config(url))
			s.Load(t, servertest.World()...)
			w := watch(t, s, s.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{})
			began := time.Now()
			s.Stop(t)
			if got := w.next(t); got.reason != "UNAVAILABLE" && name == "SSE" {
				t.Errorf("%s: the stream ended with %s, want UNAVAILABLE", name, got.reason)
			}
			if took := time.Since(began); took > 5*time.Second+servertest.Slack {
				t.Errorf("%s: the server took %s to stop, want at most 5 s", name, took)
			}
		}
	})
}

// TestWatchDeliversEventsOfOtherServers runs two servers on one database.
func TestWatchDeliversEventsOfOtherServers(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		a, b := servertest.Start(t, servertest.Config(url)), servertest.Start(t, servertest.Config(url))
		a.Load(t, servertest.World()...)
		for name, watch := range transports {
			w := watch(t, b, b.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{Type: []string{"channel.ban"}})
			ban(t, a, servertest.Owner, servertest.Raider)
			if got := w.next(t); got.kind() != "channel.ban" || got.cursor == "" {
				t.Errorf("%s: got %s, want the ban", name, got.kind())
			}
			unban(t, a, servertest.Owner, servertest.Raider)
		}
	})
}
