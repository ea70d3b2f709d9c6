package held_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// room is the chat of Owner's channel, in which first messages are held.
type room struct {
	*servertest.Server
	t *testing.T

	owner, moderator, service servertest.Credentials
}

func newRoom(t *testing.T, s *servertest.Server) *room {
	t.Helper()
	return &room{s, t, s.As(t, servertest.Owner), s.As(t, servertest.Moderator), s.AsService(t)}
}

// each runs a test in a room on every kind of store. The clock is frozen.
func each(t *testing.T, test func(r *room, now instant.Instant)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		r := newRoom(t, s)
		r.set(`"firstMessage":"hold"`)
		test(r, r.freeze())
	})
}

// freeze stops the clock of the server.
func (r *room) freeze() instant.Instant {
	now := storetest.Must(r.Store.Clock.Now(r.t.Context(), r.Store.Read))
	r.Store.Clock.Freeze(now)
	return now
}

// call calls an operation over REST, whose response or error is assigned to into.
func (r *room) call(as servertest.Credentials, method, path, text string, into any) servertest.Response {
	r.t.Helper()
	response := r.REST(r.t, as, method, path, text)
	if err := json.Unmarshal([]byte(response.Body), into); err != nil {
		r.t.Fatal(err, response.Body)
	}
	return response
}

// set changes settings as the moderator: members of a JSON object.
func (r *room) set(members string) {
	r.t.Helper()
	if response := r.REST(r.t, r.moderator, http.MethodPost, "/v1/chats/settings", fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members)); response.Status != http.StatusOK {
		r.t.Fatalf("%s: %s", members, response.Body)
	}
}

// posted is the answer to a post. Code is empty if the message was posted.
type posted struct {
	Code                 string
	Message, MessageID   string
	ExpiresAt, CreatedAt string
	Violations           []struct{ Field string }
}

// post posts a message as a user, with more members of the request.
func (r *room) post(as uid.ID, text string, more ...string) posted {
	r.t.Helper()
	message, _ := json.Marshal(text)
	members := ""
	for _, m := range more {
		members += "," + m
	}
	var b struct{ Data posted }
	r.call(r.service, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"senderId":%q,"message":%s%s}`, servertest.Owner, as, message, members), &b)
	return b.Data
}

// hold posts a message that is held, and returns its id.
func (r *room) hold(as uid.ID, text string, more ...string) uid.ID {
	r.t.Helper()
	p := r.post(as, text, more...)
	if p.Code != "MESSAGE_HELD" {
		r.t.Fatalf("got %+v, want MESSAGE_HELD", p)
	}
	return uid.MustParse(p.MessageID)
}

// row returns a held message as it is stored.
func (r *room) row(id uid.ID) *ent.HeldMessage {
	r.t.Helper()
	return storetest.Must(r.Store.Read.HeldMessage.Get(r.t.Context(), id))
}

// wantStatus compares the status of a held message, and that of its event with who decided.
func (r *room) wantStatus(id uid.ID, status string) {
	r.t.Helper()
	row := r.row(id)
	if row.Status != status || (row.DueAt == nil) == (status == "PENDING") || (row.DecidedAt == nil) != (status == "PENDING") {
		r.t.Errorf("got %s, due at %v, decided at %v; want %s", row.Status, row.DueAt, row.DecidedAt, status)
	}
	var got []string
	for _, e := range r.updates() {
		if e.GetMessageId() == id.String() {
			got = append(got, e.GetStatus())
		}
	}
	if status == "PENDING" && got != nil || status != "PENDING" && (len(got) != 1 || got[0] != status) {
		r.t.Errorf("got events with %q, want one with %s", got, status)
	}
}

// updates returns the events of decisions, in their order.
func (r *room) updates() []*moderatov1.ChatHoldUpdateEvent {
	return servertest.Events[moderatov1.ChatHoldUpdateEvent](r.t, r.Store, "channel.chat.hold.update")
}

// write runs a transaction.
func (r *room) write(do func(ctx context.Context, tx *ent.Tx) error) {
	r.t.Helper()
	err := r.Store.Write(r.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error { return do(ctx, tx) })
	if err != nil {
		r.t.Fatal(err)
	}
}

// moderate calls an operation as the moderator, with members of a request.
func (r *room) moderate(path, members string) {
	r.t.Helper()
	if response := r.REST(r.t, r.moderator, http.MethodPost, path, fmt.Sprintf(`{"channelId":%q%s}`, servertest.Owner, members)); response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
}

func (r *room) ban(user uid.ID) {
	r.t.Helper()
	r.moderate("/v1/moderation/ban", fmt.Sprintf(`,"banUserId":%q`, user))
}

func (r *room) mute(user uid.ID) {
	r.t.Helper()
	r.moderate("/v1/moderation/mute", fmt.Sprintf(`,"mutedUserId":%q`, user))
}

// How many messages of a channel and of a sender may wait.
const (
	maxPending       = 5000
	maxPendingOfUser = 5
)

// muteByImport mutes a user without an event, for a time.
func (r *room) muteByImport(user uid.ID, at instant.Instant, length time.Duration) {
	r.t.Helper()
	r.Load(r.t, &platformv1.Record{Kind: &platformv1.Record_Mute{Mute: &platformv1.MuteRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), ModeratorId: servertest.Owner.String(),
		MutedAt: at.Proto(), ExpiresAt: at.Add(length).Proto(),
	}}})
}

// banByImport bans a user without an event, for a time.
func (r *room) banByImport(user uid.ID, at instant.Instant, length time.Duration) {
	r.t.Helper()
	r.Load(r.t, &platformv1.Record{Kind: &platformv1.Record_Ban{Ban: &platformv1.BanRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), ModeratorId: servertest.Owner.String(),
		BannedAt: at.Proto(), ExpiresAt: at.Add(length).Proto(),
	}}})
}

// hub returns a hub without listeners.
func (r *room) hub() *live.Hub { return newHub(r.Store) }

func newHub(s *store.Store) *live.Hub {
	return live.NewHub(s, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
}

// follow makes a user a follower since an instant.
func (r *room) follow(user uid.ID, since instant.Instant) {
	r.t.Helper()
	r.Load(r.t, &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), FollowedAt: since.Proto(),
	}}})
}
