package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/message"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// holds is a change of a held message, during which the process is killed.
type holds struct {
	name string
	halt storetest.Halt
	// isHeld reports whether the message is held before.
	isHeld bool
	// do makes the change, and returns the reason of its error; empty for a change that comes by
	// itself.
	do func(q *queue, conn *grpc.ClientConn, id uid.ID) string
	// status is the status of the message after the change.
	status string
}

var heldDeaths = []holds{
	{
		name: "holding", halt: storetest.Halt{Of: ofChange, Has: "INSERT INTO `held_messages`"},
		do: (*queue).post, status: "PENDING",
	},
	{
		name: "approving", halt: storetest.Halt{Of: ofChange, Has: "INSERT INTO messages"}, isHeld: true,
		do: (*queue).approve, status: "APPROVED",
	},
	{
		name: "expiring", halt: storetest.Halt{Of: "held.(*Service)", Has: "UPDATE `held_messages`"}, isHeld: true,
		do: (*queue).lapse, status: "EXPIRED",
	},
}

// TestHeldMessagesKilledAtEveryStep kills the process before each step of the transactions that
// hold a message and end its wait, and after their COMMIT. Another server takes over: what was
// committed persists, and the rest is done once.
func TestHeldMessagesKilledAtEveryStep(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		q := newQueue(t, url)
		for _, h := range heldDeaths {
			if !storetest.Takes(t, url, h.name) {
				continue
			}
			found := false
			for step := 0; ; step++ {
				h.halt.Step = step
				reached := q.die(h)
				if reached == "" {
					break
				}
				found = found || strings.HasPrefix(reached, h.halt.Has)
			}
			if !found {
				t.Errorf("%s: no step was %s", h.name, h.halt.Has)
			}
		}
	})
}

// queue holds what outlives the processes.
type queue struct {
	t              *testing.T
	url            store.URL
	db             *store.Store
	owner, backend context.Context
	users          int
}

func newQueue(t *testing.T, url store.URL) *queue {
	t.Helper()
	q := &queue{t: t, url: url, db: prepare(t, url)}
	q.owner = callerContext(t, q.db)
	live := servertest.Start(t, servertest.Config(url))
	defer live.Stop(t)
	q.backend = live.AsService(t).Context()
	_, err := moderatov1.NewChatRulesServiceClient(live.Conn).UpdateChatSettings(q.owner, &moderatov1.UpdateChatSettingsRequest{
		ChannelId: servertest.Owner.String(), FirstMessage: new("hold"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// die makes a change, and kills the process when it stops at the step. Then another server takes
// over. It returns the step, or "" if there are fewer steps.
func (q *queue) die(h holds) (reached string) {
	q.t.Helper()
	p := serveUpTo(q.t, q.url, storetest.Halt{})
	conn := p.Dial(q.t)
	id := uid.New()
	q.newUser()
	if h.isHeld {
		if reason := q.post(conn, id); reason != "MESSAGE_HELD" {
			q.t.Fatal(reason)
		}
	}
	p.stopAt(q.t, h.halt)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		h.do(q, conn, id)
	}()
	reached = p.stepReached(q.t)
	if reached == "" {
		<-answered
	}
	p.Kill()
	<-answered
	what := fmt.Sprintf("%s, killed before %.60s", h.name, reached)
	isWhole := reached == "" || reached == storetest.CommittedStep
	if got := q.status(id); (got == h.status) != isWhole {
		q.t.Errorf("%s: the status is %q", what, got)
	}
	q.takeOver(what, h, id)
	return reached
}

// takeOver has another server take over, and repeats the change.
func (q *queue) takeOver(what string, h holds, id uid.ID) {
	q.t.Helper()
	live := servertest.Start(q.t, servertest.Config(q.url))
	defer live.Stop(q.t)
	reason := h.do(q, live.Conn, id)
	for end := time.Now().Add(patience); q.status(id) != h.status; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			q.t.Fatalf("%s: the status is %q, want %s; the answer was %s", what, q.status(id), h.status, reason)
		}
	}
	events := 0
	for _, e := range storetest.Must(q.db.Read.Event.Query().Where(event.ChannelID(servertest.Owner)).All(q.t.Context())) {
		if e.Type == "channel.chat.hold.update" && strings.Contains(e.Payload, id.String()) {
			events++
		}
	}
	posted := storetest.Must(q.db.Read.Message.Query().Where(message.ID(id)).Count(q.t.Context()))
	if (events == 1) != (h.status != "PENDING") || (posted == 1) != (h.status == "APPROVED") {
		q.t.Errorf("%s: %d events, and %d messages", what, events, posted)
	}
	err := fsck.Run(q.t.Context(), q.db, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) { q.t.Errorf("%s: %s", what, f) })
	if err != nil {
		q.t.Error(err)
	}
}

// newUser makes a user, who sends the messages from then on.
func (q *queue) newUser() {
	q.t.Helper()
	q.users++
	servertest.Import(q.t, q.db, &platformv1.Record{Kind: &platformv1.Record_User{
		User: &platformv1.UserRecord{Id: q.user(), Username: fmt.Sprint("newcomer", q.users)},
	}})
}

func (q *queue) user() string { return fmt.Sprintf("0b6faaaa-0000-4000-8000-%012d", q.users) }

func (q *queue) post(conn *grpc.ClientConn, id uid.ID) string {
	_, err := platformv1.NewChatServiceClient(conn).PostMessage(q.backend, &platformv1.PostMessageRequest{
		ChannelId: servertest.Owner.String(), UserId: q.user(), Text: "hello", MessageId: id.String(),
	})
	return servertest.OutcomeOf(err).Reason
}

func (q *queue) approve(conn *grpc.ClientConn, id uid.ID) string {
	_, err := moderatov1.NewHeldMessagesServiceClient(conn).DecideHeldMessages(q.owner, &moderatov1.DecideHeldMessagesRequest{
		ChannelId: servertest.Owner.String(), Decisions: []*moderatov1.HeldDecision{{MessageId: id.String(), Decision: "approve"}},
	})
	return servertest.OutcomeOf(err).Reason
}

// lapse lets the time of a message pass.
func (q *queue) lapse(_ *grpc.ClientConn, id uid.ID) string {
	if _, err := q.db.DB().ExecContext(q.t.Context(), "UPDATE held_messages SET due_at = held_at, expires_at = held_at WHERE id = ? AND status = 'PENDING'", id); err != nil {
		q.t.Error(err)
	}
	return ""
}

// status returns the status of a message; empty if it is not held.
func (q *queue) status(id uid.ID) string {
	q.t.Helper()
	row, err := q.db.Read.HeldMessage.Get(q.t.Context(), id)
	if ent.IsNotFound(err) {
		return ""
	}
	if err != nil {
		q.t.Fatal(err)
	}
	return row.Status
}
