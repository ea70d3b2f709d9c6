package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// batchRows are batches of bans in a channel, and their undo.
func batchRows() (all []measurement) {
	for _, of := range []struct {
		channel int
		who     string
	}{{silent(), "users without messages"}, {chatty(), fmt.Sprintf("each user has %d messages", messagesEach)}} {
		all = append(all, measurement{
			row:   row{What: "batch of 1,000 bans (" + of.who + ")", Transport: "gRPC", Connections: 1, Unit: "users/s", Bound: 10_000},
			group: "batches", crowd: true,
			run: func(ctx context.Context, p *pair, r row) error { return p.batches(ctx, r, of.channel) },
		})
	}
	return all
}

// batches measures batches and their undos, some of each in a row.
func (p *pair) batches(ctx context.Context, r row, channel int) error {
	const inARow = 5
	banned, undos := map[*server]int{}, map[*server][]figures{}
	r, err := p.inTurns(r, func(s *server, round int) (figures, error) {
		client, closeAll, err := moderationOf(ctx, s)
		if err != nil {
			return figures{}, err
		}
		defer closeAll()
		batches := make([]string, inARow)
		made, err := timed(s, inARow, func(i int) (err error) {
			batches[i], err = banBatch(ctx, client, s, channel, banned[s]%data.batches)
			banned[s]++
			return err
		})
		if err != nil {
			return figures{}, err
		}
		time.Sleep(settle)
		undone, err := timed(s, inARow, func(i int) error { return undoBatch(ctx, client, s, channel, batches[i]) })
		if round >= 0 {
			undos[s] = append(undos[s], undone)
		}
		return made, err
	})
	if err != nil {
		return err
	}
	r.Value = batchSize * r.Moderato.PerSecond
	batch := r.Moderato.P50
	if err := p.report(r, nil); err != nil {
		return err
	}
	r.What = "undo of a " + r.What + ", compared with the time of the batch"
	r.Floor, r.Moderato = medianFigures(undos[p.floor]), medianFigures(undos[p.moderato])
	r.Ratio = r.Moderato.PerSecond / r.Floor.PerSecond
	r.Value, r.Unit, r.Bound, r.AtMost = float64(r.Moderato.P50)/float64(batch), "× the time", 1, true
	return p.report(r, nil)
}

func moderationOf(ctx context.Context, s *server) (moderatov1.ModerationServiceClient, func(), error) {
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return nil, nil, err
	}
	return moderatov1.NewModerationServiceClient(conns[0]), closeAll, nil
}

// banBatch bans a batch of users, and returns its id.
func banBatch(ctx context.Context, client moderatov1.ModerationServiceClient, s *server, channel, batch int) (string, error) {
	req := &moderatov1.BanUsersRequest{ChannelId: id(channel)}
	for i := range batchSize {
		req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id(user(batch*batchSize + i))})
	}
	res, err := client.BanUsers(s.owners[channel].outgoing(ctx), req)
	if err == nil && res.GetCounts().GetBanned() != batchSize {
		err = fmt.Errorf("a batch banned %d users", res.GetCounts().GetBanned())
	}
	return res.GetBatchId(), err
}

// undoBatch undoes a batch, and restores the messages.
func undoBatch(ctx context.Context, client moderatov1.ModerationServiceClient, s *server, channel int, batch string) error {
	res, err := client.UndoBanBatch(s.owners[channel].outgoing(ctx),
		&moderatov1.UndoBanBatchRequest{ChannelId: id(channel), BatchId: batch, RestoreMessages: true})
	if err == nil && res.GetCounts().GetUnbanned() == 0 {
		err = errors.New("an undo lifted no bans")
	}
	return err
}
