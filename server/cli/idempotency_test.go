package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent/event"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestKilledAtEveryStepOfChangeWithKey kills the process before each step of a ban with an
// idempotency key, and after its COMMIT. Another server then gets the request again: the
// ban exists once, and if it existed before, the response is that of the first request.
func TestKilledAtEveryStepOfChangeWithKey(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := &scene{t: t, url: url, db: prepare(t, url)}
		s.owner = callerContext(t, s.db)
		live := s.start()
		banned := 0
		for step := 0; ; step++ {
			halt := storetest.Halt{Of: ofChange, Has: "INSERT INTO `idempotency_keys`", Step: step}
			request := &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: s.newUser().String()}
			ctx := metadata.AppendToOutgoingContext(s.owner, idempotency.MetadataKey, fmt.Sprint("ban-", step))
			reached := s.banAndDie(ctx, halt, request)
			what := fmt.Sprintf("killed before step %d, %.60s", step, reached)
			wasMade := reached == "" || reached == storetest.CommittedStep
			again, isReplay := repeatBan(ctx, t, live.Conn, request)
			if isReplay != wasMade {
				t.Errorf("%s: replayed is %t, want %t", what, isReplay, wasMade)
			}
			third, isReplay := repeatBan(ctx, t, live.Conn, request)
			if !isReplay || !proto.Equal(again, third) {
				t.Errorf("%s: the third response, replayed is %t, is %v; want %v", what, isReplay, third, again)
			}
			banned++
			if reached == "" {
				break
			}
		}
		t.Logf("killed at %d steps", banned)
		events := storetest.Must(s.db.Read.Event.Query().Where(event.Type("channel.ban")).Count(t.Context()))
		if bans := storetest.Must(s.db.Read.Ban.Query().Count(t.Context())); bans != banned || events != banned {
			t.Errorf("%d users are banned and %d bans were announced, want %d", bans, events, banned)
		}
		s.checkRules("at the end")
	})
}

// banAndDie has a server make a ban, and kills it when it stops. It returns the step before
// which the server stopped; empty if there are fewer steps.
func (s *scene) banAndDie(ctx context.Context, halt storetest.Halt, request *moderatov1.BanUserRequest) string {
	s.t.Helper()
	p := serveUpTo(s.t, s.url, storetest.Halt{})
	defer p.Kill()
	conn := p.Dial(s.t)
	p.stopAt(s.t, halt)
	go func() { _, _ = moderatov1.NewModerationServiceClient(conn).BanUser(ctx, request) }()
	return p.stepReached(s.t)
}

// repeatBan makes a ban that must succeed once the database has noticed that the first
// server is dead. It reports whether the response is a replay.
func repeatBan(ctx context.Context, t *testing.T, conn *grpc.ClientConn, request *moderatov1.BanUserRequest) (_ *moderatov1.BanUserResponse, isReplay bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var header metadata.MD
		response, err := moderatov1.NewModerationServiceClient(conn).BanUser(ctx, request, grpc.Header(&header))
		if err == nil {
			return response, len(header.Get(idempotency.ReplayedKey)) > 0
		}
		if servertest.OutcomeOf(err).Reason != "IDEMPOTENCY_KEY_IN_USE" || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestIdempotencyCommand repeats the command of the document, which would fail without its
// key.
func TestIdempotencyCommand(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	command := block(t, "docs/idempotency.md: Idempotency keys/1")
	if out := w.run(t, command); !strings.Contains(out, `"success":true`) || strings.Contains(out, "Idempotent-Replayed") {
		t.Errorf("the command prints %s", out)
	}
	if out := w.run(t, command); !strings.Contains(out, `"success":true`) || !strings.Contains(out, "Idempotent-Replayed: true") {
		t.Errorf("its repeat prints %s", out)
	}
}
