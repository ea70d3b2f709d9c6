package live

import (
	"context"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatserver"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
)

// join counts a listener. When it returns, the other servers pass messages on to this one,
// unless the announcement could not be written. Then it is written later: a listener must
// not depend on a write, because it also receives the events that are kept.
func (x *exchange) join(ctx context.Context) {
	if !x.enter() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), joinTimeout)
	defer cancel()
	if err := x.announceOnce(ctx); err != nil {
		x.hub.log.WarnContext(ctx, "listeners for chat could not be announced to other servers; it will be tried again", "error", err)
		x.state.Lock()
		x.failedAt = time.Now()
		x.state.Unlock()
	}
}

// enter counts a listener, and reports whether it needs an announcement.
func (x *exchange) enter() bool {
	x.state.Lock()
	defer x.state.Unlock()
	x.listeners++
	return x.mustAnnounce()
}

// mustAnnounce reports whether a listener needs an announcement. The caller must hold state.
func (x *exchange) mustAnnounce() bool {
	return x.wantsTable() && (!x.isReading || time.Since(x.freshAt) > freshTime) && time.Since(x.failedAt) > retryTime
}

// announceOnce announces the listeners, unless that was done or failed while it waited.
func (x *exchange) announceOnce(ctx context.Context) error {
	if err := x.joining.Acquire(ctx, 1); err != nil {
		return err
	}
	defer x.joining.Release(1)
	x.state.Lock()
	isNeeded := x.mustAnnounce()
	x.state.Unlock()
	if !isNeeded {
		return nil
	}
	return x.announce(ctx)
}

func (x *exchange) leave() {
	x.state.Lock()
	defer x.state.Unlock()
	x.listeners--
}

// announce writes until when this server has listeners. If it had none before, reading
// begins with the batches that follow.
func (x *exchange) announce(ctx context.Context) error {
	began := time.Now()
	if err := x.writeAnnouncement(ctx, listenTime); err != nil {
		return err
	}
	if x.refresh(began) {
		return nil
	}
	latest, err := x.sequences(ctx)
	if err != nil {
		return err
	}
	x.state.Lock()
	defer x.state.Unlock()
	if x.link == nil { // otherwise numbers tell what is new
		for server, sequence := range latest {
			latest[server] = max(sequence, x.seen[server]) // reading may have been under way
		}
		x.seen = latest
	}
	x.start(latest)
	x.isReading, x.freshAt = true, began
	x.began.Raise()
	return nil
}

// refresh records that the announcement was written at a time, if this server is reading
// batches already. It reports whether it is.
func (x *exchange) refresh(at time.Time) bool {
	x.state.Lock()
	defer x.state.Unlock()
	if x.isReading {
		x.freshAt = at
	}
	return x.isReading
}

// writeAnnouncement writes that this server has listeners for a time.
func (x *exchange) writeAnnouncement(ctx context.Context, listens time.Duration) error {
	s := x.hub.store
	write := func() error {
		return s.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			now, err := s.Clock.Now(ctx, tx)
			if err != nil {
				return err
			}
			until := instant.Instant(0)
			if listens > 0 {
				until = now.Add(listens)
			}
			updated, err := tx.ChatServer.Update().Where(chatserver.ID(x.id)).SetListensUntil(until).SetExpiresAt(now.Add(rowTime)).Save(ctx)
			if err != nil || updated > 0 {
				return err
			}
			exists, err := tx.ChatServer.Query().Where(chatserver.ID(x.id)).Exist(ctx)
			if err != nil || exists { // a database may not count a row that stays as it is
				return err
			}
			return tx.ChatServer.Create().SetID(x.id).SetListensUntil(until).SetSequence(0).SetExpiresAt(now.Add(rowTime)).Exec(ctx)
		})
	}
	err := write()
	if s.IsDuplicate(err) { // a batch created the row meanwhile
		err = write()
	}
	return err
}

// Jobs returns the jobs that announce to the other servers whether this one has listeners, and
// that read the messages of the other servers.
func (h *Hub) Jobs() []jobs.Job {
	x := &h.exchange
	announce := jobs.Job{Name: "announce listeners for chat", Interval: renewInterval, Run: jobs.All(x.renew), Stop: x.withdraw}
	read := jobs.Job{
		Name: "read chat of other servers", Interval: receiveInterval, Wake: x.began, MaxPause: 10 * receiveInterval,
		Run: jobs.All(x.readAll), IsActive: x.reads,
	}
	if x.link == nil {
		return []jobs.Job{announce, read}
	}
	return x.link.jobs(announce, read)
}

// withdraw withdraws the announcement.
func (x *exchange) withdraw(ctx context.Context) {
	if x.reads() {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		_ = x.writeAnnouncement(ctx, 0) // it lapses anyway
	}
}

// renew renews the announcement.
func (x *exchange) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	if err := x.joining.Acquire(ctx, 1); err != nil {
		return err
	}
	defer x.joining.Release(1)
	x.state.Lock()
	wantsTable, isReading := x.wantsTable(), x.isReading
	if !wantsTable {
		x.isReading = false
	}
	x.state.Unlock()
	switch {
	case wantsTable:
		return x.announce(ctx)
	case isReading:
		return x.writeAnnouncement(ctx, 0)
	}
	return nil
}
