package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// raidListeners is how many listeners on another server are told of the bans of a sweep.
const raidListeners = 10

// sweeps measures the preview of a sweep, and a raid that is swept while listeners on
// another server wait for the bans.
func (b *bench) sweeps(ctx context.Context, store string) error {
	if !b.wants("sweep: preview, raid drill", store, "REST") {
		return nil
	}
	c, err := b.openCrowd(ctx, store)
	if err != nil {
		return err
	}
	if err := c.previews(ctx); err != nil {
		return err
	}
	return c.drill(ctx)
}

// preview previews a sweep, and returns its token.
func (c *crowded) preview(ctx context.Context, s *server) (string, error) {
	var got struct {
		SweepToken string
		Matched    int
	}
	err := s.call(ctx, c.owners[s][swept], "POST", "/v1/moderation/sweeps", map[string]any{
		"channelId": id(swept), "phrase": "free sub", "withinSeconds": 3600, "followedWithinSeconds": 3600,
	}, &got)
	if err == nil && got.Matched != raidSize.raiders {
		err = fmt.Errorf("%d users match", got.Matched)
	}
	return got.SweepToken, err
}

func (c *crowded) previews(ctx context.Context) error {
	measured := map[*server][]figures{}
	err := c.alternate(func(s *server, round int) error {
		f, err := timed(ctx, s, 3, func(int) error {
			_, err := c.preview(ctx, s)
			return err
		})
		if round >= 0 {
			measured[s] = append(measured[s], f)
		}
		return err
	})
	r := row{
		What:  fmt.Sprintf("sweep: preview over %s messages and %s follows", thousands(raidSize.messages), thousands(raidSize.follows)),
		Store: c.store, Transport: "REST", Connections: 1, Unit: "s", Target: 1, AtMost: true,
		Floor: medianFigures(measured[c.floor]), Moderato: medianFigures(measured[c.moderato]),
	}
	r.Value = r.Moderato.P50.Seconds()
	r.Note = fmt.Sprintf("%.2f × floor", ratio(measured[c.moderato], measured[c.floor]))
	return c.report(r, err)
}

// drill measures the time from the request for a preview until every listener on another
// server has the last event of the last ban. The floor has no listeners.
func (c *crowded) drill(ctx context.Context) error {
	other, err := c.startModerato(ctx, c.db)
	if err != nil {
		return err
	}
	service, err := c.serviceToken(ctx, c.db)
	if err != nil {
		return err
	}
	measured := map[*server][]figures{}
	err = c.alternate(func(s *server, round int) error {
		other.pause(s != c.moderato)
		told := func() error { return nil }
		if s == c.moderato {
			var hangUp func()
			if told, hangUp, err = listenToBans(ctx, other, service); err != nil {
				return err
			}
			defer hangUp()
		}
		var batch string
		f, err := timed(ctx, s, 1, func(int) (err error) {
			batch, err = c.sweep(ctx, s)
			return errors.Join(err, told())
		})
		if err == nil && s == c.moderato {
			err = c.checkSilence(ctx, other)
		}
		if round >= 0 {
			measured[s] = append(measured[s], f)
		}
		return errors.Join(err, c.undo(ctx, s, swept, batch))
	})
	r := row{
		What:  fmt.Sprintf("raid drill: %s raiders with %s messages swept, banned, and %d listeners on another server told", thousands(raidSize.raiders), thousands(raidSize.messages), raidListeners),
		Store: c.store, Transport: "REST", Unit: "s", Target: 3, AtMost: true,
		Floor: medianFigures(measured[c.floor]), Moderato: medianFigures(measured[c.moderato]),
	}
	r.Value = r.Moderato.P50.Seconds()
	r.Note = fmt.Sprintf("%.2f × floor, which tells nobody", ratio(measured[c.moderato], measured[c.floor]))
	return c.report(r, err)
}

// sweep previews and commits a sweep, and returns the id of the batch. The sweep may still
// be in progress; the listeners have the last event when it is complete.
func (c *crowded) sweep(ctx context.Context, s *server) (string, error) {
	token, err := c.preview(ctx, s)
	if err != nil {
		return "", err
	}
	var got struct{ BatchID string }
	err = s.call(ctx, c.owners[s][swept], "POST", "/v1/moderation/sweeps/commit", map[string]any{"channelId": id(swept), "sweepToken": token}, &got)
	return got.BatchID, err
}

// listenToBans opens listeners. told waits until each has two events of every raider.
func listenToBans(ctx context.Context, s *server, as credentials) (told func() error, hangUp func(), err error) {
	var conns []net.Conn
	hangUp = func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	ended := make(chan error, raidListeners)
	for range raidListeners {
		conn, err := listenTo(ctx, s, as, swept, "channel.ban", "channel.chat.clear_user_messages")
		if err != nil {
			hangUp()
			return nil, nil, err
		}
		conns = append(conns, conn)
		go func() { ended <- receive(conn, 2*raidSize.raiders) }()
	}
	return func() error {
		var failures []error
		for range raidListeners {
			failures = append(failures, <-ended)
		}
		return errors.Join(failures...)
	}, hangUp, nil
}

// receive reads events until a number of them has arrived.
func receive(conn net.Conn, want int) error {
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

// checkSilence checks that another server shows no message of the raid.
func (c *crowded) checkSilence(ctx context.Context, s *server) error {
	var got struct{ Rows []any }
	err := s.call(ctx, c.owners[c.moderato][swept], "GET", "/v1/chats/messages?channelId="+id(swept), nil, &got)
	if err == nil && len(got.Rows) > 0 {
		err = fmt.Errorf("%d messages are visible after the sweep", len(got.Rows))
	}
	return err
}
