package moderation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/digest"
	"github.com/moderato-live/moderato/server/fair"
	"github.com/moderato-live/moderato/server/idempotency"
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
	// refreshTimeout bounds a refresh, for which the commit of a sweep waits.
	refreshTimeout = 5 * time.Second
	// maxAfterglows is how many afterglows a server handles, the latest to end first, and
	// maxChannelAfterglows how many of them a channel has, so that nobody uses up those of
	// others.
	maxAfterglows        = 10_000
	maxChannelAfterglows = 20
	// maxAfterglowBatch is the size of a batch from which an afterglow bans nobody more: the
	// undo of a batch is one transaction, which must end within a call.
	maxAfterglowBatch = 50_000
	// publishInterval is after how many compilations a refresh publishes the index.
	publishInterval = 64
	// freeSteps is how many steps the matchers of a channel may take for one post without a
	// turn, which is enough for the afterglows of an ordinary raid.
	freeSteps = 250_000
)

// Afterglows refuses the posts that match a sweep that was committed recently, and bans
// their senders. Its index is in memory, so that a post without an afterglow in its channel
// costs nothing more.
type Afterglows struct {
	Store *store.Store
	// Sweeps has the turns for posts that take long to match.
	Sweeps *Sweeps

	index      atomic.Pointer[map[uid.ID][]*afterglow] // by channel
	refreshing *semaphore.Weighted                     // of one
	known      map[digest.SHA256]*afterglow            // used by the refresh
	compile    func(*ent.Sweep) *afterglow             // newAfterglow
}

// NewAfterglows returns Afterglows. Their job must run.
func NewAfterglows(s *store.Store, sweeps *Sweeps) *Afterglows {
	return &Afterglows{Store: s, Sweeps: sweeps, refreshing: semaphore.NewWeighted(1), compile: newAfterglow}
}

// afterglow is the time after a sweep. The index may be out of date, so the sweep's row
// decides in the transaction of a ban.
type afterglow struct {
	conditions

	sweepID digest.SHA256
	until   instant.Instant
	err     error // why it cannot be used; nil if it can
}

// Job returns the job that refreshes the index.
func (a *Afterglows) Job() jobs.Job {
	return jobs.Job{Name: "read the afterglows of sweeps", Interval: afterglowInterval, Run: jobs.All(a.Refresh)}
}

// Refresh reads the afterglows. It leaves out one that it cannot use, and returns an error.
// It compiles each of them once. If its time ends before, it uses those that it has compiled,
// and the next refresh goes on.
func (a *Afterglows) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if err := a.refreshing.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for another refresh of afterglows: %w", err)
	}
	defer a.refreshing.Release(1)
	rows, err := a.read(ctx)
	if err != nil {
		return fmt.Errorf("read afterglows: %w", err)
	}
	known := make(map[digest.SHA256]*afterglow, len(rows))
	for _, row := range rows {
		if g := a.known[row.ID]; g != nil {
			known[row.ID] = g
		}
	}
	a.known = known
	_ = a.publish(rows) // the last one returns all errors
	for i, row := range inTurns(rows, known) {
		if err := ctx.Err(); err != nil {
			_ = a.publish(rows)
			return fmt.Errorf("compile afterglows: %w", err)
		}
		known[row.ID] = a.compile(row)
		if i%publishInterval == 0 {
			_ = a.publish(rows)
		}
	}
	return a.publish(rows)
}

// inTurns returns the rows that are not known, the first of each channel before the second of
// any, so that a channel with many patterns does not delay the others.
func inTurns(rows []*ent.Sweep, known map[digest.SHA256]*afterglow) []*ent.Sweep {
	var rounds [maxChannelAfterglows][]*ent.Sweep
	of := map[uid.ID]int{}
	for _, row := range rows {
		if known[row.ID] == nil {
			round := of[row.ChannelID]
			rounds[round] = append(rounds[round], row)
			of[row.ChannelID]++
		}
	}
	return slices.Concat(rounds[:]...)
}

// publish makes an index of the rows that are known. It returns the errors of those that
// cannot be used.
func (a *Afterglows) publish(rows []*ent.Sweep) error {
	var errs []error
	index := make(map[uid.ID][]*afterglow, len(rows))
	for _, row := range rows {
		switch g := a.known[row.ID]; {
		case g == nil:
		case g.err != nil:
			errs = append(errs, g.err)
		default:
			index[row.ChannelID] = append(index[row.ChannelID], g)
		}
	}
	a.index.Store(&index)
	return errors.Join(errs...)
}

// read returns the sweeps of the afterglows to handle.
func (a *Afterglows) read(ctx context.Context) (rows []*ent.Sweep, err error) {
	now, err := a.Store.Clock.Now(ctx, a.Store.Read)
	if err != nil {
		return nil, err
	}
	err = store.QueryEach(ctx, a.Store.Read, `SELECT id, channel_id, phrase, pattern, exempt_subscribers, exempt_follow_age, afterglow_until
			FROM (SELECT s.*, ROW_NUMBER() OVER (PARTITION BY channel_id ORDER BY afterglow_until DESC, id) AS place FROM sweeps s WHERE afterglow_until > ?) g
			WHERE place <= ? ORDER BY afterglow_until DESC LIMIT ?`, []any{now, maxChannelAfterglows, maxAfterglows},
		func(scan func(...any) error) error {
			row := &ent.Sweep{}
			rows = append(rows, row)
			return scan(&row.ID, &row.ChannelID, &row.Phrase, &row.Pattern, &row.ExemptSubscribers, &row.ExemptFollowAge, &row.AfterglowUntil)
		})
	return rows, err
}

