package chat_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// recent is shorter than the purgers leave the rows of deleted messages.
const recent = time.Minute + 50*time.Second

// purged is a server of which a test runs the purgers, and its callers.
type purged struct {
	*servertest.Server

	t                 *testing.T
	moderator, viewer servertest.Credentials
}

func eachPurged(t *testing.T, test func(s *purged)) {
	t.Helper()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		test(&purged{s, t, s.As(t, servertest.Moderator), s.As(t, servertest.Viewer)})
	})
}

func (p *purged) must(r servertest.Response) {
	p.t.Helper()
	if r.Status != http.StatusOK {
		p.t.Fatal(r.Body)
	}
}

// say posts a message of the viewer and returns its id.
func (p *purged) say() string {
	p.t.Helper()
	id := uid.New().String()
	p.must(post(p.t, p.Server, p.viewer, fmt.Sprintf(`,"messageId":%q`, id)))
	return id
}

// wait lets time pass and runs the purgers.
func (p *purged) wait(d time.Duration) {
	p.t.Helper()
	p.Store.Clock.Advance(d)
	purge(p.t, p.Store)
}

// wantDeleted repeats the post of a message, which must stay deleted.
func (p *purged) wantDeleted(what, id string) {
	p.t.Helper()
	p.must(post(p.t, p.Server, p.viewer, fmt.Sprintf(`,"messageId":%q`, id)))
	if got := listed(p.t, p.Server, ""); len(got) != 0 {
		p.t.Errorf("%s: a repeated post stores the message again: %q", what, got)
	}
}

// TestRepeatedPostRestoresNoClearedMessage repeats the posts of messages that were deleted
// alone and by a clearing, after the purgers have run.
func TestRepeatedPostRestoresNoClearedMessage(t *testing.T) {
	eachPurged(t, func(p *purged) {
		alone, cleared := p.say(), p.say()
		p.must(remove(p.t, p.Server, p.moderator, alone))
		p.must(clearChat(p.t, p.Server, p.moderator))
		p.wait(0)
		p.wantDeleted("cleared a moment ago", cleared)
		p.wantDeleted("deleted alone before a clearing", alone)

		p.wait(recent)
		late := p.say()
		p.must(remove(p.t, p.Server, p.moderator, late))
		p.wait(20 * time.Second)
		p.wantDeleted("deleted alone when the purge of a clearing is due", late)
		if got, want := rows(p.t, p.Store, servertest.Viewer), 2; got != want {
			p.t.Errorf("%d rows are left, want %d: those deleted alone", got, want)
		}
		p.wait(recent + 20*time.Second)
		if got := rows(p.t, p.Store, servertest.Viewer); got != 0 {
			p.t.Errorf("%d rows are left, want none", got)
		}
	})
}

// TestPurgeOfUserLeavesClearedMessages clears the chat shortly before the purge of a user is
// due, because of a message that was deleted alone.
func TestPurgeOfUserLeavesClearedMessages(t *testing.T) {
	eachPurged(t, func(p *purged) {
		p.must(remove(p.t, p.Server, p.moderator, p.say()))
		p.wait(recent)
		cleared := p.say()
		p.must(clearChat(p.t, p.Server, p.moderator))
		p.wait(20 * time.Second)
		if got, want := rows(p.t, p.Store, servertest.Viewer), 1; got != want {
			p.t.Errorf("%d rows are left, want %d", got, want)
		}
		p.wantDeleted("cleared", cleared)
	})
}

// TestPurgeOfUserLeavesMessagesOfEarlierBan bans a user twice shortly before the purge of the
// user is due. The second ban makes the first deletion final.
func TestPurgeOfUserLeavesMessagesOfEarlierBan(t *testing.T) {
	eachPurged(t, func(p *purged) {
		p.must(remove(p.t, p.Server, p.moderator, p.say()))
		p.wait(recent)
		banned := p.say()
		of := &moderatov1.RemoveBanRequest{ChannelId: servertest.Owner.String(), BanUserId: servertest.Viewer.String()}
		for range 2 {
			_, err := p.Moderation.BanUser(p.moderator.Context(), &moderatov1.BanUserRequest{ChannelId: of.GetChannelId(), BanUserId: of.GetBanUserId()})
			if err == nil {
				_, err = p.Moderation.RemoveBan(p.moderator.Context(), of)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}
		p.wait(20 * time.Second)
		p.wantDeleted("banned", banned)
	})
}

// TestRepeatedClearingsDoNotDelayThePurge clears a chat again and again, more often than the
// purger waits. The rows must not accumulate.
func TestRepeatedClearingsDoNotDelayThePurge(t *testing.T) {
	eachPurged(t, func(p *purged) {
		fill(p.t, p.Store, servertest.Raider, 0, 450) // more than two batches
		for i := range 12 {
			last := p.say()
			p.must(clearChat(p.t, p.Server, p.moderator))
			// Those of the latest four minutes may be left.
			if got := rows(p.t, p.Store, servertest.Viewer); got > 8 {
				p.t.Fatalf("%d rows are left after %d clearings", got, i+1)
			}
			p.wait(30 * time.Second)
			p.wantDeleted("cleared repeatedly", last)
		}
		if got := rows(p.t, p.Store, servertest.Raider); got != 0 {
			p.t.Errorf("%d rows from before the first clearing are left, want none", got)
		}
		p.wait(2 * recent)
		p.wait(2 * recent)
		if got := rows(p.t, p.Store, servertest.Viewer); got != 0 {
			p.t.Errorf("%d rows are left, want none", got)
		}
		if left := storetest.Must(p.Store.Read.ChatGeneration.Query().Only(p.t.Context())); left.PurgeAt != nil {
			p.t.Errorf("the purger is not done: %v", left)
		}
	})
}
