package watch_test

import (
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/event/live/livetest"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

var person = &moderatov1.Person{Id: servertest.Raider.String(), Username: "raider", DisplayName: "Raider", AvatarUrl: "https://img.example.com/raider.png"}

// forModerators are live events that moderators hear, the last of a type of which others are kept.
var forModerators = []struct {
	kind    eventtype.Type
	payload proto.Message
}{
	{"channel.chat.flag", &moderatov1.ChatFlagEvent{ChannelId: servertest.Owner.String(), MessageId: uid.New().String(), User: person, Message: "buy"}},
	{"channel.chat.hold", &moderatov1.ChatHoldEvent{
		ChannelId: servertest.Owner.String(), MessageId: uid.New().String(), User: person, Facts: &moderatov1.SenderFacts{}, Message: "buy", Status: "PENDING",
		HeldAt: timestamppb.Now(), ExpiresAt: timestamppb.Now(),
	}},
	{"channel.chat.hold.update", &moderatov1.ChatHoldUpdateEvent{
		ChannelId: servertest.Owner.String(), MessageId: uid.New().String(), Status: "PENDING", ClaimedBy: person, ClaimedUntil: timestamppb.Now(),
	}},
}

// TestModeratorsHearLiveEvents posts live events for moderators on another server. Neither a viewer
// nor an app hears them, and a moderator without the right does not either.
func TestModeratorsHearLiveEvents(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, s *servertest.Server, watch transport) {
		elsewhere := livetest.Elsewhere(t, s.Store)
		grant(t, s, "users.read")
		channel := servertest.Owner.String()
		insiders, outsiders := map[string]watcher{
			"owner":     watch(t, s, s.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{Type: []string{"channel.chat.flag", "channel.chat.hold", "channel.chat.hold.update"}}),
			"moderator": watch(t, s, s.As(t, servertest.Moderator), &moderatov1.WatchEventsRequest{ChannelId: channel}),
			"backend":   watch(t, s, s.AsService(t), &moderatov1.WatchEventsRequest{}),
		}, map[string]watcher{
			"viewer": watch(t, s, s.As(t, servertest.Viewer), &moderatov1.WatchEventsRequest{ChannelId: channel}),
			"app":    watch(t, s, s.AsApp(t), &moderatov1.WatchEventsRequest{ChannelId: channel}),
		}
		now := storetest.Must(s.Store.Clock.Now(t.Context(), s.Store.Read))
		tell := func() {
			for _, e := range forModerators {
				elsewhere.Post(live.New(e.kind, servertest.Owner, now, e.payload))
			}
		}
		tell()
		for name, w := range insiders {
			for _, e := range forModerators {
				got := w.next(t)
				if _, hasSequence := got.event["metadata"].(map[string]any)["sequence"]; got.kind() != string(e.kind) || got.cursor != "" || hasSequence {
					t.Errorf("%s: got %+v, want the live event %s", name, got, e.kind)
				}
			}
		}
		moderators(t, s, http.MethodDelete)
		defer moderators(t, s, http.MethodPost) // for the next transport
		retitle(t, s, t.Name())
		for got := ""; got != "channel.update"; { // which follows the removal, whether the moderator hears that or not
			got = insiders["moderator"].next(t).kind()
		}
		tell()
		for range forModerators {
			insiders["owner"].next(t)
		}
		said := say(t, s, s.As(t, servertest.Owner), "the end")
		outsiders["former moderator"] = insiders["moderator"]
		for name, w := range outsiders {
			got := w.next(t)
			if got.kind() == "channel.update" {
				got = w.next(t)
			}
			if payload(got)["messageId"] != said {
				t.Errorf("%s: heard %v", name, got.event)
			}
		}
	})
}
