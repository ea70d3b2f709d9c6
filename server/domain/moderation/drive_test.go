package moderation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// drive calls a server as users of the World.
type drive struct {
	*servertest.Server
	t     testing.TB
	creds map[uid.ID]servertest.Credentials
	chat  servertest.Credentials
}

func newDrive(t *testing.T, s *servertest.Server) *drive {
	t.Helper()
	d := &drive{Server: s, t: t, creds: map[uid.ID]servertest.Credentials{}, chat: s.AsService(t)}
	for _, id := range []uid.ID{servertest.Owner, servertest.Moderator, servertest.Viewer, servertest.Other} {
		d.creds[id] = s.As(t, id)
	}
	return d
}

// newRecordedDrive starts a server whose statements are recorded.
func newRecordedDrive(t *testing.T, url store.URL) (*drive, *storetest.Recorder) {
	t.Helper()
	recorder := &storetest.Recorder{}
	config := servertest.Config(url)
	config.DBLayer = recorder.Layer()
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return newDrive(t, s), recorder
}

func each(t *testing.T, test func(t *testing.T, d *drive)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) { test(t, newDrive(t, s)) })
}

func (d *drive) ban(as, user uid.ID) (*moderatov1.BanUserResponse, error) {
	return d.Moderation.BanUser(d.creds[as].Context(), &moderatov1.BanUserRequest{
		ChannelId: servertest.Owner.String(), BanUserId: user.String(),
	})
}

func (d *drive) mustBan(as, user uid.ID) *moderatov1.BanUserResponse {
	d.t.Helper()
	ban, err := d.ban(as, user)
	if err != nil {
		d.t.Fatal(err)
	}
	return ban
}

func (d *drive) unban(as, user uid.ID) error {
	_, err := d.Moderation.RemoveBan(d.creds[as].Context(), &moderatov1.RemoveBanRequest{
		ChannelId: servertest.Owner.String(), BanUserId: user.String(),
	})
	return err
}

func (d *drive) mute(as, user uid.ID) (*moderatov1.MuteUserResponse, error) {
	return d.Moderation.MuteUser(d.creds[as].Context(), &moderatov1.MuteUserRequest{
		ChannelId: servertest.Owner.String(), MutedUserId: user.String(),
	})
}

func (d *drive) mustMute(as, user uid.ID) *moderatov1.MuteUserResponse {
	d.t.Helper()
	mute, err := d.mute(as, user)
	if err != nil {
		d.t.Fatal(err)
	}
	return mute
}

func (d *drive) mustPost(user uid.ID, text string) {
	d.t.Helper()
	if err := d.post(user, text); err != nil {
		d.t.Fatal(err)
	}
}

func (d *drive) post(user uid.ID, text string) error {
	_, err := d.Chat.PostMessage(d.chat.Context(), &platformv1.PostMessageRequest{
		ChannelId: servertest.Owner.String(), UserId: user.String(), Text: text,
	})
	return err
}

// visible returns the texts of the channel's messages, oldest first, from all pages.
func (d *drive) visible() []string {
	d.t.Helper()
	texts := []string{}
	cursor := ""
	for {
		page, err := d.Chat.ListMessages(d.chat.Context(), &platformv1.ListMessagesRequest{
			ChannelId: servertest.Owner.String(), Cursor: cursor,
		})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, m := range page.GetMessages() {
			texts = append(texts, m.GetText())
		}
		if cursor = page.GetNextCursor(); cursor == "" {
			slices.Reverse(texts)
			return texts
		}
	}
}

func (d *drive) standing(user uid.ID) *platformv1.GetStandingResponse {
	d.t.Helper()
	st, err := d.Chat.GetStanding(d.chat.Context(), &platformv1.GetStandingRequest{
		ChannelId: servertest.Owner.String(), UserId: user.String(),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return st
}

// events returns the channel's events in order, and checks that their sequence has no
// gap.
func (d *drive) events() []*ent.Event {
	d.t.Helper()
	return d.eventsOf(servertest.Owner)
}

func (d *drive) eventsOf(channel uid.ID) []*ent.Event {
	d.t.Helper()
	rows, err := d.Store.Read.Event.Query().Where(event.ChannelID(channel)).
		Order(ent.Asc(event.FieldSequence)).All(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	for i, row := range rows {
		if row.Sequence != int64(i+1) {
			d.t.Fatalf("event %d has sequence %d", i+1, row.Sequence)
		}
	}
	return rows
}

func (d *drive) eventTypes() []string {
	d.t.Helper()
	types := []string{}
	for _, e := range d.events() {
		types = append(types, e.Type)
	}
	return types
}

func (d *drive) wantEvents(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), d.eventTypes()); diff != "" {
		d.t.Errorf("events (-want +got):\n%s", diff)
	}
}

func (d *drive) wantVisible(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), d.visible()); diff != "" {
		d.t.Errorf("visible messages (-want +got):\n%s", diff)
	}
}

// reason returns the reason of an error, "OK" for none.
func reason(err error) string {
	if err == nil {
		return "OK"
	}
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return err.Error()
}

func wantReason(t testing.TB, err error, want string) {
	t.Helper()
	if got := reason(err); got != want {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

// personFields are the fields of payloads that hold the person whom an event is about.
var personFields = map[string]string{
	"channel.ban": "bannedUser", "channel.unban": "bannedUser", "channel.mute": "mutedUser", "channel.unmute": "mutedUser",
	"channel.moderator.add": "moderator", "channel.moderator.remove": "moderator", "channel.vip.add": "vip", "channel.vip.remove": "vip",
	"channel.og.add": "og", "channel.og.remove": "og",
}

// payload returns the payload of an event without the person, whom it checks.
func payload(t testing.TB, e *ent.Event) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(e.Payload), &fields); err != nil {
		t.Fatalf("payload of %s: %v", e.Type, err)
	}
	if name := personFields[e.Type]; name != "" {
		wantPerson(t, e, fields[name])
		delete(fields, name)
	}
	return fields
}

func wantPerson(t testing.TB, e *ent.Event, got any) {
	t.Helper()
	person, _ := got.(map[string]any)
	switch {
	case len(person) != 4 || person["id"] != e.TargetID.String() || person["username"] == "" || person["displayName"] == "":
		t.Errorf("%s names no person: %s", e.Type, e.Payload)
	case *e.TargetID == servertest.Raider && (person["username"] != "LootGoblin77" || person["displayName"] != `Loot "Goblin" 77` || person["avatarUrl"] != "https://img.example.com/LootGoblin77.png"):
		t.Errorf("%s names another person: %s", e.Type, e.Payload)
	}
}

func channelBody(fields string) string {
	return fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, fields)
}
