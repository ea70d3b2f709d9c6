package held_test

import (
	"context"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestModeratorsHearOfHeldMessages listens as the moderator while a message is held, claimed and
// approved. Only the decision is stored, and has a sequence.
func TestModeratorsHearOfHeldMessages(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		ctx, cancel := context.WithTimeout(r.moderator.Context(), 20*time.Second)
		defer cancel()
		stream, err := moderatov1.NewEventsServiceClient(r.Conn).WatchEvents(ctx, &moderatov1.WatchEventsRequest{
			ChannelId: servertest.Owner.String(), Type: []string{"channel.chat.hold", "channel.chat.hold.update", "channel.chat.message"},
		})
		if err == nil {
			_, err = stream.Header()
		}
		if err != nil {
			t.Fatal(err)
		}
		next := func(kind string, isStored bool) *moderatov1.Event {
			t.Helper()
			for {
				got, err := stream.Recv()
				if err != nil {
					t.Fatal(err)
				}
				e := got.GetEvent()
				if e == nil {
					continue
				}
				if meta := e.GetMetadata(); meta.GetSubscriptionType() != kind || (meta.GetSequence() > 0) != isStored {
					t.Fatalf("got %v, want %s", e, kind)
				}
				return e
			}
		}
		id := r.hold(servertest.Viewer, "hello")
		held := next("channel.chat.hold", false).GetChatHold()
		if held.GetMessageId() != id.String() || held.GetMessage() != "hello" || held.GetUser().GetDisplayName() != "Amara Okafor" || held.GetStatus() != "PENDING" ||
			held.GetFacts() == nil || held.GetExpiresAt().AsTime() != now.Add(10*time.Minute).Time() || held.ModeratorId != nil || held.GetClientId() != "" {
			t.Errorf("got %v", held)
		}
		r.claim(r.owner, id)
		claimed := next("channel.chat.hold.update", false).GetChatHoldUpdate()
		if claimed.GetStatus() != "PENDING" || claimed.GetClaimedBy().GetUsername() != "Ines" || claimed.GetClaimedUntil().AsTime() != now.Add(30*time.Second).Time() || claimed.GetDecidedBy() != nil {
			t.Errorf("got %v", claimed)
		}
		r.want("an approval", approve(id), "APPROVED")
		// The message is live and the decision stored, so either may come first.
		seen := map[string]bool{}
		for range 2 {
			got, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			switch e := got.GetEvent(); {
			case e.GetChatMessage().GetMessageId() == id.String() && e.GetChatMessage().GetMessage() == "hello":
				seen["message"] = true
			case e.GetChatHoldUpdate().GetStatus() == "APPROVED" && e.GetMetadata().GetSequence() > 0:
				seen["decision"] = true
			}
		}
		if len(seen) != 2 {
			t.Errorf("got %v", seen)
		}
	})
}

// TestLogShowsDecisions reads the log of a decision, which is about the sender.
func TestLogShowsDecisions(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.want("a denial", deny(r.hold(servertest.Viewer, "hello")), "DENIED")
		log, err := r.Moderation.ListLog(r.owner.Context(), &moderatov1.ListLogRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String()})
		if err != nil || len(log.GetRows()) != 1 {
			t.Fatalf("got %v (%v)", log, err)
		}
		if row := log.GetRows()[0]; row.GetType() != "channel.chat.hold.update" || row.GetModerator().GetId() != servertest.Moderator.String() || row.GetUser().GetId() != servertest.Viewer.String() {
			t.Errorf("got %v", row)
		}
	})
}
