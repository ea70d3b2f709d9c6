package erasure

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/erasure"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

const (
	// eraseInterval is how often to look for due erasures.
	eraseInterval = time.Second
	// claimTime is how long other servers leave a claimed erasure alone. It is longer
	// than a batch takes, so that a server that crashes is soon replaced.
	claimTime = 30 * time.Second
)

// Eraser removes the remaining rows of deleted users and channels. It can be killed at
// any point, and several can run concurrently.
type Eraser struct {
	store  *store.Store
	log    *slog.Logger
	tables []tables.Table
}

// NewEraser returns an Eraser that erases rows of the given tables, which must be all
// tables of the database.
func NewEraser(s *store.Store, log *slog.Logger, tables []tables.Table) *Eraser {
	return &Eraser{store: s, log: log, tables: tables}
}

// Job returns the job that erases deleted users and channels.
func (e *Eraser) Job() jobs.Job {
	return jobs.Job{
		Name: "erase deleted users and channels", Interval: eraseInterval,
		Run: jobs.All(e.Erase),
		Due: jobs.Lapsed(e.store, "erasures", "next_at", 0, "1 = 1"),
	}
}

// Erase handles every erasure that is due.
func (e *Eraser) Erase(ctx context.Context) error {
	for {
		now, err := e.store.Clock.Now(ctx, e.store.Read)
		if err != nil {
			return err
		}
		due, err := e.store.Read.Erasure.Query().Where(erasure.NextAtLTE(now)).Order(ent.Asc(erasure.FieldNextAt)).Limit(1).All(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		if err := e.erase(ctx, due[0], now); err != nil {
			return fmt.Errorf("erase %s: %w", due[0].ID, err)
		}
	}
}

// run is one server's run through the steps of an erasure.
type run struct {
	*Eraser

	row   *ent.Erasure
	begun instant.Instant
	claim instant.Instant // the value of NextAt while this server holds the claim
	rows  int
}

// erase runs all steps. A step that was already completed finds no rows left.
func (e *Eraser) erase(ctx context.Context, row *ent.Erasure, now instant.Instant) error {
	r := &run{Eraser: e, row: row, begun: now, claim: row.NextAt}
	work := ofChannel(e.tables)
	if row.IsUser {
		work = append(work, ofUser(e.tables)...)
	}
	for _, s := range work {
		mine, err := r.step(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if !mine {
			return nil
		}
	}
	return r.finish(ctx)
}

// step runs a step. It stops and returns false for mine if this server lost the claim.
func (r *run) step(ctx context.Context, s tables.Step) (mine bool, err error) {
	if s.Search == nil {
		return r.batches(ctx, s.Do)
	}
	for do, err := range s.Search(ctx, r.store, r.row.ID) {
		if err != nil {
			return false, err
		}
		if mine, err := r.batches(ctx, do); err != nil || !mine {
			return mine, err
		}
	}
	return true, nil
}

// batches erases rows in batches until none is left.
func (r *run) batches(ctx context.Context, do tables.StepFunc) (mine bool, err error) {
	for {
		n, mine, err := r.batch(ctx, do)
		if err != nil || !mine {
			return mine, err
		}
		if r.rows += n; n < tables.EraseBatch {
			return true, nil
		}
	}
}

// batch extends the claim and erases a batch of rows, in one transaction. It does nothing
// and returns false for mine if this server lost the claim.
func (r *run) batch(ctx context.Context, do tables.StepFunc) (rows int, mine bool, err error) {
	var next instant.Instant
	err = r.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := r.store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		next = now.Add(claimTime)
		if next <= r.claim {
			next = r.claim + 1
		}
		if mine, err = r.reschedule(ctx, tx, next); err != nil || !mine {
			return err
		}
		rows, err = do(ctx, r.store, tx, r.row.ID)
		return err
	})
	if err == nil && mine {
		r.claim = next
	}
	return rows, mine, err
}

// reschedule sets the time of the next run. It does nothing and returns false if another
// server or a newer request changed the erasure.
func (r *run) reschedule(ctx context.Context, tx *ent.Tx, to instant.Instant) (mine bool, err error) {
	n, err := tx.Erasure.Update().
		Where(erasure.ID(r.row.ID), erasure.RequestedAt(r.row.RequestedAt), erasure.NextAt(r.claim)).
		SetNextAt(to).
		Save(ctx)
	return n > 0, err
}

// finish ends the erasure if this run was the last one: if it began at or after
// DoneAfter. The beginning counts, because a long run passes some tables early. Otherwise
// finish schedules the last run.
func (r *run) finish(ctx context.Context) error {
	return r.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		look := DoneAfter(r.row)
		isLast := r.begun >= look
		if mine, err := r.reschedule(ctx, tx, max(look, r.claim+1)); err != nil || !mine {
			return err
		}
		r.log.InfoContext(ctx, "erased", "id", r.row.ID.String(), "is_user", r.row.IsUser, "rows", r.rows, "is_done", isLast)
		if !isLast {
			return nil
		}
		if r.row.IsUser {
			// Last, because until then a late message has an old generation and is
			// hidden.
			if _, err := tx.MessageGeneration.Delete().Where(messagegeneration.UserID(r.row.ID)).Exec(ctx); err != nil {
				return err
			}
			if _, err := tx.User.Delete().Where(user.ID(r.row.ID)).Exec(ctx); err != nil {
				return err
			}
		}
		return tx.Erasure.DeleteOneID(r.row.ID).Exec(ctx)
	})
}
