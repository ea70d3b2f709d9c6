package background

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// channelsAtOnce is how many channels a sweeper works on at once.
	channelsAtOnce = 8
	// channelTime is how long it works on one channel before it comes to it again.
	channelTime = 5 * time.Second
	// perChannel and perSweep bound the rows that are found at once.
	perChannel = 100
	perSweep   = 2000
)

// Lapsed is a row whose time has come.
type Lapsed struct{ ChannelID, UserID uid.ID }

// FindLapsed finds the rows of a table of which a column is at or before an instant,
// and which match a condition: by their channels, and not more than some of each, so
// that one channel with many hides no other.
func FindLapsed(ctx context.Context, s *store.Store, table, column, condition string, now instant.Instant) (map[uid.ID][]uid.ID, error) {
	lapsed := map[uid.ID][]uid.ID{}
	err := store.QueryEach(ctx, s.Read, `
		SELECT channel_id, user_id FROM (
			SELECT channel_id, user_id, `+column+` AS lapsed_at, ROW_NUMBER() OVER (PARTITION BY channel_id ORDER BY `+column+`) AS place
			FROM `+table+` WHERE `+column+` <= ? AND `+condition+`
		) l WHERE place <= ? ORDER BY lapsed_at, channel_id LIMIT ?`, []any{now, perChannel, perSweep},
		func(scan func(...any) error) error {
			var row Lapsed
			err := scan(&row.ChannelID, &row.UserID)
			lapsed[row.ChannelID] = append(lapsed[row.ChannelID], row.UserID)
			return err
		})
	return lapsed, err
}

// EachChannel handles what was found of each channel, several channels at once and
// each for a bounded time: a channel whose changes have to wait, or that fails, holds
// up no other. It reports whether anything was handled.
func EachChannel(ctx context.Context, lapsed map[uid.ID][]uid.ID, handle func(ctx context.Context, channelID uid.ID, users []uid.ID) (handled int, err error)) (progress bool, err error) {
	var group errgroup.Group
	group.SetLimit(channelsAtOnce)
	var mu sync.Mutex
	for channelID, users := range lapsed {
		group.Go(func() error {
			bounded, cancel := context.WithTimeout(ctx, channelTime)
			defer cancel()
			n, failed := handle(bounded, channelID, users)
			if ctx.Err() == nil && errors.Is(failed, context.DeadlineExceeded) {
				failed = nil // it is this channel's turn again at the next sweep
			}
			mu.Lock()
			defer mu.Unlock()
			progress = progress || n > 0
			err = errors.Join(err, failed)
			return nil
		})
	}
	_ = group.Wait()
	return progress, err
}
