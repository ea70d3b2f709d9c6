package socketio_test

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/live/livetest"
	"github.com/moderato-live/moderato/server/event/socketio/socketiotest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestSessionReceivesItsEvents(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		got, o := subscribe(t, s, s.As(t, servertest.Moderator), c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		if got.GetType() != "channel.ban" || got.GetVersion() != "1" || got.GetSessionId() != c.Session || got.GetCreatedAt() == nil ||
			got.GetCondition().GetChannelId() != servertest.Owner.String() {
			t.Errorf("the subscription is %v", got)
		}
		for _, user := range []uid.ID{servertest.Raider, servertest.Viewer} {
			ban(t, s, user)
		}
		var before int64
		for _, user := range []uid.ID{servertest.Raider, servertest.Viewer} {
			m := c.Next(t)
			if m.Metadata.MessageType != "notification" || m.Metadata.SubscriptionType != "channel.ban" || m.Payload["bannedUserId"] != user.String() {
				t.Errorf("got %s, want the ban of %s", m.Raw, user)
			}
			at := servertest.EventPosition(t, s.Store, m.Metadata.Cursor)
			if at <= before {
				t.Errorf("the cursor of the event is not after that of the event before: %s", m.Raw)
			}
			before = at
		}
	})
}

func TestSessionReceivesChatWithoutCursor(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		_, o := subscribe(t, s, s.As(t, servertest.Viewer), c.Session, "channel.chat.message", servertest.Owner)
		must(t, o)
		poster := s.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Raider, Scopes: []string{authn.UsersBot}})
		for { // the delivery begins shortly after the response
			_, err := moderatov1.NewChatServiceClient(s.Conn).PostMessage(poster.Context(), &moderatov1.PostMessageRequest{ChannelId: servertest.Owner.String(), Message: "hello"})
			must(t, servertest.OutcomeOf(err))
			select {
			case m := <-c.Messages:
				if m.Metadata.SubscriptionType != "channel.chat.message" || m.Payload["message"] != "hello" || m.Metadata.Cursor != "" {
					t.Errorf("got %s", m.Raw)
				}
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
}

// TestSessionsOfModeratorsReceiveLiveEvents subscribes a moderator and a viewer to an event for
// moderators, which happens on another server.
func TestSessionsOfModeratorsReceiveLiveEvents(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		elsewhere, c := livetest.Elsewhere(t, s.Store), connect(t, s)
		_, o := subscribe(t, s, s.As(t, servertest.Moderator), c.Session, "channel.chat.flag", servertest.Owner)
		must(t, o)
		_, o = subscribe(t, s, s.As(t, servertest.Viewer), connect(t, s).Session, "channel.chat.flag", servertest.Owner)
		if o.Reason != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("a viewer: got %+v", o)
		}
		now := storetest.Must(s.Store.Clock.Now(t.Context(), s.Store.Read))
		for late := time.After(patience); ; { // the delivery begins shortly after the response
			elsewhere.Post(live.New("channel.chat.flag", servertest.Owner, now, &moderatov1.ChatFlagEvent{Message: "buy"}))
			select {
			case m := <-c.Messages:
				if m.Metadata.SubscriptionType != "channel.chat.flag" || m.Payload["message"] != "buy" || m.Metadata.Cursor != "" {
					t.Errorf("got %s", m.Raw)
				}
				return
			case <-late:
				t.Fatal("nothing arrives")
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
}

func TestSubscriptionIsRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		moderator := s.As(t, servertest.Moderator)
		first, o := subscribe(t, s, moderator, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		again, o := subscribe(t, s, moderator, strings.ToUpper(c.Session), "channel.ban", servertest.Owner)
		must(t, o)
		if again.GetId() != first.GetId() {
			t.Errorf("the repeated call returned another subscription: %v", again)
		}
		for _, test := range []struct {
			name    string
			as      servertest.Credentials
			session string
			kind    string
			channel uid.ID
			want    string
		}{
			{"another user", s.As(t, servertest.Viewer), c.Session, "stream.online", servertest.Owner, "AUTH_CONTEXT_MISMATCH"},
			{"an app", s.AsApp(t), c.Session, "stream.online", servertest.Owner, "AUTH_CONTEXT_MISMATCH"},
			{"an unknown session", moderator, uid.New().String(), "channel.ban", servertest.Owner, "SESSION_NOT_FOUND"},
			{"an unknown type", moderator, c.Session, "channel.boom", servertest.Owner, "INVALID_ARGUMENT"},
			{"an unknown channel", moderator, c.Session, "stream.online", servertest.Nobody, "CHANNEL_NOT_FOUND"},
			{"a type that the user may not receive", s.As(t, servertest.Viewer), connect(t, s).Session, "channel.ban", servertest.Owner, "NOT_CHANNEL_MODERATOR"},
		} {
			if _, got := subscribe(t, s, test.as, test.session, test.kind, test.channel); got.Reason != test.want {
				t.Errorf("%s: got %+v, want %s", test.name, got, test.want)
			}
		}
		for body, want := range map[string]string{
			`{}`: `type is required`,
			`{"type":"channel.ban","version":"2","condition":{"channelId":"` + servertest.Owner.String() + `"},"sessionId":"` + c.Session + `"}`: `version must be one of 1`,
			`{"type":"channel.ban","version":"1","sessionId":"` + c.Session + `"}`:                                                               `condition is required`,
			`{"type":"channel.ban","version":"1","condition":{"channelId":"x"},"sessionId":"` + c.Session + `"}`:                                 `condition.channelId must be a UUID`,
		} {
			if r := s.REST(t, moderator, http.MethodPost, "/v1/events/subscriptions", body); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, want) {
				t.Errorf("%s: got %d %s, want %q", body, r.Status, r.Body, want)
			}
		}
	})
}

