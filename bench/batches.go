package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// batchResponse is the part of the responses to a batch and its undo that is checked.
type batchResponse struct {
	BatchID string `json:"batchId"`
	Counts  struct{ Banned, Unbanned int }
}

// ban bans the next users of the crowd as a batch, and returns its id.
func (c *crowded) ban(ctx context.Context, s *server, channel int) (string, error) {
	type user struct {
		UserID string `json:"userId"`
	}
	users := make([]user, batchSize)
	first := firstOfCrowd + c.banned[s]%raidSize.batches*batchSize
	c.banned[s]++
	for i := range users {
		users[i].UserID = id(first + i)
	}
	var got batchResponse
	err := s.call(ctx, c.owners[s][channel], "POST", "/v1/moderation/bans", map[string]any{"channelId": id(channel), "users": users}, &got)
	if err == nil && got.Counts.Banned != len(users) {
		err = fmt.Errorf("a batch banned %d users", got.Counts.Banned)
	}
	return got.BatchID, err
}

// undo undoes a batch, and restores the messages.
func (c *crowded) undo(ctx context.Context, s *server, channel int, batch string) error {
	var got batchResponse
	err := s.call(ctx, c.owners[s][channel], "DELETE", "/v1/moderation/bans",
		map[string]any{"channelId": id(channel), "batchId": batch, "restoreMessages": true}, &got)
	if err == nil && got.Counts.Unbanned == 0 {
		err = errors.New("an undo lifted no bans")
	}
	return err
}

// batches measures batches of bans, their undo, and bans of others at the same time.
func (b *bench) batches(ctx context.Context, store string) error {
	const what = "batch of 1,000 bans: rate, undo, bans of others"
	if !b.wants(what, store, "REST") {
		return nil
	}
	c, err := b.openCrowd(ctx, store)
	if err != nil {
		return err
	}
	for channel, who := range []string{silent: "of users without messages", chatty: fmt.Sprintf("of users with %d messages", messagesEach)} {
		if err := c.batchesIn(ctx, channel, who); err != nil {
			return err
		}
	}
	c.floor.stop()
	return c.othersBans(ctx)
}

// batchesIn compares batches in a channel, and their undo, with those of the floor.
func (c *crowded) batchesIn(ctx context.Context, channel int, who string) error {
	const inARow = 5
	bans, undos := map[*server][]figures{}, map[*server][]figures{}
	err := c.alternate(func(s *server, round int) error {
		batches := make([]string, inARow)
		made, err := timed(ctx, s, inARow, func(i int) (err error) {
			batches[i], err = c.ban(ctx, s, channel)
			return err
		})
		if err != nil {
			return err
		}
		time.Sleep(settle)
		undone, err := timed(ctx, s, inARow, func(i int) error { return c.undo(ctx, s, channel, batches[i]) })
		if round >= 0 {
			bans[s], undos[s] = append(bans[s], made), append(undos[s], undone)
		}
		return err
	})
	r := row{
		What: "batch of 1,000 bans, " + who, Store: c.store, Transport: "REST", Connections: 1, Unit: "users/s", Target: 10_000,
		Floor: medianFigures(bans[c.floor]), Moderato: medianFigures(bans[c.moderato]),
	}
	r.Value = batchSize * r.Moderato.PerSecond
	r.Note = fmt.Sprintf("%.2f × floor", ratio(bans[c.moderato], bans[c.floor]))
	if err := c.report(r, err); err != nil {
		return err
	}
	return c.report(row{
		What: "undo of a batch of 1,000 bans, " + who + ", against the batch", Store: c.store, Transport: "REST", Connections: 1,
		Value: ratio(bans[c.moderato], undos[c.moderato]), Unit: "× the time", Target: 1, AtMost: true,
		Floor: medianFigures(undos[c.floor]), Moderato: medianFigures(undos[c.moderato]),
		Note: fmt.Sprintf("%.2f × floor", ratio(undos[c.moderato], undos[c.floor])),
	}, nil)
}

// ratio returns the median of the ratios of the rates of neighbouring measurements.
func ratio(of, to []figures) float64 {
	var ratios []float64
	for i := range of {
		ratios = append(ratios, of[i].PerSecond/to[i].PerSecond)
	}
	return median(ratios)
}

// othersBans measures the bans of a moderator while the owner makes batches in the same
// channel: one in a second, and one after the other.
func (c *crowded) othersBans(ctx context.Context) error {
	conns, closeAll, err := dial(ctx, c.moderato, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	service, err := c.serviceToken(ctx, c.db)
	if err != nil {
		return err
	}
	moderator, err := issueUser(service.outgoing(ctx), conns[0], crowd.person(silent, 0))
	if err != nil {
		return err
	}
	r := &raid{bench: c.bench, store: c.store, conns: conns, moderators: []credentials{silent: moderator}, next: crowd.users - 10_000}
	alone, err := r.anothers(ctx, 100)
	if err != nil {
		return err
	}
	for _, load := range []struct {
		what  string
		every time.Duration
		bans  int
	}{{"a batch of 1,000 a second reaches", time.Second, 400}, {"batches of 1,000 one after the other reach", 0, 30}} {
		stop := c.keepBanning(ctx, load.every)
		meanwhile, err := r.anothers(ctx, load.bans)
		perSecond, failure := stop()
		err = c.report(compared(row{
			What: "batch: ban and unban of another moderator while " + load.what + " the channel, against alone", Store: c.store, Transport: "gRPC", Connections: 1,
			Target: 2, Note: fmt.Sprintf("%.1f batches a second, each with its undo", perSecond),
		}, alone, meanwhile), errors.Join(err, failure))
		if err != nil {
			return err
		}
	}
	return nil
}

// anothers returns the median time of a ban and unban of users who were not banned before.
// It repeats a call that the server rejects as overloaded.
func (r *raid) anothers(ctx context.Context, n int) (time.Duration, error) {
	patient := func(call func() error) error {
		for {
			if err := call(); status.Code(err) != codes.Unavailable {
				return err
			}
		}
	}
	took := make([]time.Duration, n)
	for i := range took {
		r.next++
		start := time.Now()
		for _, call := range []func(context.Context, int, int) error{r.ban, r.unban} {
			if err := patient(func() error { return call(ctx, silent, r.next) }); err != nil {
				return 0, err
			}
		}
		took[i] = time.Since(start)
	}
	return median(took), nil
}

// keepBanning makes batches and their undos, one batch in each period, until stop is called,
// which returns how many it made in a second.
func (c *crowded) keepBanning(ctx context.Context, period time.Duration) (stop func() (float64, error)) {
	banning, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	made, began := 0, time.Now()
	go func() {
		var err error
		for err == nil && banning.Err() == nil {
			next := time.After(period)
			var batch string
			if batch, err = c.ban(ctx, c.moderato, silent); err == nil {
				made++
				err = c.undo(ctx, c.moderato, silent, batch)
			}
			select {
			case <-next:
			case <-banning.Done():
			}
		}
		ended <- err
	}()
	return func() (float64, error) {
		cancel()
		err := <-ended
		return float64(made) / time.Since(began).Seconds(), err
	}
}
