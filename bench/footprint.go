package main

import (
	"context"
	"fmt"
	"time"
)

// footprint measures how soon the program is ready, and how much memory it uses.
func (b *bench) footprint(ctx context.Context, store string) error {
	if !b.wants("memory, start", store, "") {
		return nil
	}
	db, err := b.database(ctx, store, &reads)
	if err != nil {
		return err
	}
	start, err := b.startTime(ctx, db)
	if err != nil {
		return err
	}
	r := row{What: "start to ready on a migrated store", Store: store, Value: float64(start.Microseconds()) / 1000, Unit: "ms", Target: 300, AtMost: true}
	if err := b.report(r, nil); err != nil {
		return err
	}
	w, err := b.openWorld(ctx, store)
	if err != nil {
		return err
	}
	defer b.stopServers()
	c := readCases[0]
	l, err := b.restLoad("memory", func(s *server) []string { return c.lines(w, s) })
	if err != nil {
		return err
	}
	f, err := l.measure(ctx, w.moderato, 256, 5*time.Second)
	if err != nil {
		return err
	}
	r = row{What: "anonymous memory under 256 connections", Store: store, Value: f.Memory, Unit: "MiB", Target: 150, AtMost: true}
	if err := b.report(r, nil); err != nil {
		return err
	}
	return b.idle(ctx, store, db)
}

// startTime returns the median time from start to ready, over 7 starts.
func (b *bench) startTime(ctx context.Context, db string) (time.Duration, error) {
	var took []time.Duration
	for range 7 {
		s, err := b.startModerato(ctx, db)
		if err != nil {
			return 0, err
		}
		took = append(took, s.ready.Sub(s.started))
		s.stop()
	}
	return median(took), nil
}

// idle measures the memory of a server without requests.
func (b *bench) idle(ctx context.Context, store, db string) error {
	b.stopServers()
	s, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	const wait = 10 * time.Second
	time.Sleep(wait)
	memory, err := s.memory()
	r := row{What: fmt.Sprintf("anonymous memory, idle for %s", wait), Store: store, Value: memory, Unit: "MiB", Target: 40, AtMost: true}
	return b.report(r, err)
}
