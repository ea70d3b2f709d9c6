package held_test

import (
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"

	"context"
)

// BenchmarkDecide approves, denies, or denies with a mute 100 messages of as many senders in one
// request.
func BenchmarkDecide(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		users := servertest.AddUsers(b, s.Store, 100)
		ctx, operations := s.As(b, servertest.Owner).Context(), moderatov1.NewHeldMessagesServiceClient(s.Conn)
		for name, decision := range map[string]*moderatov1.HeldDecision{
			"approve": {Decision: "approve"}, "deny": {Decision: "deny"}, "mute": {Decision: "deny", MuteSeconds: new(int32(1))},
		} {
			b.Run(name, func(b *testing.B) {
				var deciding time.Duration
				for b.Loop() {
					req := &moderatov1.DecideHeldMessagesRequest{ChannelId: servertest.Owner.String()}
					s.Store.Clock.Advance(2 * time.Second)
					now := s.Store.Clock.Local()
					err := s.Store.Write(b.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
						req.Decisions = nil
						rows := make([]*ent.HeldMessageCreate, len(users))
						for i, user := range users {
							id := uid.New()
							rows[i] = tx.HeldMessage.Create().SetID(id).SetChannelID(servertest.Owner).SetUserID(user).SetText("hello").SetDetails("{}").
								SetHeldAt(now).SetExpiresAt(now.Add(time.Hour)).SetDueAt(now.Add(time.Hour)).SetStatus("PENDING")
							req.Decisions = append(req.Decisions, &moderatov1.HeldDecision{MessageId: id.String(), Decision: decision.GetDecision(), MuteSeconds: decision.MuteSeconds})
						}
						return tx.HeldMessage.CreateBulk(rows...).Exec(ctx)
					})
					if err != nil {
						b.Fatal(err)
					}
					began := time.Now()
					if _, err := operations.DecideHeldMessages(ctx, req); err != nil {
						b.Fatal(err)
					}
					deciding += time.Since(began)
				}
				b.ReportMetric(float64(deciding.Milliseconds())/float64(b.N), "ms/request")
			})
		}
	})
}
