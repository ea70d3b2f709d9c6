package held

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// expireInterval is the interval between two looks for messages that are due.
const expireInterval = 500 * time.Millisecond

// ofExistingChannel is the condition that the channel of a message exists. The messages of a
// deleted channel are removed. MySQL would read the messages of each channel for an EXISTS.
const ofExistingChannel = "(SELECT 1 FROM channels c WHERE c.id = held_messages.channel_id) = 1"

// Job returns the job that ends the wait of messages about which nobody decides in time.
func (s *Service) Job() jobs.Job {
	return jobs.Job{
		Name: "end the wait of held messages", Interval: expireInterval,
		Run: jobs.All(s.Expire),
		Due: jobs.Lapsed(s.Store, s.byDue(), "due_at", 0, ofExistingChannel),
	}
}

// byDue is the table of messages, read by when they are due.
func (s *Service) byDue() string { return "held_messages" + s.Store.ByIndex("heldmessage_due_at") }

// Expire ends the wait of every message that is due. It is one change with its event, so it ends
// once, even if several servers look or a server crashes.
func (s *Service) Expire(ctx context.Context) error {
	for {
		now, err := s.Store.Clock.Now(ctx, s.Store.Read)
		if err != nil {
			return err
		}
		due, err := jobs.FindDue[uid.ID](ctx, s.Store, s.byDue(), "id", "due_at", ofExistingChannel, now)
		if err != nil {
			return fmt.Errorf("find held messages that are due: %w", err)
		}
		progress, err := jobs.EachChannel(ctx, due, s.expire)
		if err != nil || !progress {
			return err
		}
	}
}

// expire ends the wait of those of some messages of a channel that are still due. It returns
// their number.
func (s *Service) expire(ctx context.Context, channelID uid.ID, ids []uid.ID) (ended int, err error) {
	err = s.apply(ctx, change.ApplyUnattended, channelID, func(ctx context.Context, c *change.Change) (*waiting, error) {
		w, err := readWaiting(ctx, c, ids)
		if err != nil {
			return nil, err
		}
		before := c.LastSequence()
		err = w.expire(ctx)
		ended = int(c.LastSequence() - before)
		return w, err
	})
	return ended, err
}