// TestConditionUserMakesNoSecondSubscription subscribes for several users, and receives each
// event once.
func TestConditionUserMakesNoSecondSubscription(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c, owner := connect(t, s), s.As(t, servertest.Owner)
		var first string
		for _, user := range []string{"", servertest.Viewer.String(), uid.New().String()} {
			got, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).CreateSubscription(owner.Context(), &moderatov1.CreateSubscriptionRequest{
				Type: "channel.ban", Version: "1", SessionId: c.Session,
				Condition: &moderatov1.SubscriptionCondition{ChannelId: servertest.Owner.String(), UserId: user},
			})
			must(t, servertest.OutcomeOf(err))
			if first = cmp.Or(first, got.GetId()); got.GetId() != first || got.GetCondition().GetUserId() != "" {
				t.Errorf("for the user %q: got %v, want the subscription %s", user, got, first)
			}
		}
		for _, user := range []uid.ID{servertest.Raider, servertest.Viewer} {
			ban(t, s, user)
			if m := c.Next(t); m.Payload["bannedUserId"] != user.String() {
				t.Errorf("got %s, want the ban of %s", m.Raw, user)
			}
		}
	})
}

// TestSessionCountsAsStream has a stream and a session with two subscriptions, which together
// reach the limit.
func TestSessionCountsAsStream(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.Streams = watch.StreamLimits{PerUser: 2}
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	owner := s.As(t, servertest.Owner)
	watchEvents := func() (end func(), outcome servertest.Outcome) {
		ctx, cancel := context.WithCancel(owner.Context())
		stream, err := moderatov1.NewEventsServiceClient(s.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		return cancel, servertest.OutcomeOf(err)
	}
	subscribed, ids := connect(t, s), []string(nil)
	for _, kind := range []string{"channel.ban", "channel.unban"} {
		got, o := subscribe(t, s, owner, subscribed.Session, kind, servertest.Owner)
		must(t, o)
		ids = append(ids, got.GetId())
	}
	ban(t, s, servertest.Raider)
	unban(t, s, servertest.Raider)
	for range ids { // the deliveries have begun
		subscribed.Next(t)
	}
	end, o := watchEvents()
	defer end()
	must(t, o)
	if _, o := watchEvents(); o.Reason != "STREAM_LIMIT_REACHED" {
		t.Errorf("a third stream: got %+v", o)
	}
	refused := connect(t, s)
	_, o = subscribe(t, s, owner, refused.Session, "channel.ban", servertest.Owner)
	must(t, o)
	if m := refused.Next(t); m.Metadata.MessageType != "revocation" || m.Payload["reason"] != "STREAM_LIMIT_REACHED" {
		t.Errorf("a second session beside a stream: got %s", m.Raw)
	}
	if _, o := subscribe(t, s, owner, connect(t, s).Session, "channel.ban", servertest.Owner); o.Reason != "STREAM_LIMIT_REACHED" {
		t.Errorf("a third session: got %+v", o)
	}
	for _, id := range ids {
		_, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).DeleteSubscription(owner.Context(), &moderatov1.DeleteSubscriptionRequest{Id: id})
		must(t, servertest.OutcomeOf(err))
	}
	_, o = watchEvents()
	must(t, o)
}

func TestSubscriptionsAreListedAndEnded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		client := moderatov1.NewEventSubscriptionsServiceClient(s.Conn)
		moderator, viewer := s.As(t, servertest.Moderator), s.As(t, servertest.Viewer)
		c := connect(t, s)
		bans, o := subscribe(t, s, moderator, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		updates, o := subscribe(t, s, moderator, c.Session, "channel.unban", servertest.Owner)
		must(t, o)
		list := func(as servertest.Credentials) (ids []string) {
			limit, cursor := int32(1), ""
			for {
				page, err := client.ListSubscriptions(as.Context(), &moderatov1.ListSubscriptionsRequest{Limit: &limit, Cursor: cursor})
				must(t, servertest.OutcomeOf(err))
				for _, row := range page.GetRows() {
					ids = append(ids, row.GetId())
				}
				if cursor = page.GetPagination().GetCursor(); cursor == "" {
					return ids
				}
			}
		}
		if got := list(moderator); len(got) != 2 || got[0] != bans.GetId() || got[1] != updates.GetId() {
			t.Errorf("the list is %v", got)
		}
		if got := list(viewer); len(got) != 0 {
			t.Errorf("another user sees %v", got)
		}
		end := func(as servertest.Credentials, id string) string {
			_, err := client.DeleteSubscription(as.Context(), &moderatov1.DeleteSubscriptionRequest{Id: id})
			return servertest.OutcomeOf(err).Reason
		}
		for _, step := range []struct {
			as   servertest.Credentials
			want string
		}{{viewer, "SUBSCRIPTION_NOT_FOUND"}, {moderator, "OK"}, {moderator, "SUBSCRIPTION_NOT_FOUND"}} {
			if got := end(step.as, bans.GetId()); got != step.want {
				t.Errorf("got %s, want %s", got, step.want)
			}
		}
		ban(t, s, servertest.Raider)
		_, err := s.Moderation.RemoveBan(s.As(t, servertest.Owner).Context(), &moderatov1.RemoveBanRequest{ChannelId: servertest.Owner.String(), BanUserId: servertest.Raider.String()})
		must(t, servertest.OutcomeOf(err))
		if m := c.Next(t); m.Metadata.SubscriptionType != "channel.unban" {
			t.Errorf("got %s, want the event of the other subscription", m.Raw)
		}
	})
}

