package main

import (
	"bytes"
	"context"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// figures are the measurements of a server under load.
type figures struct {
	PerSecond float64
	P50, P99  time.Duration
	CPU       time.Duration // of the server, for a request
}

// load sends requests to a server over a number of connections, for some time.
type load func(ctx context.Context, s *server, connections int, d time.Duration) (figures, error)

//go:embed wrk.lua
var wrkScript []byte

// restLoad returns a load that sends GET requests with wrk. Each line has a path and a token.
func (b *bench) restLoad(lines func(s *server) []string) load {
	return func(ctx context.Context, s *server, connections int, d time.Duration) (figures, error) {
		script, requests := filepath.Join(b.dir, "wrk.lua"), filepath.Join(b.dir, "requests")
		err := errors.Join(os.WriteFile(script, wrkScript, 0o600), os.WriteFile(requests, []byte(strings.Join(lines(s), "\n")+"\n"), 0o600))
		if err != nil {
			return figures{}, err
		}
		out, err := exec.CommandContext(ctx, "wrk", "-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", int(d.Seconds())),
			"--timeout", "10s", "-s", script, "http://"+s.http, "--", requests).Output()
		if err != nil {
			return figures{}, fmt.Errorf("wrk: %w: %s", err, out)
		}
		var got struct {
			Requests, Microseconds, P50, P99 float64
			Errors                           int
		}
		if err := json.Unmarshal(out[bytes.LastIndexByte(out, '{'):], &got); err != nil {
			return figures{}, fmt.Errorf("wrk: %w: %s", err, out)
		}
		if got.Errors > 0 || got.Requests == 0 {
			return figures{}, fmt.Errorf("%d of %.0f requests failed", got.Errors, got.Requests)
		}
		return figures{
			PerSecond: got.Requests / got.Microseconds * 1e6,
			P50:       time.Duration(got.P50) * time.Microsecond, P99: time.Duration(got.P99) * time.Microsecond,
		}, nil
	}
}

// credentials identify the caller.
type credentials struct{ client, token string }

func (c credentials) outgoing(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "client-id", c.client, "authorization", "Bearer "+c.token)
}

// rpcLoad returns a load that makes calls one after the other on each connection. n counts all.
func rpcLoad(call func(ctx context.Context, conn *grpc.ClientConn, s *server, n int) error) load {
	return func(ctx context.Context, s *server, connections int, d time.Duration) (figures, error) {
		conns, closeAll, err := dial(ctx, s, connections)
		if err != nil {
			return figures{}, err
		}
		defer closeAll()
		var next atomic.Int64
		took := make([][]time.Duration, connections)
		failures := make([]error, connections)
		var workers sync.WaitGroup
		start := time.Now()
		for i, conn := range conns {
			workers.Go(func() {
				for time.Since(start) < d && failures[i] == nil {
					began := time.Now()
					failures[i] = call(ctx, conn, s, int(next.Add(1)))
					took[i] = append(took[i], time.Since(began))
				}
			})
		}
		workers.Wait()
		all := slices.Concat(took...)
		slices.Sort(all)
		return figures{
			PerSecond: float64(len(all)) / time.Since(start).Seconds(), P50: all[len(all)/2], P99: all[len(all)*99/100],
		}, errors.Join(failures...)
	}
}

// steadily makes calls at a rate over some connections until ctx ends, and returns how many it
// made in a second. It makes fewer if the server does not keep up.
func steadily(ctx context.Context, conns []*grpc.ClientConn, perSecond int, call func(ctx context.Context, conn *grpc.ClientConn, n int) error) (float64, error) {
	due := make(chan int, perSecond)
	failures := make([]error, len(conns))
	var made atomic.Int64
	var workers sync.WaitGroup
	for i, conn := range conns {
		workers.Go(func() {
			for n := range due {
				failures[i] = errors.Join(failures[i], call(context.WithoutCancel(ctx), conn, n))
				made.Add(1)
			}
		})
	}
	began, sent := time.Now(), 0
	for ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
		for ; sent < int(time.Since(began).Seconds()*float64(perSecond)); sent++ {
			select {
			case due <- sent:
			default:
			}
		}
	}
	rate := float64(made.Load()) / time.Since(began).Seconds()
	for len(due) > 0 {
		<-due
	}
	close(due)
	workers.Wait()
	return rate, errors.Join(failures...)
}

// dial opens connections, and waits until they are ready. The returned function
// closes them.
func dial(ctx context.Context, s *server, connections int) (conns []*grpc.ClientConn, closeAll func(), err error) {
	for range connections {
		conn, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, nil, fmt.Errorf("dial: %w", err)
		}
		conn.Connect()
		conns = append(conns, conn)
	}
	for _, c := range conns {
		for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
			if !c.WaitForStateChange(ctx, state) {
				return nil, nil, ctx.Err()
			}
		}
	}
	return conns, func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}, nil
}
