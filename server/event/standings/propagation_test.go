package standings_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// report is the data of a response of GET /v1/moderation/propagation.
type report struct {
	SubscriberCount, AppliedCount int
	SlowestMilliseconds           *int64
}

func (d *drive) propagation(s *servertest.Server, channelID uid.ID, cursor string) report {
	d.t.Helper()
	r := s.REST(d.t, d.owners[channelID], http.MethodGet, "/v1/moderation/propagation?channelId="+channelID.String()+"&cursor="+cursor, "")
	var body struct{ Data report }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != http.StatusOK {
		d.t.Fatalf("propagation: %d %s", r.Status, r.Body)
	}
	return body.Data
}

// wantPropagation waits for a report.
func (d *drive) wantPropagation(what string, s *servertest.Server, channelID uid.ID, cursor string, applied, subscribers int) report {
	d.t.Helper()
	for deadline := time.Now().Add(servertest.Slack); ; time.Sleep(10 * time.Millisecond) {
		r := d.propagation(s, channelID, cursor)
		if r.AppliedCount == applied && r.SubscriberCount == subscribers {
			return r
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%s: got %d of %d, want %d of %d", what, r.AppliedCount, r.SubscriberCount, applied, subscribers)
		}
	}
}

func subscriber(name string, channels ...uid.ID) *platformv1.StandingsSubscription {
	asked := named(channels...)
	asked.SubscriberName, asked.AllChannels = name, len(channels) == 0
	return asked
}

// TestPropagationIsReported has chat servers at two servers, one of which stops to
// acknowledge.
func TestPropagationIsReported(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		if r := d.propagation(d.Server, servertest.Owner, ""); r.SubscriberCount != 0 || r.AppliedCount != 0 || r.SlowestMilliseconds != nil {
			t.Errorf("without chat servers: %+v", r)
		}
		events, err := moderatov1.NewEventsServiceClient(d.Conn).WatchEvents(d.owners[servertest.Owner].Context(), &moderatov1.WatchEventsRequest{ChannelId: servertest.Owner.String()})
		d.must(events, err)
		nextCursor := func(kind string) string {
			t.Helper()
			for {
				m, err := events.Recv()
				d.must(m, err)
				if m.GetEvent().GetMetadata().GetSubscriptionType() == kind {
					return m.GetCursor()
				}
			}
		}
		one := watch(t, d.Server, d.service, subscriber("chat-1", servertest.Owner), nil)
		two := watch(t, there, d.service, subscriber("chat-2"), nil)
		other := watch(t, there, d.service, subscriber("chat-3", servertest.Other), nil)
		for _, w := range []*chatServer{one, two, other} {
			w.settle(d.Server)
		}
		d.wantPropagation("before any change", there, servertest.Owner, "", 2, 2)
		d.ban(servertest.Owner, servertest.Raider, 0)
		banned := nextCursor("channel.ban")
		for _, s := range []*servertest.Server{d.Server, there} {
			r := d.wantPropagation("a ban", s, servertest.Owner, banned, 2, 2)
			if r.SlowestMilliseconds == nil || *r.SlowestMilliseconds < 1 || *r.SlowestMilliseconds > servertest.Slack.Milliseconds() {
				t.Errorf("the slowest took %v ms", r.SlowestMilliseconds)
			}
		}
		d.wantPropagation("the event after it", there, servertest.Owner, nextCursor("channel.chat.clear_user_messages"), 2, 2)

		two.mu.Lock()
		two.acks = false
		two.mu.Unlock()
		d.unban(servertest.Owner, servertest.Raider)
		d.wantPropagation("a change that one does not acknowledge", there, servertest.Owner, "", 1, 2)
		d.wantPropagation("its cursor", there, servertest.Owner, nextCursor("channel.unban"), 1, 2)
		d.wantPropagation("the ban before it", there, servertest.Owner, banned, 2, 2)

		_, cursor := two.stop()
		d.wantPropagation("a chat server that is away", d.Server, servertest.Owner, "", 1, 2)
		again := watch(t, d.Server, d.service, withCursor(subscriber("chat-2"), cursor), nil)
		again.settle(d.Server)
		d.wantPropagation("a chat server that is back", there, servertest.Owner, "", 2, 2)
		again.stop()
		one.stop()
		d.Store.Clock.Advance(2 * time.Minute)
		there.Store.Clock.Advance(2 * time.Minute)
		if r := d.propagation(d.Server, servertest.Owner, ""); r.SubscriberCount != 0 {
			t.Errorf("after a minute there are %d chat servers", r.SubscriberCount)
		}
		for want, req := range map[string]*moderatov1.GetPropagationRequest{
			"CHANNEL_NOT_FOUND": {ChannelId: servertest.Nobody.String()},
			"CURSOR_INVALID":    {ChannelId: servertest.Owner.String(), Cursor: "x"},
			"INVALID_ARGUMENT":  {},
		} {
			if _, err := d.Moderation.GetPropagation(d.service.Context(), req); reasonOf(err) != want {
				t.Errorf("got %s, want %s", reasonOf(err), want)
			}
		}
		_, err = d.Moderation.GetPropagation(d.As(t, servertest.Viewer).Context(), &moderatov1.GetPropagationRequest{ChannelId: servertest.Owner.String()})
		if got := reasonOf(err); got != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("a viewer: got %s", got)
		}
	})
}
