package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// rawBans reads the rows of all bans with one statement, sends them over a connection, and
// returns how many arrived.
func (b *bench) rawBans(ctx context.Context, store string) (int, error) {
	db, err := b.open(store, heldInChat.name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	in, out, err := loopback(ctx)
	if err != nil {
		return 0, err
	}
	failed := make(chan error, 1)
	go func() {
		defer func() { _ = out.Close() }()
		rows, err := db.QueryContext(ctx, "SELECT channel_id, user_id, banned_at, expires_at FROM bans")
		if err != nil {
			failed <- err
			return
		}
		defer func() { _ = rows.Close() }()
		w := bufio.NewWriterSize(out, 64<<10)
		for rows.Next() {
			var channel, user []byte
			var at int64
			var ends *int64
			if err := rows.Scan(&channel, &user, &at, &ends); err != nil {
				failed <- err
				return
			}
			var times [16]byte
			_, _ = w.Write(channel)
			_, _ = w.Write(user)
			_, _ = w.Write(times[:])
		}
		failed <- errors.Join(rows.Err(), w.Flush())
	}()
	n, err := io.Copy(io.Discard, in)
	return int(n / 48), errors.Join(err, <-failed)
}

// loopback returns both ends of a TCP connection.
func loopback(ctx context.Context) (in, out net.Conn, err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = l.Close() }()
	if out, err = new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	in, err = l.Accept()
	return in, out, err
}

// fanOut returns the 99th percentile of the time until all connections have a frame of
// changes, of which a goroutine writes as many as a server that looks for changes every 20
// ms.
func fanOut(ctx context.Context, d time.Duration) (time.Duration, error) {
	const interval = 20 * time.Millisecond
	frames := int(d / interval)
	frame := make([]byte, 50*changesPerSecond*int(interval/time.Millisecond)/1000)
	arrived := make([]atomic.Int64, frames)
	var readers sync.WaitGroup
	var conns []net.Conn
	for range chatServers {
		in, out, err := loopback(ctx)
		if err != nil {
			return 0, err
		}
		conns = append(conns, out)
		readers.Go(func() {
			buffer := make([]byte, len(frame))
			for i := range frames {
				if _, err := io.ReadFull(in, buffer); err != nil {
					return
				}
				arrived[i].Store(time.Now().UnixNano()) // the last one counts
			}
		})
	}
	sent := make([]time.Time, frames)
	for i := range frames {
		time.Sleep(interval)
		sent[i] = time.Now()
		for _, conn := range conns {
			if _, err := conn.Write(frame); err != nil {
				return 0, err
			}
		}
	}
	readers.Wait()
	took := make([]time.Duration, frames)
	for i := range took {
		took[i] = time.Duration(arrived[i].Load() - sent[i].UnixNano())
	}
	slices.Sort(took)
	return took[frames*99/100], nil
}
