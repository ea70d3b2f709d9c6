package moderation

import (
	"context"
	"fmt"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/tableindex"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// afterglowInterval is how often a server reads the afterglows that other servers
	// began.
	afterglowInterval = 500 * time.Millisecond
	// maxAfterglows is how many afterglows a server handles, the latest to end first, and
	// maxChannelAfterglows how many of them a channel has, so that nobody uses up those of
	// others.
	maxAfterglows        = 10_000
	maxChannelAfterglows = 20
	// maxAfterglowBatch is the size of a batch from which an afterglow bans nobody more: the
	// undo of a batch is one transaction, which must end within a call.
	maxAfterglowBatch = 50_000
	// afterglowBudget is how many bytes the matchers of afterglows have together. Those of the
	// channel that has most make room, and are compiled again when they are needed.
	afterglowBudget = 32 << 20
	// FreeSteps is how many steps the matchers of a channel may take for one post without a
	// turn, which is enough for the afterglows of an ordinary raid.
	FreeSteps = 250_000
)

// Afterglows refuses the posts that match a sweep that was committed recently, and bans
// their senders. Its index is in memory, so that a post without an afterglow in its channel
// costs nothing more.
type Afterglows struct {
	Store *store.Store
	// Sweeps has the turns for posts that take long to match.
	Sweeps *Sweeps

	index *tableindex.Index[glowing, *afterglow]
}

// NewAfterglows returns Afterglows. Their job must run.
func NewAfterglows(s *store.Store, sweeps *Sweeps) *Afterglows {
	return newAfterglows(s, sweeps, afterglowBudget)
}

func newAfterglows(s *store.Store, sweeps *Sweeps, budget int) *Afterglows {
	a := &Afterglows{Store: s, Sweeps: sweeps}
	a.index = tableindex.New(budget, a.read, a.load)
	return a
}

// glowing is an afterglow as the index has it. The index may be out of date, so the sweep's row
// decides in the transaction of a ban.
type glowing struct {
	sweepID digest.SHA256
	until   instant.Instant
}

// afterglow is the time after a sweep.
type afterglow struct {
	conditions

	sweepID digest.SHA256
}

// Job returns the job that refreshes the index.
func (a *Afterglows) Job() jobs.Job {
	return jobs.Job{
		Name: "read the afterglows of sweeps", Interval: afterglowInterval, Run: jobs.All(a.Refresh),
		Due: func() (string, []any) {
			now, args := a.Store.Clock.Expression()
			return "SELECT 1 FROM sweeps WHERE afterglow_until > " + now, args
		},
		IsUncounted: true, IsActive: a.index.HasRows,
	}
}

// Refresh reads which afterglows there are.
func (a *Afterglows) Refresh(ctx context.Context) error {
	if err := a.index.Refresh(ctx); err != nil {
		return fmt.Errorf("read afterglows: %w", err)
	}
	return nil
}

// read returns the afterglows to handle, by channel.
func (a *Afterglows) read(ctx context.Context) (map[uid.ID][]glowing, error) {
	now, err := a.Store.Clock.Now(ctx, a.Store.Read)
	if err != nil {
		return nil, err
	}
	present := map[uid.ID][]glowing{}
	err = store.QueryEach(ctx, a.Store.Read, `SELECT id, channel_id, afterglow_until
			FROM (SELECT s.*, ROW_NUMBER() OVER (PARTITION BY channel_id ORDER BY afterglow_until DESC, id) AS place FROM sweeps s WHERE afterglow_until > ?) g
			WHERE place <= ? ORDER BY afterglow_until DESC LIMIT ?`, []any{now, maxChannelAfterglows, maxAfterglows},
		func(scan func(...any) error) error {
			var g glowing
			var channelID uid.ID
			err := scan(&g.sweepID, &channelID, &g.until)
			present[channelID] = append(present[channelID], g)
			return err
		})
	return present, err
}

// load compiles the phrase or pattern of an afterglow. An afterglow that was removed, or whose
// pattern a later version allowed, matches nothing.
func (a *Afterglows) load(ctx context.Context, of glowing) (*afterglow, int, error) {
	g := &afterglow{sweepID: of.sweepID}
	row, err := a.Store.Read.Sweep.Get(ctx, of.sweepID)
	switch {
	case ent.IsNotFound(err):
		return g, 0, nil
	case err != nil:
		return nil, 0, a.Store.Classify(err)
	}
	g.conditions = exemptionsOf(row)
	if row.Phrase != "" {
		g.matcher, _ = textmatch.Phrase(row.Phrase)
	} else {
		g.matcher, _ = textmatch.Pattern(row.Pattern)
	}
	if g.matcher == nil {
		return g, 0, nil
	}
	return g, g.matcher.Size(), nil
}

