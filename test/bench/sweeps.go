package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// raidListeners is how many listeners on another server are told of the bans of a sweep.
const raidListeners = 10

// sweepRows are the preview of a sweep, and a raid that is swept while listeners on another
// server wait for the bans.
func sweepRows() []measurement {
	return []measurement{
		{row{
			What:      fmt.Sprintf("preview of a sweep over %d messages and %d follows", data.messages, data.follows),
			Transport: "gRPC", Connections: 1, Unit: "s", Bound: 1, AtMost: true,
		}, "sweeps", true, previews},
		{row{
			What: fmt.Sprintf("raid drill: a sweep finds and bans %d raiders, who posted %d messages, and %d listeners on another server are notified",
				data.raiders, data.messages, raidListeners),
			Transport: "gRPC", Connections: 1, Unit: "s", Bound: 3, AtMost: true,
		}, "sweeps", true, raidDrill},
	}
}

// preview previews a sweep, and returns its token.
func preview(ctx context.Context, client moderatov1.ModerationServiceClient, s *server) (string, error) {
	phrase, hour := "free sub", int64(3600)
	res, err := client.PreviewSweep(s.owners[swept()].outgoing(ctx),
		&moderatov1.PreviewSweepRequest{ChannelId: id(swept()), Phrase: &phrase, WithinSeconds: &hour, FollowedWithinSeconds: &hour})
	if err == nil && int(res.GetMatched()) != data.raiders {
		err = fmt.Errorf("%d users match", res.GetMatched())
	}
	return res.GetSweepToken(), err
}

func previews(ctx context.Context, p *pair, r row) error {
	r, err := p.inTurns(r, func(s *server, _ int) (figures, error) {
		client, closeAll, err := moderationOf(ctx, s)
		if err != nil {
			return figures{}, err
		}
		defer closeAll()
		return timed(s, 3, func(int) error {
			_, err := preview(ctx, client, s)
			return err
		})
	})
	r.Value = r.Moderato.P50.Seconds()
	return p.report(r, err)
}

// sweep previews and commits a sweep, and returns the id of the batch. The sweep may still
// be in progress; the listeners have the last event when it is complete.
func sweep(ctx context.Context, client moderatov1.ModerationServiceClient, s *server) (string, error) {
	token, err := preview(ctx, client, s)
	if err != nil {
		return "", err
	}
	res, err := client.CommitSweep(s.owners[swept()].outgoing(ctx), &moderatov1.CommitSweepRequest{ChannelId: id(swept()), SweepToken: token})
	return res.GetBatchId(), err
}

// raidDrill measures the time from the request for a preview until every listener on another
// server has the last event of the last ban.
func raidDrill(ctx context.Context, p *pair, r row) error {
	other, err := p.startModerato(ctx, "other", p.program("moderato"), p.moderato.db)
	if err != nil {
		return err
	}
	other.service = p.moderato.service
	r, err = p.inTurns(r, func(s *server, _ int) (figures, error) {
		client, closeAll, err := moderationOf(ctx, s)
		if err != nil {
			return figures{}, err
		}
		defer closeAll()
		other.pause(s != p.moderato)
		told := func() error { return nil }
		if s == p.moderato {
			if told, err = listenToBans(ctx, other); err != nil {
				return figures{}, err
			}
		}
		var batch string
		f, err := timed(s, 1, func(int) (err error) {
			batch, err = sweep(ctx, client, s)
			return errors.Join(err, told())
		})
		if err != nil {
			return f, err
		}
		return f, undoBatch(ctx, client, s, swept(), batch)
	})
	r.Value = r.Moderato.P50.Seconds()
	return p.report(r, err)
}

// listenToBans opens listeners. told waits until each has two events of every raider.
func listenToBans(ctx context.Context, s *server) (told func() error, err error) {
	var listeners errgroup.Group
	for range raidListeners {
		conn, err := listenTo(ctx, s, s.service, swept(), "channel.ban", "channel.chat.clear_user_messages")
		if err != nil {
			return nil, err
		}
		listeners.Go(func() error { return receive(conn, 2*data.raiders) })
	}
	return listeners.Wait, nil
}

// receive reads events until a number of them has arrived, and hangs up.
func receive(conn net.Conn, want int) error {
	defer func() { _ = conn.Close() }()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	buffer, last := make([]byte, 64<<10), byte(0)
	for got := 0; got < want; {
		n, err := conn.Read(buffer)
		if err != nil {
			return fmt.Errorf("a listener has %d of %d events: %w", got, want, err)
		}
		for _, b := range buffer[:n] {
			if b == '\n' && last == '\n' { // the end of an event
				got++
			}
			last = b
		}
	}
	return nil
}
