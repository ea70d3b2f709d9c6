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
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// figures are the measurements of a server under load.
type figures struct {
	PerSecond float64       `json:"per_second"`
	P50       time.Duration `json:"p50"`
	P99       time.Duration `json:"p99"`
	CPU       time.Duration `json:"cpu_per_request"`
	// Database is the CPU time of the database server for a request.
	Database time.Duration `json:"database_cpu_per_request,omitempty"`
	Allocs   float64       `json:"allocations_per_request"`
	Memory   float64       `json:"memory_mib"`
}

// load sends requests to a server over a number of connections, for some time.
type load func(ctx context.Context, s *server, connections int, d time.Duration) (figures, error)

// measure runs the load, and adds its cost to the server: CPU time, allocations and
// memory.
func (l load) measure(ctx context.Context, s *server, connections int, d time.Duration) (figures, error) {
	before, err := s.cost(ctx)
	if err != nil {
		return figures{}, err
	}
	profiled := s.profile(ctx, d)
	f, err := l(ctx, s, connections, d)
	err = errors.Join(err, <-profiled)
	if err != nil {
		return f, fmt.Errorf("%s: %w", s.name, err)
	}
	after, err := s.cost(ctx)
	if err != nil {
		return f, err
	}
	requests := f.PerSecond * d.Seconds()
	used := after.minus(before)
	f.CPU, f.Allocs = time.Duration(float64(used.cpu)/requests), used.mallocs/requests
	f.Database = time.Duration(float64(used.database) / requests)
	f.Memory, err = s.memory()
	return f, err
}

//go:embed wrk.lua
var wrkScript []byte

// restLoad returns a load that sends GET requests with wrk. Each line has a path and
// a token.
func (b *bench) restLoad(name string, lines func(s *server) []string) (load, error) {
	script := filepath.Join(b.dir, "wrk.lua")
	if err := os.WriteFile(script, wrkScript, 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context, s *server, connections int, d time.Duration) (figures, error) {
		file := filepath.Join(b.dir, "requests-"+name+"-"+s.name)
		if err := os.WriteFile(file, []byte(strings.Join(lines(s), "\n")+"\n"), 0o600); err != nil {
			return figures{}, err
		}
		c := exec.CommandContext(ctx, "wrk", "-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", int(d.Seconds())), "--timeout", "10s",
			"-s", script, "http://"+s.http, "--", file)
		out, err := c.Output()
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
	}, nil
}

// credentials identify the caller.
type credentials struct{ client, token string }

func (c credentials) outgoing(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "client-id", c.client, "authorization", "Bearer "+c.token)
}

// rpcLoad returns a load that makes calls one after the other on each connection. n
// counts the calls of all connections.
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
		elapsed := time.Since(start)
		all := slices.Concat(took...)
		slices.Sort(all)
		return figures{
			PerSecond: float64(len(all)) / elapsed.Seconds(),
			P50:       all[len(all)/2], P99: all[len(all)*99/100],
		}, errors.Join(failures...)
	}
}

// dial opens connections, and waits until they are ready. The returned function
// closes them.
func dial(ctx context.Context, s *server, connections int) ([]*grpc.ClientConn, func(), error) {
	conns := make([]*grpc.ClientConn, connections)
	closeAll := func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}
	for i := range conns {
		var err error
		if conns[i], err = grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("dial: %w", err)
		}
		conns[i].Connect()
	}
	for _, c := range conns {
		for state := c.GetState(); state.String() != "READY"; state = c.GetState() {
			if !c.WaitForStateChange(ctx, state) {
				closeAll()
				return nil, nil, ctx.Err()
			}
		}
	}
	return conns, closeAll, nil
}
