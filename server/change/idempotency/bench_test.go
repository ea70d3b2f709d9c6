package idempotency_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// BenchmarkBanWithKey bans users over gRPC in turn without and with an idempotency key, and
// reports the medians.
func BenchmarkBanWithKey(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		ctx := s.As(b, servertest.Owner).Context()
		users := servertest.AddUsers(b, s.Store, 2*b.N)
		var without, with []time.Duration
		for i := range b.N {
			without = append(without, timeBan(ctx, b, s, users[2*i].String()))
			with = append(with, timeBan(metadata.AppendToOutgoingContext(ctx, idempotency.MetadataKey, newKey()), b, s, users[2*i+1].String()))
		}
		slices.Sort(without)
		slices.Sort(with)
		b.ReportMetric(float64(without[b.N/2].Microseconds()), "µs/without")
		b.ReportMetric(float64(with[b.N/2].Microseconds()), "µs/with")
	})
}

func timeBan(ctx context.Context, b *testing.B, s *servertest.Server, user string) time.Duration {
	b.Helper()
	began := time.Now()
	if _, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user}); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
