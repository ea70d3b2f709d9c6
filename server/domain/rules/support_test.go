package rules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const settingsPath = "/v1/chats/settings"

// room is the chat of Owner's channel.
type room struct {
	*servertest.Server
	t *testing.T

	owner, moderator, service servertest.Credentials
}

func newRoom(t *testing.T, s *servertest.Server) *room {
	t.Helper()
	return &room{s, t, s.As(t, servertest.Owner), s.As(t, servertest.Moderator), s.AsService(t)}
}

// open starts a server, and returns its room.
func open(t *testing.T, config server.Config) *room {
	t.Helper()
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return newRoom(t, s)
}

// each runs a test in a room on every kind of store. The clock is frozen.
func each(t *testing.T, test func(r *room, now instant.Instant)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		r := open(t, servertest.Config(url))
		test(r, r.freeze())
	})
}

// eachPair runs a test in a room with two servers on every kind of store.
func eachPair(t *testing.T, test func(rooms []*room)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		test([]*room{open(t, servertest.Config(url)), newRoom(t, servertest.Start(t, servertest.Config(url)))})
	})
}

// freeze stops the clock of the server.
func (r *room) freeze() instant.Instant {
	now := storetest.Must(r.Store.Clock.Now(r.t.Context(), r.Store.Read))
	r.Store.Clock.Freeze(now)
	return now
}

// body is the body of a response with settings or an error.
type body struct {
	Message string
	Data    struct {
		Code        string
		Violations  []struct{ Field, Description string }
		Restriction string
		RetryAt     *string
		Version     int64

		SlowSeconds, FollowersOnlySeconds int64
		HoldSeconds                       int64
		OnHoldExpiry, FirstMessage        string
		ExemptRoles                       []string
		ShieldActive                      bool
		Own                               *struct {
			SlowSeconds, FollowersOnlySeconds, HoldSeconds int64
			ExemptRoles                                    []string
		}
		Timed []struct{ Setting, EndsAt string }
	}
}

func (r *room) call(as servertest.Credentials, method, path, text string) (servertest.Response, *body) {
	r.t.Helper()
	response := r.REST(r.t, as, method, path, text)
	b := &body{}
	if err := json.Unmarshal([]byte(response.Body), b); err != nil {
		r.t.Fatal(err, response.Body)
	}
	return response, b
}

// set changes settings as the moderator: members of a JSON object.
func (r *room) set(members string) *body {
	r.t.Helper()
	response, b := r.call(r.moderator, http.MethodPost, settingsPath, fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members))
	if response.Status != http.StatusOK {
		r.t.Fatalf("%s: %s", members, response.Body)
	}
	return b
}

// get reads the settings as a moderator.
func (r *room) get() *body {
	r.t.Helper()
	response, b := r.call(r.moderator, http.MethodGet, "/v1/moderation/settings?channelId="+servertest.Owner.String(), "")
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
	return b
}

// post posts a message as a user, and returns the restriction that refuses it, with the time at
// which the sender may post; empty if it is posted.
func (r *room) post(as uid.ID, text string, more ...string) string {
	r.t.Helper()
	message, _ := json.Marshal(text)
	members := ""
	for _, m := range more {
		members += "," + m
	}
	response, b := r.call(r.service, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"senderId":%q,"message":%s%s}`, servertest.Owner, as, message, members))
	switch {
	case response.Status == http.StatusOK:
		return ""
	case response.Status != http.StatusForbidden || b.Data.Code != "CHAT_RESTRICTED":
		r.t.Fatal(response.Body)
	case b.Data.RetryAt == nil:
		if got := response.Header.Get("Retry-After"); got != "" {
			r.t.Errorf("got Retry-After %s without retryAt", got)
		}
		return b.Data.Restriction + " null"
	}
	return b.Data.Restriction + " " + *b.Data.RetryAt
}

// want compares what post returns: the restriction and when it ends; nil for null.
func (r *room) want(what, got, restriction string, until *instant.Instant) {
	r.t.Helper()
	want := restriction
	switch {
	case restriction == "":
	case until == nil:
		want += " null"
	default:
		want += " " + until.String()
	}
	if got != want {
		r.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// events returns the events of settings, in their order.
func (r *room) events() []*moderatov1.ChatSettingsEvent {
	return servertest.Events[moderatov1.ChatSettingsEvent](r.t, r.Store, "channel.chat.settings")
}

// load imports records of the channel.
func (r *room) load(records ...*platformv1.Record) { r.Load(r.t, records...) }

// role gives a user a role.
func (r *room) role(user uid.ID, role string) {
	r.load(&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: servertest.Owner.String(), UserId: user.String(), Role: role}}})
}

// follow makes a user a follower since an instant.
func (r *room) follow(user uid.ID, since instant.Instant) {
	r.load(&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: servertest.Owner.String(), UserId: user.String(), FollowedAt: since.Proto()}}})
}

// subscribe makes a user a subscriber until an instant.
func (r *room) subscribe(user uid.ID, until instant.Instant) {
	r.load(&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), ExpiresAt: until.Proto(), StreakCount: 1,
	}}})
}