// TestLostRightRevokesSubscription removes a moderator, and revokes the token of another
// session.
func TestLostRightRevokesSubscription(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		owner, moderator := s.As(t, servertest.Owner), s.As(t, servertest.Moderator)
		byRight, byToken := connect(t, s), connect(t, s)
		lost, o := subscribe(t, s, moderator, byRight.Session, "channel.ban", servertest.Owner)
		must(t, o)
		_, o = subscribe(t, s, moderator, byRight.Session, "stream.online", servertest.Owner)
		must(t, o)
		other := s.Token(t, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Scopes: []string{authn.UsersRead}})
		_, o = subscribe(t, s, other, byToken.Session, "stream.online", servertest.Owner)
		must(t, o)
		_, err := s.Moderation.RemoveModerator(owner.Context(), &moderatov1.RemoveModeratorRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Moderator.String()})
		must(t, servertest.OutcomeOf(err))
		_, err = s.Access.RevokeToken(s.AsService(t).Context(), &platformv1.RevokeTokenRequest{Token: other.Token})
		must(t, servertest.OutcomeOf(err))
		for _, want := range []struct {
			c      *socketiotest.Client
			reason string
		}{{byRight, "NOT_CHANNEL_MODERATOR"}, {byToken, "TOKEN_INVALID"}} {
			if m := want.c.Next(t); m.Metadata.MessageType != "revocation" || m.Payload["reason"] != want.reason {
				t.Errorf("got %s, want a revocation for %s", m.Raw, want.reason)
			}
		}
		page, err := moderatov1.NewEventSubscriptionsServiceClient(s.Conn).ListSubscriptions(moderator.Context(), &moderatov1.ListSubscriptionsRequest{})
		if err != nil || len(page.GetRows()) != 1 || page.GetRows()[0].GetId() == lost.GetId() {
			t.Errorf("the subscriptions are %v, %v; want the one that needs no right", page.GetRows(), err)
		}
	})
}

// TestNewerTokenKeepsSubscription subscribes again with another token of the same user, and
// then ends the first token.
func TestNewerTokenKeepsSubscription(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	first, second := s.As(t, servertest.Owner), s.As(t, servertest.Owner)
	c := connect(t, s)
	for _, as := range []servertest.Credentials{first, second} {
		_, o := subscribe(t, s, as, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
	}
	_, err := s.Access.RevokeToken(s.AsService(t).Context(), &platformv1.RevokeTokenRequest{Token: first.Token})
	must(t, servertest.OutcomeOf(err))
	time.Sleep(3 * time.Second) // a token that ends is noticed within 2 s
	ban(t, s, servertest.Raider)
	if m := c.Next(t); m.Metadata.MessageType != "notification" {
		t.Errorf("got %s, want the ban", m.Raw)
	}
}

// TestSubscriptionThroughAnotherServer has the session on one server, and its subscription
// created and ended through another.
func TestSubscriptionThroughAnotherServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		one := servertest.Start(t, servertest.Config(url))
		one.Load(t, servertest.World()...)
		two := servertest.Start(t, servertest.Config(url))
		c, owner := connect(t, one), two.As(t, servertest.Owner)
		got, o := subscribe(t, two, owner, c.Session, "channel.ban", servertest.Owner)
		must(t, o)
		ban(t, two, servertest.Raider) // the server of the session may not know the subscription yet
		if m := c.Next(t); m.Metadata.SubscriptionType != "channel.ban" {
			t.Errorf("got %s", m.Raw)
		}
		client := moderatov1.NewEventSubscriptionsServiceClient(two.Conn)
		_, err := client.DeleteSubscription(owner.Context(), &moderatov1.DeleteSubscriptionRequest{Id: got.GetId()})
		must(t, servertest.OutcomeOf(err))
		for until := time.Now().Add(patience); strings.Contains(one.Metrics(t), "moderato_socketio_subscriptions 1"); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("the subscription did not end")
			}
		}
	})
}
