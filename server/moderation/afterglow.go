package moderation

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/moderato-live/moderato/ent"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/jobs"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/textmatch"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// afterglowInterval is how often a server reads the afterglows that other servers
	// began.
	afterglowInterval = 500 * time.Millisecond
	// maxAfterglows is how many afterglows a server handles, the latest to end first.
	maxAfterglows = 1000
)

// Afterglows refuses the posts that match a sweep that was committed recently, and bans
// their senders. Its index is in memory, so that a post without an afterglow in its channel
// costs nothing more.
type Afterglows struct {
	Store *store.Store

	index atomic.Pointer[map[uid.ID][]*afterglow] // by channel
}

// afterglow is the time after a sweep. The index may be out of date, so the sweep's row
// decides in the transaction of a ban.
type afterglow struct {
	conditions

	sweepID digest.SHA256
	until   instant.Instant
}

// Job returns the job that refreshes the index.
func (a *Afterglows) Job() jobs.Job {
	return jobs.Job{Name: "read the afterglows of sweeps", Interval: afterglowInterval, Run: jobs.All(a.Refresh)}
}

// Refresh reads the afterglows.
func (a *Afterglows) Refresh(ctx context.Context) error {
	now, err := a.Store.Clock.Now(ctx, a.Store.Read)
	if err != nil {
		return err
	}
	rows, err := a.Store.Read.Sweep.Query().Where(entsweep.AfterglowUntilGT(now)).Order(ent.Desc(entsweep.FieldAfterglowUntil)).Limit(maxAfterglows).All(ctx)
	if err != nil {
		return fmt.Errorf("read afterglows: %w", err)
	}
	known := map[digest.SHA256]*afterglow{}
	if before := a.index.Load(); before != nil {
		for _, some := range *before {
			for _, g := range some {
				known[g.sweepID] = g
			}
		}
	}
	index := make(map[uid.ID][]*afterglow, len(rows))
	for _, row := range rows {
		g := known[row.ID]
		if g == nil {
			if g, err = newAfterglow(row); err != nil {
				return err
			}
		}
		index[row.ChannelID] = append(index[row.ChannelID], g)
	}
	a.index.Store(&index)
	return nil
}

func newAfterglow(row *ent.Sweep) (*afterglow, error) {
	g := &afterglow{sweepID: row.ID, until: *row.AfterglowUntil, conditions: conditionsOf(row)}
	var err error
	if row.Phrase != "" {
		g.matcher, err = textmatch.Phrase(row.Phrase)
	} else {
		g.matcher, err = textmatch.Pattern(row.Pattern)
	}
	if err != nil {
		return nil, fmt.Errorf("afterglow of channel %s: %w", row.ChannelID, err)
	}
	return g, nil
}

// conditionsOf returns the exemptions of a sweep.
func conditionsOf(row *ent.Sweep) conditions {
	return conditions{
		channelID: row.ChannelID, exemptSubscribers: row.ExemptSubscribers,
		exemptFollowAge: time.Duration(row.ExemptFollowAge) * time.Millisecond,
	}
}

// Refuse returns USER_BANNED, and bans the sender, if an afterglow forbids a message.
func (a *Afterglows) Refuse(ctx context.Context, st *chat.Standing, m chat.Message) error {
	index := a.index.Load()
	if index == nil || len(*index) == 0 {
		return nil
	}
	for _, g := range (*index)[m.ChannelID] {
		if st.Now >= g.until || m.UserID == m.ChannelID || st.IsModerator || st.IsVIP || st.IsOG || !g.matcher.Match(m.Text) {
			continue
		}
		banned, err := a.join(ctx, g, m)
		if err != nil {
			return err
		}
		if banned {
			return apierr.New(moderatov1.Reason_REASON_USER_BANNED)
		}
	}
	return nil
}

// join bans the sender of a message as part of the sweep's batch, and reports whether the
// sender is banned. A sender who is exempt is not.
func (a *Afterglows) join(ctx context.Context, g *afterglow, m chat.Message) (banned bool, err error) {
	plain := context.WithValue(ctx, store.HookKey{}, nil) // the refused call stores no response
	err = change.ApplyUnattended(plain, a.Store, m.ChannelID, func(ctx context.Context, c *change.Change) error {
		banned = false
		row, err := c.Tx.Sweep.Get(ctx, g.sweepID)
		if ent.IsNotFound(err) || (err == nil && (row.AfterglowUntil == nil || c.Now >= *row.AfterglowUntil)) {
			return nil
		}
		if err != nil {
			return err
		}
		exemptions := conditionsOf(row)
		states, err := readStates(ctx, a.Store, c.Tx, &exemptions, c.Now, []uid.ID{m.UserID})
		if err != nil {
			return err
		}
		state := states[m.UserID]
		if state == nil || exemptions.exemption(state, c.Now) != nil {
			return nil
		}
		banned = true
		_, err = joinBatch(ctx, c, row, []uid.ID{m.UserID})
		return err
	})
	return banned, err
}
