package tracing_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/tracing"
)

// BenchmarkTraced lists moderators, and bans and unbans, over gRPC, with and without tracing.
// It reports the CPU time of the process, which varies less than the time on a busy machine;
// the client's is included.
func BenchmarkTraced(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(collector.Close)
	for _, c := range []struct {
		name     string
		settings tracing.Settings
	}{
		{"off", tracing.Settings{}},
		{"0", tracing.Settings{Endpoint: collector.URL, Sampler: sdktrace.ParentBased(sdktrace.NeverSample())}},
		{"10", tracing.Settings{Endpoint: collector.URL, Sampler: sdktrace.ParentBased(sdktrace.TraceIDRatioBased(.1))}},
		{"100", tracing.Settings{Endpoint: collector.URL}},
	} {
		b.Run(c.name, func(b *testing.B) { // stops its server, whose jobs would add to the CPU time of the next
			config := servertest.Config(storetest.SQLite(b))
			config.Tracing = c.settings
			s := servertest.Start(b, config)
			s.Load(b, servertest.World()...)
			ctx, channel, raider := s.As(b, servertest.Owner).Context(), servertest.Owner.String(), servertest.Raider.String()
			b.Run("read", func(b *testing.B) {
				measure(b, func() error {
					_, err := s.Moderation.ListModerators(ctx, &moderatov1.ListModeratorsRequest{ChannelId: channel})
					return err
				})
			})
			b.Run("change", func(b *testing.B) {
				measure(b, func() error {
					_, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: raider})
					if err == nil {
						_, err = s.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: raider})
					}
					return err
				})
			})
		})
	}
}

// measure runs a benchmark, and reports its CPU time.
func measure(b *testing.B, run func() error) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
