package moderation

import (
	"context"
	"fmt"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
)

const (
	// metricsKept is how long the metrics of channels are kept.
	metricsKept = 8 * 24 * time.Hour
	// defaultStep is the length of an interval unless the request says otherwise.
	defaultStep = time.Minute
	// latestBuckets is how many intervals are returned unless the request says since when, and
	// maxBuckets how many are returned at most.
	latestBuckets = 60
	maxBuckets    = 500
)

// GetMetrics returns what happened in a channel, by intervals of time.
func (s *Service) GetMetrics(ctx context.Context, req *moderatov1.GetMetricsRequest) (*moderatov1.GetMetricsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	since, hasSince := f.Time("since", req.GetSince())
	step := defaultStep
	if req.StepSeconds != nil {
		step = seconds(f, "stepSeconds", req.StepSeconds)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if !hasSince {
		since = now.Add(-(latestBuckets - 1) * step)
	}
	rows, err := readMetrics(ctx, s.Store, channelID, newRange(since, now, step))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", s.Store.Classify(err))
	}
	return &moderatov1.GetMetricsResponse{Rows: rows}, nil
}

// metricsRange is a number of intervals, one after the other.
type metricsRange struct {
	from  instant.Instant
	step  time.Duration
	count int
}

// newRange returns the intervals from the one that contains since until the present one. It leaves
// out those that began before the rows that are kept, and those after the first maxBuckets.
func newRange(since, now instant.Instant, step time.Duration) metricsRange {
	length := instant.Instant(step.Milliseconds())
	start := func(at instant.Instant) instant.Instant { return at - at%length }
	from := max(start(since), start(now.Add(-metricsKept))+length)
	return metricsRange{from, step, int(max(0, min(maxBuckets, (start(now)-from)/length+1)))}
}

// end returns the end of the last interval.
func (r metricsRange) end() instant.Instant { return r.from.Add(time.Duration(r.count) * r.step) }

// metricsQuery holds the parameters of channelMetrics.
type metricsQuery struct {
	channelID uid.ID
	of        metricsRange
}

// channelMetrics selects what all servers counted in a channel. The rows come in the order of the
// index, and the caller adds them up by steps, so that the database sorts nothing.
var channelMetrics = store.Declare(func(d *store.Dialect, q metricsQuery) (string, []any) {
	length := buckets.Fine
	if q.of.step%buckets.Coarse == 0 {
		length = buckets.Coarse
	}
	sum := func(column string) string { return "CAST(SUM(" + column + ") AS SIGNED), " }
	return "SELECT started_at, " + sum("messages") + sum("first_messages") + sum("follows") + sum("bans") + sum("mutes") + sum("held") + "MAX(viewers)" +
			" FROM channel_metrics" + d.ByIndex("channelmetric_channel_id_seconds_started_at") +
			" WHERE channel_id = ? AND seconds = ? AND started_at >= ? AND started_at < ? GROUP BY started_at ORDER BY started_at",
		[]any{q.channelID, int64(length / time.Second), q.of.from, q.of.end()}
})

// readMetrics reads the intervals of a channel.
func readMetrics(ctx context.Context, s *store.Store, channelID uid.ID, of metricsRange) ([]*moderatov1.MetricsBucket, error) {
	rows := make([]*moderatov1.MetricsBucket, of.count)
	for i := range rows {
		rows[i] = &moderatov1.MetricsBucket{StartedAt: of.from.Add(time.Duration(i) * of.step).Proto()}
	}
	if of.count == 0 {
		return rows, nil
	}
	err := channelMetrics.Each(ctx, s, metricsQuery{channelID, of}, func(r *store.Row) error {
		b := rows[r.Instant().Sub(of.from)/of.step]
		b.Messages += r.Int()
		b.FirstMessages += r.Int()
		b.Follows += r.Int()
		b.Bans += r.Int()
		b.Mutes += r.Int()
		b.Held += r.Int()
		if viewers := r.OptionalInt(); viewers != nil && (b.Viewers == nil || *viewers > *b.Viewers) {
			b.Viewers = viewers
		}
		return nil
	})
	return rows, err
}
