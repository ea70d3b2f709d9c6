package histories_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/test/servertest"
)

const (
	clientsOfHistory = 8
	stepsOfClient    = 8
	usersOfHistory   = 2

	// callTimeout is longer than the deadline of a call on the server.
	callTimeout = 20 * time.Second
	// repeatInterval is how long a client waits before it repeats a call.
	repeatInterval = 10 * time.Millisecond
	// repeatsFor is how long a client repeats a call. It is longer than a restart takes.
	repeatsFor = time.Minute
)

// callers holds the credentials of the clients.
type callers struct{ owner, moderator, backend servertest.Credentials }

// peers are connections to the servers of a history. A restart replaces one.
type peers struct {
	mu    sync.Mutex
	conns []*grpc.ClientConn
}

func (p *peers) at(i int) *grpc.ClientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[i%len(p.conns)]
}

func (p *peers) set(i int, conn *grpc.ClientConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[i] = conn
}

// history is the work of several clients with the same few users.
type history struct {
	callers

	peers *peers
	users []uid.ID
	start time.Time
	// repeats makes clients repeat a call, with the same idempotency key and at the next
	// server, until they know its outcome.
	repeats bool
	// onStep, if not nil, is called after each operation with the number of operations.
	onStep func(n int)

	mu         sync.Mutex
	operations []porcupine.Operation
	batches    []string
}

// run returns the operations of all clients, and of one who looks at the users afterwards.
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
	for user := range h.users {
		h.do(t, user, step{kind: "standing", user: user})
	}
	h.do(t, 0, step{kind: "messages"})
	return h.operations
}

func (h *history) do(t *testing.T, client int, in step) {
	t.Helper()
	called := time.Since(h.start)
	out := h.perform(client, in)
	ended := time.Since(h.start)
	if !slices.Contains([]string{"OK", "NOT_BANNED", "MUTE_ACTIVE", "NOT_MUTED", "USER_BANNED", "USER_MUTED", overloaded}, out.reason) {
		t.Errorf("%s: %s", in.kind, out.reason)
	}
	h.mu.Lock()
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: called.Nanoseconds(), Return: ended.Nanoseconds(),
	})
	n := len(h.operations)
	if id, _, _ := strings.Cut(out.text, " "); in.kind == "batch" && id != "" {
		h.batches = append(h.batches, id)
	}
	h.mu.Unlock()
	if h.onStep != nil {
		h.onStep(n)
	}
}

func (h *history) choose() step {
	kinds := []string{"ban", "ban", "unban", "unban", "mute", "unmute", "post", "post", "standing", "messages", "batch", "undo"}
	s := step{kind: kinds[rand.IntN(len(kinds))], user: rand.IntN(len(h.users))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.kind == "undo" {
		if len(h.batches) == 0 {
			s.kind = "batch"
			return s
		}
		s.batch = h.batches[rand.IntN(len(h.batches))]
	}
	return s
}

// perform performs a step, and returns its result.
func (h *history) perform(client int, s step) result {
	if !h.repeats {
		return h.call(context.Background(), h.peers.at(client), s)
	}
	ctx := context.Background()
	if s.kind != "standing" && s.kind != "messages" {
		ctx = metadata.AppendToOutgoingContext(ctx, idempotency.MetadataKey, uid.New().String())
	}
	for at, giveUp := client, time.Now().Add(repeatsFor); ; at++ {
		r := h.call(ctx, h.peers.at(at), s)
		if !slices.Contains([]string{noResponse, "UNAVAILABLE", "DEADLINE_EXCEEDED", "IDEMPOTENCY_KEY_IN_USE"}, r.reason) || time.Now().After(giveUp) {
			return r
		}
		time.Sleep(repeatInterval)
	}
}

// call makes the call of a step once.
func (h *history) call(ctx context.Context, conn *grpc.ClientConn, s step) result {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	moderation, chat := moderatov1.NewModerationServiceClient(conn), platformv1.NewChatServiceClient(conn)
	channel, user := servertest.Owner.String(), h.users[s.user].String()
	owner, moderator, backend := as(ctx, h.owner), as(ctx, h.moderator), as(ctx, h.backend)
	switch s.kind {
	case "ban":
		_, err := moderation.BanUser(owner, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
		return result{reason: reason(err)}
	case "unban":
		_, err := moderation.RemoveBan(moderator, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
		return result{reason: reason(err)}
	case "mute":
		_, err := moderation.MuteUser(moderator, &moderatov1.MuteUserRequest{ChannelId: channel, MutedUserId: user})
		return result{reason: reason(err)}
	case "unmute":
		_, err := moderation.RemoveMute(owner, &moderatov1.RemoveMuteRequest{ChannelId: channel, MutedUserId: user})
		return result{reason: reason(err)}
	case "post":
		r, err := chat.PostMessage(backend, &platformv1.PostMessageRequest{ChannelId: channel, UserId: user, Text: "hello"})
		return result{reason(err), r.GetMessage().GetId()}
	case "standing":
		r, err := chat.GetStanding(backend, &platformv1.GetStandingRequest{ChannelId: channel, UserId: user})
		return result{reason(err), fmt.Sprint(r.GetIsBanned(), r.GetMuteExpiresAt() != nil)}
	case "messages":
		limit := int32(100)
		r, err := chat.ListMessages(backend, &platformv1.ListMessagesRequest{ChannelId: channel, Limit: &limit})
		return result{reason(err), h.own(r.GetMessages())}
	case "batch":
		req := &moderatov1.BanUsersRequest{ChannelId: channel}
		for _, u := range h.users {
			req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: u.String()})
		}
		r, err := moderation.BanUsers(owner, req)
		return result{reason(err), r.GetBatchId() + " " + statuses(r.GetResults())}
	}
	r, err := moderation.UndoBanBatch(owner, &moderatov1.UndoBanBatchRequest{ChannelId: channel, BatchId: s.batch, RestoreMessages: true})
	return result{reason(err), statuses(r.GetResults())}
}

// as returns a context for a call with credentials and with the metadata of ctx.
func as(ctx context.Context, c servertest.Credentials) context.Context {
	credentials, _ := metadata.FromOutgoingContext(c.Context())
	more, _ := metadata.FromOutgoingContext(ctx)
	return metadata.NewOutgoingContext(ctx, metadata.Join(credentials, more))
}

// noResponse is the reason of a call that no server answered.
const noResponse = "NO_RESPONSE"

// reason returns the reason of an error, or OK.
func reason(err error) string {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	switch s.Code() {
	case codes.OK:
		return "OK"
	case codes.Unavailable:
		return noResponse
	}
	return s.String()
}

// own returns the set of the ids of messages of the history's users.
func (h *history) own(messages []*platformv1.Message) string {
	var ids []string
	for _, m := range messages {
		if slices.ContainsFunc(h.users, func(u uid.ID) bool { return u.String() == m.GetUserId() }) {
			ids = append(ids, m.GetId())
		}
	}
	return set(ids...)
}

// statuses joins the statuses of users.
func statuses(results []*moderatov1.BatchResult) string {
	var all []string
	for _, r := range results {
		all = append(all, r.GetStatus())
	}
	return strings.Join(all, " ")
}
