package moderation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkSweep previews sweeps of 10,000 raiders, who posted 100,000 messages and are among
// 100,000 new followers, and commits and undoes them.
func BenchmarkSweep(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) { benchmarkSweep(b, servertest.Start(b, servertest.Config(url))) })
}

func benchmarkSweep(b *testing.B, s *servertest.Server) {
	s.Load(b, servertest.World()...)
	d := &drive{Server: s, t: b, creds: map[uid.ID]servertest.Credentials{}, chat: s.AsService(b)}
	for _, id := range []uid.ID{servertest.Owner, servertest.Moderator} {
		d.creds[id] = s.As(b, id)
	}
	users := servertest.AddUsers(b, s.Store, 100_000)
	now, err := s.Store.Clock.Now(b.Context(), s.Store.Read)
	if err != nil {
		b.Fatal(err)
	}
	for some := range slices.Chunk(users, 100) {
		d.write(func(tx *ent.Tx) error {
			var rows []*ent.FollowCreate
			for _, id := range some {
				rows = append(rows, tx.Follow.Create().SetChannelID(servertest.Owner).SetUserID(id).SetFollowedAt(now).SetIsNotificationEnabled(false))
			}
			return tx.Follow.CreateBulk(rows...).Exec(b.Context())
		})
	}
	raiders := users[:10_000]
	for range 10 {
		d.postAll(raiders, "Join now and get a free sub at example.com, hurry up!")
	}
	hour := func(r *moderatov1.PreviewSweepRequest) { r.WithinSeconds = new(int64(3600)) }
	for name, options := range map[string][]func(*moderatov1.PreviewSweepRequest){
		"phrase": {hour}, "phrase and follow": {hour, followed(3600)},
		"phrase and first message": {hour, func(r *moderatov1.PreviewSweepRequest) { r.FirstMessageWithinSeconds = new(int64(7200)) }},
		"pattern":                  {hour, func(r *moderatov1.PreviewSweepRequest) { r.Phrase, r.Pattern = nil, new(`(free|cheap)\s+subs?`) }},
	} {
		b.Run("preview by "+name, func(b *testing.B) {
			for b.Loop() {
				if n := d.mustPreview(options...).GetMatched(); n != 10_000 {
					b.Fatalf("%d users match", n)
				}
			}
		})
	}
	b.Run("commit and undo", func(b *testing.B) {
		var committing, undoing time.Duration
		for b.Loop() {
			token := d.mustPreview(hour).GetSweepToken()
			began := time.Now()
			r := d.mustCommit(token)
			committing += time.Since(began)
			began = time.Now()
			if n := d.undo(r.GetBatchId(), true).GetCounts().GetUnbanned(); r.GetStatus() != "COMPLETE" || n != 10_000 {
				b.Fatalf("%v, and %d users are unbanned", r, n)
			}
			undoing += time.Since(began)
		}
		b.ReportMetric(committing.Seconds()/float64(b.N), "s/commit")
		b.ReportMetric(undoing.Seconds()/float64(b.N), "s/undo")
	})
}