func newAfterglow(row *ent.Sweep) *afterglow {
	g := &afterglow{sweepID: row.ID, until: *row.AfterglowUntil, conditions: exemptionsOf(row)}
	var err error
	if row.Phrase != "" {
		g.matcher, err = textmatch.Phrase(row.Phrase)
	} else {
		g.matcher, err = textmatch.Pattern(row.Pattern)
	}
	if err != nil {
		g.err = fmt.Errorf("afterglow of channel %s: %w", row.ChannelID, err)
	}
	return g
}

// exemptionsOf returns the exemptions of a sweep.
func exemptionsOf(row *ent.Sweep) conditions {
	return conditions{
		channelID: row.ChannelID, exemptSubscribers: row.ExemptSubscribers,
		exemptFollowAge: time.Duration(row.ExemptFollowAge) * time.Millisecond,
	}
}

// Refuse returns USER_BANNED, and bans the sender, if an afterglow forbids a message. It bans
// nobody more once the batch is full.
func (a *Afterglows) Refuse(ctx context.Context, st *chat.Standing, m chat.Message) error {
	index := a.index.Load()
	if index == nil || len(*index) == 0 {
		return nil
	}
	glowing := (*index)[m.ChannelID]
	if len(glowing) == 0 || m.UserID == m.ChannelID || st.IsModerator || st.IsVIP || st.IsOG {
		return nil
	}
	length, steps := textmatch.FoldedLength(m.Text), 0
	for _, g := range glowing {
		if st.Now >= g.until {
			continue
		}
		steps += length * g.matcher.Steps()
		matches, err := a.match(ctx, g, m, steps <= freeSteps)
		if err != nil {
			return err
		}
		if !matches {
			continue
		}
		// A sender who is exempt does not wait for the channel's lock.
		isExempt, err := a.isExempt(ctx, a.Store.Read, &g.conditions, m.UserID, st.Now)
		if err != nil {
			return a.Store.Classify(err)
		}
		if isExempt {
			continue
		}
		refused, err := a.join(ctx, g, m)
		if err != nil {
			return err
		}
		if refused {
			return apierr.New(moderatov1.Reason_REASON_USER_BANNED)
		}
	}
	return nil
}

// match reports whether a message matches, in a turn of the channel unless it is free. So
// patterns that take long delay only the posts of their own channel, and previews.
func (a *Afterglows) match(ctx context.Context, g *afterglow, m chat.Message, isFree bool) (bool, error) {
	if !isFree {
		of := fair.FromContext(ctx)
		of.Owner = fair.Owner{User: m.ChannelID}
		slot, err := a.Sweeps.gate.Acquire(fair.NewContext(ctx, of))
		if err != nil {
			return false, err
		}
		defer slot.Release()
	}
	return g.matcher.Match(m.Text), nil
}

// isExempt reports whether a user is exempt from a sweep, or does not exist.
func (a *Afterglows) isExempt(ctx context.Context, q store.Queryer, of *conditions, userID uid.ID, now instant.Instant) (bool, error) {
	states, err := readStates(ctx, a.Store, q, of, now, []uid.ID{userID})
	if err != nil {
		return false, err
	}
	state := states[userID]
	return state == nil || of.exemption(state, now) != nil, nil
}

// join bans the sender of a message as part of the sweep's batch, and reports whether the
// message is refused. It is not if the sender is exempt. If the batch is full, the message is
// refused and the sender is not banned.
func (a *Afterglows) join(ctx context.Context, g *afterglow, m chat.Message) (refused bool, err error) {
	plain := idempotency.WithoutKey(ctx) // the refused call stores no response
	err = change.ApplyUnattended(plain, a.Store, m.ChannelID, func(ctx context.Context, c *change.Change) error {
		refused = false
		if err := chat.Admit(ctx, a.Store, c.Tx, m.UserID); err != nil {
			return err
		}
		row, err := c.Tx.Sweep.Get(ctx, g.sweepID)
		if ent.IsNotFound(err) || (err == nil && (row.AfterglowUntil == nil || c.Now >= *row.AfterglowUntil)) {
			return nil
		}
		if err != nil {
			return err
		}
		exemptions := exemptionsOf(row)
		isExempt, err := a.isExempt(ctx, c.Tx, &exemptions, m.UserID, c.Now)
		if err != nil || isExempt {
			return err
		}
		refused = true
		if isFull, err := c.Tx.BanBatch.Query().Where(banbatch.ID(*row.BatchID), banbatch.BannedCountGTE(maxAfterglowBatch)).Exist(ctx); err != nil || isFull {
			return err
		}
		_, err = joinBatch(ctx, c, row, []uid.ID{m.UserID})
		return err
	})
	return refused, err
}
