package moderation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// lastWrite is how long the last write may take when the server stops.
	lastWrite = 5 * time.Second
	// metricsPerStatement is how many rows one statement writes. The driver of SQLite takes time
	// that grows with the square of the number of parameters.
	metricsPerStatement = 50
)

// MetricsJob returns the job that writes what this server counted in channels.
func (s *Service) MetricsJob() jobs.Job {
	return jobs.Job{
		Name: "write metrics", Interval: buckets.Fine, Run: jobs.All(s.writeMetrics),
		Stop: func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, lastWrite)
			defer cancel()
			_ = s.writeMetrics(ctx) // a killed server does not write either
		},
	}
}

// writeMetrics writes the counters that have changed. What it cannot write, the next run writes.
func (s *Service) writeMetrics(ctx context.Context) error {
	rows := s.Store.Buckets.Take()
	for len(rows) > 0 {
		some := rows[:min(metricsPerStatement, len(rows))]
		if err := replaceMetrics(ctx, s.Store, some); err != nil {
			s.Store.Buckets.Return(rows)
			return fmt.Errorf("write metrics: %w", err)
		}
		rows = rows[len(some):]
	}
	return nil
}

// replaceMetrics stores rows in place of their earlier states, unless their channel was deleted. It
// may run again: the counts are not added to those that are stored.
func replaceMetrics(ctx context.Context, s *store.Store, rows []buckets.Row) error {
	ids := map[uid.ID]bool{}
	for _, r := range rows {
		ids[r.ChannelID] = true
	}
	return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		existing, err := tx.Channel.Query().Where(channel.IDIn(slices.Collect(maps.Keys(ids))...)).IDs(ctx)
		if err != nil || len(existing) == 0 {
			return err
		}
		var args []any
		count := 0
		for _, r := range rows {
			if slices.Contains(existing, r.ChannelID) {
				count++
				args = append(args, r.ID, r.ChannelID, int64(r.Length/time.Second), r.StartedAt,
					r.Messages, r.FirstMessages, r.Follows, r.Bans, r.Mutes, r.Held, r.Viewers)
			}
		}
		row := ",(" + store.Placeholders(len(args)/count) + ")"
		_, err = tx.ExecContext(ctx, "REPLACE INTO channel_metrics (id, channel_id, seconds, started_at, messages, first_messages, follows, bans, mutes, held, viewers) VALUES "+
			strings.Repeat(row, count)[1:], args...)
		return err
	})
}
