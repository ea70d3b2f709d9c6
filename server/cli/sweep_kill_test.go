package cli_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/banbatch"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/ent/sweepchunk"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// sweepDeath describes in which transaction of a commit of a sweep the process is killed.
type sweepDeath struct {
	name string
	halt storetest.Halt
	// chunks is how many transactions ban users.
	chunks int
	// isRecorded reports whether an earlier transaction has recorded the sweep.
	isRecorded bool
}

const (
	ofCommit     = "moderation.(*Service).CommitSweep"
	ofCompletion = "moderation.completeSweep"
)

var sweepDeaths = []sweepDeath{
	{name: "recording", halt: storetest.Halt{Of: ofCommit, Has: "UPDATE `sweeps`"}, chunks: 2},
	{name: "the first bans", halt: storetest.Halt{Of: ofCompletion, Has: "DELETE FROM `sweep_chunks`"}, chunks: 2, isRecorded: true},
	{name: "the last bans", halt: storetest.Halt{Of: ofCompletion, After: ofCompletion, Has: "DELETE FROM `sweep_chunks`"}, chunks: 2, isRecorded: true},
	{name: "storing the response", halt: storetest.Halt{Of: ofCommit, After: ofCompletion, Has: "UPDATE `idempotency_keys`"}, chunks: 1, isRecorded: true},
}

// TestKilledAtEveryStepOfSweep kills the process before each step of each transaction of a
// commit, and after each COMMIT. A sweep that is recorded is completed by another server
// without a call; one that is not has banned nobody. A repeated call gets the outcome.
func TestKilledAtEveryStepOfSweep(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := &scene{t: t, url: url, db: prepare(t, url)}
		s.owner = callerContext(t, s.db)
		live := s.start()
		s.backend = live.AsService(t).Context()
		// A sweep is due after some seconds. The other server does not continue it before the
		// process is dead.
		live.Store.Clock.Advance(-time.Minute)
		kills := 0
		for _, d := range sweepDeaths {
			if !storetest.Takes(t, url, d.name) {
				continue
			}
			found := false
			for step := 0; ; step++ {
				d.halt.Step = step
				x := s.newSweep(live, d, kills)
				reached := x.commitAndDie()
				x.what = fmt.Sprintf("%s, killed before step %d, %.60s", d.name, step, reached)
				x.check(reached)
				kills++
				if reached == "" {
					break
				}
				found = found || strings.HasPrefix(reached, d.halt.Has)
			}
			if !found {
				t.Errorf("%s: no step was %s", d.name, d.halt.Has)
			}
		}
		live.Store.Clock.Advance(time.Minute)
		s.awaitPositions()
		s.checkRules("at the end")
		t.Logf("killed %d times", kills)
	})
}

// awaitPositions waits until the other server has sequenced every event.
func (s *scene) awaitPositions() {
	s.t.Helper()
	if _, err := s.db.DB().Exec("UPDATE event_sequencers SET expires_at = 0"); err != nil { // that of a dead server
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); storetest.Must(s.db.Read.Event.Query().Where(event.PositionIsNil()).Exist(context.Background())); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("there are events without a position")
		}
	}
}

// deadlySweep is a sweep in whose commit the process is killed.
type deadlySweep struct {
	*scene
	sweepDeath

	live     *servertest.Server
	ctx      context.Context // of the commit, with its key
	raiders  []uid.ID
	request  *moderatov1.CommitSweepRequest
	sequence int64 // of the last event before it
	what     string
}

// newSweep previews a sweep of three new raiders.
func (s *scene) newSweep(live *servertest.Server, d sweepDeath, number int) *deadlySweep {
	s.t.Helper()
	x := &deadlySweep{scene: s, sweepDeath: d, live: live, raiders: servertest.AddUsers(s.t, s.db, 3)}
	x.ctx = metadata.AppendToOutgoingContext(s.owner, idempotency.MetadataKey, fmt.Sprint("sweep-", number))
	phrase := fmt.Sprint("raid ", number)
	for _, id := range x.raiders {
		_, err := live.Chat.PostMessage(s.backend, &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: id.String(), Text: phrase})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	preview, err := live.Moderation.PreviewSweep(s.owner,
		&moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), Phrase: &phrase, WithinSeconds: new(int64(3600))})
	if err != nil || preview.GetMatched() != 3 {
		s.t.Fatalf("the preview is %v (%v)", preview, err)
	}
	x.request = &moderatov1.CommitSweepRequest{
		ChannelId: servertest.Owner.String(), SweepToken: preview.GetSweepToken(), Reason: new("raid"), DurationSeconds: new(int64(1209600)),
	}
	if d.chunks == 2 {
		x.split()
	}
	x.sequence = storetest.Must(s.db.Read.Channel.Get(context.Background(), servertest.Owner)).EventSequence
	return x
}