// exemptionsOf returns the exemptions of a sweep.
func exemptionsOf(row *ent.Sweep) conditions {
	return conditions{
		channelID: row.ChannelID, exemptSubscribers: row.ExemptSubscribers,
		exemptFollowAge: time.Duration(row.ExemptFollowAge) * time.Millisecond,
	}
}

// Check returns USER_BANNED, and bans the sender, if an afterglow forbids a message. It bans
// nobody more once the batch is full.
func (a *Afterglows) Check(ctx context.Context, st *chat.Standing, m chat.Message) error {
	present := a.index.Of(m.ChannelID)
	if len(present) == 0 || m.UserID == m.ChannelID || st.IsModerator || st.IsVIP || st.IsOG {
		return nil
	}
	steps := 0
	for _, row := range present {
		if st.Now >= row.Key.until {
			continue
		}
		g, matches, err := a.match(ctx, row, m, &steps)
		if err != nil {
			return err
		}
		if !matches {
			continue
		}
		// A sender who is exempt does not wait for the channel's lock.
		isExempt, err := a.isExempt(ctx, a.Store.Read, g.sweepID, &g.conditions, m.UserID, st.Now)
		if err != nil {
			return a.Store.Classify(err)
		}
		if isExempt {
			continue
		}
		refusal, err := a.join(ctx, g, m)
		if err != nil {
			return err
		}
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// match reports whether a message matches an afterglow, and adds to the steps of the message. If
// there are many, or the afterglow has to be compiled, it takes a turn of the channel. So
// patterns that take long delay only the posts of their own channel, and previews.
func (a *Afterglows) match(ctx context.Context, row *tableindex.Row[glowing, *afterglow], m chat.Message, steps *int) (*afterglow, bool, error) {
	g, isCompiled := a.index.Present(row)
	if isCompiled && g.matcher != nil {
		*steps += textmatch.FoldedLength(m.Text) * g.matcher.Steps()
	}
	if !isCompiled || *steps > FreeSteps {
		release, err := a.Sweeps.Turn(ctx, m.ChannelID)
		if err != nil {
			return nil, false, err
		}
		defer release()
		if g, err = a.index.Get(ctx, m.ChannelID, row); err != nil {
			return nil, false, err
		}
	}
	return g, g.matcher != nil && g.matcher.Match(m.Text), nil
}

// isExempt reports whether a user is exempt from a sweep or pardoned, or does not exist.
func (a *Afterglows) isExempt(ctx context.Context, q store.Queryer, sweep digest.SHA256, of *conditions, userID uid.ID, now instant.Instant) (bool, error) {
	if pardoned, err := isPardoned(ctx, q, of.channelID, sweep, userID); err != nil || pardoned {
		return pardoned, err
	}
	states, err := readStates(ctx, a.Store, q, of, now, []uid.ID{userID})
	if err != nil {
		return false, err
	}
	state := states[userID]
	return state == nil || of.exemption(state, now) != nil, nil
}

// join bans the sender of a message as part of the sweep's batch, and returns with
// what the message is refused; nil if it is not, because the sender is exempt or the afterglow
// is over. If the batch is full, the message is refused until the end of the afterglow, and the
// sender is not banned.
func (a *Afterglows) join(ctx context.Context, g *afterglow, m chat.Message) (refusal *apierr.Error, err error) {
	plain := idempotency.WithoutKey(ctx) // the refused call stores no response
	err = change.ApplyUnattended(plain, a.Store, m.ChannelID, func(ctx context.Context, c *change.Change) error {
		refusal = nil
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
		if mayGoOn, err := endIfUnauthorized(ctx, c, row); err != nil || !mayGoOn {
			return err
		}
		exemptions := exemptionsOf(row)
		isExempt, err := a.isExempt(ctx, c.Tx, g.sweepID, &exemptions, m.UserID, c.Now)
		if err != nil || isExempt {
			return err
		}
		refusal = apierr.UserBanned(row.AfterglowUntil, c.Now)
		if isFull, err := c.Tx.BanBatch.Query().Where(banbatch.ID(*row.BatchID), banbatch.BannedCountGTE(maxAfterglowBatch)).Exist(ctx); err != nil || isFull {
			return err
		}
		expiresAt, err := expiryOfJoined(ctx, c, row)
		if err != nil {
			return err
		}
		refusal = apierr.UserBanned(expiresAt, c.Now)
		_, err = joinBatch(ctx, c, row, []uid.ID{m.UserID})
		return err
	})
	return refusal, err
}
