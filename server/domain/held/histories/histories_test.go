// Package histories_test records what concurrent clients of two servers see while they post, hold,
// decide, ban and clear. Each history must be one that a single server could have produced that
// makes one change after the other.
package histories_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	histories        = 12
	clientsOfHistory = 6
	stepsOfClient    = 8
	usersOfHistory   = 2
	// changes is the package of the transactions that are cut, and statementsOfChange about the
	// greatest number of statements of one.
	changes            = "server/change."
	statementsOfChange = 12

	// overloaded is the reason of a refusal that changed nothing.
	overloaded = "OVERLOADED"
)

// TestHistoriesAreLinearizable has clients of two servers. In a third of the histories COMMITs are
// lost, and in another third, on a database server, statements.
func TestHistoriesAreLinearizable(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		first := servertest.Start(t, config)
		first.Load(t, servertest.World()...)
		second := servertest.Start(t, servertest.Config(url))
		owner := first.As(t, servertest.Owner)
		_, err := moderatov1.NewChatRulesServiceClient(first.Conn).UpdateChatSettings(owner.Context(), &moderatov1.UpdateChatSettingsRequest{
			ChannelId: servertest.Owner.String(), FirstMessage: new("hold"),
		})
		if err != nil {
			t.Fatal(err)
		}
		users := servertest.AddUsers(t, first.Store, histories*usersOfHistory)
		for i := range histories {
			h := &history{
				conns: []*grpc.ClientConn{first.Conn, second.Conn}, owner: owner.Context(),
				moderator: first.As(t, servertest.Moderator).Context(), backend: first.AsService(t).Context(),
				users: users[i*usersOfHistory:][:usersOfHistory], start: time.Now(), posted: map[string]int{},
			}
			switch {
			case i%3 == 1 && url.Path == "":
				cutter.CutStatements(changes, i/3%statementsOfChange, 4)
			case i%3 == 2:
				cutter.CutNext(changes, storetest.BeforeCommit, storetest.Nowhere, storetest.AfterCommit, storetest.Nowhere, storetest.LateCommit)
			}
			operations := h.run(t)
			cutter.CutNext("")
			checked, info := porcupine.CheckOperationsVerbose(model, operations, time.Minute)
			if checked != porcupine.Ok {
				path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("history-%d.html", i))
				if err := porcupine.VisualizePath(model, info, path); err != nil {
					t.Error(err)
				}
				t.Errorf("history %d is not linearizable (%s): see %s, with -artifacts", i, checked, path)
			}
		}
	})
}

// history is the work of several clients with the messages of the same few users.
type history struct {
	conns                     []*grpc.ClientConn
	owner, moderator, backend context.Context
	users                     []uid.ID
	start                     time.Time

	mu         sync.Mutex
	operations []porcupine.Operation
	posted     map[string]int // the senders of messages
}

// run returns the operations of all clients, and of one who looks afterwards.
func (h *history) run(t *testing.T) []porcupine.Operation {
	t.Helper()
	var all sync.WaitGroup
	for client := range clientsOfHistory {
		all.Go(func() {
			for range stepsOfClient {
				h.do(t, client, h.choose())
			}
		})
	}
	all.Wait()
	h.do(t, 0, step{kind: "pending"})
	h.do(t, 1, step{kind: "messages"})
	return h.operations
}

func (h *history) do(t *testing.T, client int, in step) {
	t.Helper()
	called := time.Since(h.start)
	out := h.call(h.conns[client%len(h.conns)], in)
	ended := time.Since(h.start)
	if !slices.Contains([]string{"OK", "NOT_BANNED", "NOT_MUTED", "USER_BANNED", "USER_MUTED", "MESSAGE_HELD", "MESSAGE_BLOCKED", overloaded}, out.reason) {
		t.Errorf("%s: %s", in.kind, out.reason)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: called.Nanoseconds(), Return: ended.Nanoseconds(),
	})
}

// choose returns a step. Decisions are about a message whose post may not have ended yet.
func (h *history) choose() step {
	kinds := []string{"post", "post", "post", "post", "approve", "approve", "deny", "mute", "ban", "ban", "unban", "unmute", "clear", "pending", "messages"}
	s := step{kind: kinds[rand.IntN(len(kinds))], user: rand.IntN(len(h.users))}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch s.kind {
	case "approve", "deny", "mute":
		for id, user := range h.posted { // any of them
			s.id, s.user = id, user
			return s
		}
		s.kind = "post"
	}
	if s.kind == "post" {
		s.id = uid.New().String()
		h.posted[s.id] = s.user
	}
	return s
}

// call makes the call of a step.
func (h *history) call(conn *grpc.ClientConn, s step) result {
	moderation, chat := moderatov1.NewModerationServiceClient(conn), platformv1.NewChatServiceClient(conn)
	queue := moderatov1.NewHeldMessagesServiceClient(conn)
	channel, user := servertest.Owner.String(), h.users[s.user].String()
	var err error
	switch s.kind {
	case "ban":
		_, err = moderation.BanUser(h.owner, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
	case "unban":
		_, err = moderation.RemoveBan(h.moderator, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
	case "unmute":
		_, err = moderation.RemoveMute(h.owner, &moderatov1.RemoveMuteRequest{ChannelId: channel, MutedUserId: user})
	case "clear":
		_, err = moderatov1.NewChatServiceClient(conn).ClearChat(h.moderator, &moderatov1.ClearChatRequest{ChannelId: channel})
	case "post":
		_, err = chat.PostMessage(h.backend, &platformv1.PostMessageRequest{ChannelId: channel, UserId: user, Text: "hello", MessageId: s.id})
	case "pending":
		r, err := queue.ListHeldMessages(h.backend, &moderatov1.ListHeldMessagesRequest{ChannelId: channel, Limit: new(int32(100))})
		var all []string
		for _, m := range r.GetRows() {
			if h.isOwn(m.GetUser().GetId()) {
				all = append(all, m.GetMessageId())
			}
		}
		return result{servertest.OutcomeOf(err).Reason, string(setOf(all...))}
	case "messages":
		r, err := chat.ListMessages(h.backend, &platformv1.ListMessagesRequest{ChannelId: channel, Limit: new(int32(100))})
		var all []string
		for _, m := range r.GetMessages() {
			if h.isOwn(m.GetUserId()) {
				all = append(all, m.GetId())
			}
		}
		return result{servertest.OutcomeOf(err).Reason, string(setOf(all...))}
	default:
		d := &moderatov1.HeldDecision{MessageId: s.id, Decision: "deny"}
		as := h.owner
		switch s.kind {
		case "approve":
			d.Decision, as = "approve", h.moderator
		case "mute":
			d.MuteSeconds = new(int32(3600))
		}
		r, err := queue.DecideHeldMessages(as, &moderatov1.DecideHeldMessagesRequest{ChannelId: channel, Decisions: []*moderatov1.HeldDecision{d}})
		out := result{reason: servertest.OutcomeOf(err).Reason}
		for _, x := range r.GetResults() {
			out.text = x.GetResult() + " " + x.GetStatus()
		}
		return out
	}
	return result{reason: servertest.OutcomeOf(err).Reason}
}

func (h *history) isOwn(user string) bool {
	return slices.ContainsFunc(h.users, func(u uid.ID) bool { return u.String() == user })
}