// split makes two chunks of the one that a preview of few users has, so that the sweep takes
// two transactions.
func (x *deadlySweep) split() {
	x.t.Helper()
	err := x.db.Write(context.Background(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		chunk, err := tx.SweepChunk.Query().Where(sweepchunk.Number(0)).Only(ctx)
		if err != nil {
			return err
		}
		rest := chunk.UserIds[len(uid.ID{}):]
		if err := tx.SweepChunk.UpdateOne(chunk).SetUserIds(chunk.UserIds[:len(uid.ID{})]).Exec(ctx); err != nil {
			return err
		}
		return tx.SweepChunk.Create().SetID(uid.New()).SetSweepID(chunk.SweepID).SetChannelID(chunk.ChannelID).SetNumber(1).SetUserIds(rest).Exec(ctx)
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

// commitAndDie has a server commit the sweep, and kills it when it stops. It returns the
// step before which the server stopped; empty if there are fewer steps.
func (x *deadlySweep) commitAndDie() string {
	x.t.Helper()
	p := serveUpTo(x.t, x.url, storetest.Halt{})
	defer p.Kill()
	conn := p.Dial(x.t)
	p.stopAt(x.t, x.halt)
	go func() { _, _ = moderatov1.NewModerationServiceClient(conn).CommitSweep(x.ctx, x.request) }()
	return p.stepReached(x.t)
}

// check checks what the dead server left, and what the other server makes of it.
func (x *deadlySweep) check(reached string) {
	x.t.Helper()
	isRecorded := x.isRecorded || reached == "" || reached == storetest.CommittedStep
	if isRecorded {
		x.awaitCompletion(reached)
		x.checkBans()
	} else if n := x.bans(); n != 0 {
		x.t.Errorf("%s: %d users are banned by a sweep that is not recorded", x.what, n)
	}
	first, _ := x.repeat()
	want := &moderatov1.CommitSweepResponse{BatchId: first.GetBatchId(), Status: "COMPLETE", Counts: &moderatov1.SweepCounts{Banned: 3}}
	if !proto.Equal(want, first) {
		x.t.Errorf("%s: the repeated call returns %v", x.what, first)
	}
	second, isReplay := x.repeat()
	if !isReplay || !proto.Equal(first, second) {
		x.t.Errorf("%s: repeated again, replayed is %t, it returns %v", x.what, isReplay, second)
	}
	x.checkBans()
	if got := storetest.Must(x.db.Read.BanBatch.Query().Where(banbatch.FirstSequenceGT(x.sequence)).Count(context.Background())); got != 1 {
		x.t.Errorf("%s: there are %d batches", x.what, got)
	}
	if n := storetest.Must(x.db.Read.SweepChunk.Query().Count(context.Background())); n != 0 {
		x.t.Errorf("%s: %d chunks remain", x.what, n)
	}
	page, err := x.live.Chat.ListMessages(x.backend, &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String()})
	if err != nil || len(page.GetMessages()) != 0 {
		x.t.Errorf("%s: messages remain: %v (%v)", x.what, page.GetMessages(), err)
	}
}

// awaitCompletion waits until the job of the other server has completed what is due. It
// starts the job at once, except after COMMIT, where the job must start by itself.
func (x *deadlySweep) awaitCompletion(reached string) {
	x.t.Helper()
	if _, err := x.db.DB().Exec("UPDATE sweeps SET due_at = 0 WHERE due_at IS NOT NULL"); err != nil {
		x.t.Fatal(err)
	}
	if reached != storetest.CommittedStep {
		if err := (&moderation.SweepCompleter{Store: x.live.Store}).Complete(context.Background()); err != nil {
			x.t.Errorf("%s: %v", x.what, err)
		}
	}
	for deadline := time.Now().Add(patience); storetest.Must(x.db.Read.Sweep.Query().Where(sweep.DueAtNotNil()).Exist(context.Background())); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%s: the sweep is not completed", x.what)
		}
	}
}

// repeat commits the sweep again, on the other server, once the database has noticed that
// the first server is dead.
func (x *deadlySweep) repeat() (_ *moderatov1.CommitSweepResponse, isReplay bool) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var header metadata.MD
		response, err := x.live.Moderation.CommitSweep(x.ctx, x.request, grpc.Header(&header))
		if err == nil {
			return response, len(header.Get(idempotency.ReplayedKey)) > 0
		}
		if servertest.OutcomeOf(err).Reason != "IDEMPOTENCY_KEY_IN_USE" || time.Now().After(deadline) {
			x.t.Fatalf("%s: %v", x.what, err)
		}
	}
}

func (x *deadlySweep) bans() int {
	x.t.Helper()
	return storetest.Must(x.db.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserIDIn(x.raiders...)).Count(context.Background()))
}

// checkBans checks that each raider is banned once, and that each ban has its two events, in
// the channel's sequence without a gap.
func (x *deadlySweep) checkBans() {
	x.t.Helper()
	if n := x.bans(); n != len(x.raiders) {
		x.t.Errorf("%s: %d users are banned", x.what, n)
	}
	events := storetest.Must(x.db.Read.Event.Query().Where(event.ChannelID(servertest.Owner), event.SequenceGT(x.sequence)).
		Order(ent.Asc(event.FieldSequence)).All(context.Background()))
	banned := map[uid.ID]bool{}
	for i, e := range events {
		want := []string{"channel.ban", "channel.chat.clear_user_messages"}[i%2]
		if e.Type != want || e.Sequence != x.sequence+int64(i+1) || !slices.Contains(x.raiders, *e.TargetID) {
			x.t.Errorf("%s: event %d is %s with sequence %d, want %s", x.what, i, e.Type, e.Sequence, want)
		}
		banned[*e.TargetID] = true
	}
	if len(events) != 2*len(x.raiders) || len(banned) != len(x.raiders) {
		x.t.Errorf("%s: %d events about %d users", x.what, len(events), len(banned))
	}
}
