package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// row is a line of the report: what was measured, the figures of Moderato and of what
// it is compared with, and the target.
type row struct {
	What        string  `json:"what"`
	Store       string  `json:"store"`
	Transport   string  `json:"transport,omitempty"`
	Connections int     `json:"connections,omitempty"`
	Floor       figures `json:"floor"`
	Moderato    figures `json:"moderato"`
	// Value is what is compared with the target: a ratio, or a figure with its Unit.
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target,omitempty"`
	// AtMost means that the target is an upper bound.
	AtMost bool   `json:"at_most,omitempty"`
	Note   string `json:"note,omitempty"`
}

func (r row) isMet() bool {
	if r.AtMost {
		return r.Value <= r.Target
	}
	return r.Value >= r.Target
}

// mainConnections is the number of connections that is measured for the longest time.
const mainConnections = 32

// settle is how long a server may finish its work after a load ended, before it is
// paused.
const settle = 100 * time.Millisecond

// inTurns measures Moderato and the floor in turns, after a warm-up of both. It
// returns the medians, and the median of the ratios of the rounds.
func (b *bench) inTurns(ctx context.Context, r row, floor, moderato *server, floorLoad, moderatoLoad load) (row, error) {
	var ratios []float64
	measured := map[*server][]figures{}
	leg := b.leg
	if r.Connections != mainConnections {
		leg = max(time.Second, leg/2)
	}
	for round := -1; round < b.rounds; round++ {
		order := []*server{floor, moderato}
		if round%2 != 0 {
			slices.Reverse(order)
		}
		latest := map[*server]figures{}
		for _, s := range order {
			floor.pause(s != floor)
			moderato.pause(s != moderato)
			l, d := floorLoad, leg
			if s == moderato {
				l = moderatoLoad
			}
			if round < 0 {
				d = time.Second // the warm-up
			}
			f, err := l.measure(ctx, s, r.Connections, d)
			if err != nil {
				return r, fmt.Errorf("%s, %s, %s: %w", r.What, r.Store, r.Transport, err)
			}
			latest[s] = f
			time.Sleep(settle)
		}
		if round < 0 {
			continue
		}
		for s, f := range latest {
			measured[s] = append(measured[s], f)
		}
		ratios = append(ratios, latest[moderato].PerSecond/latest[floor].PerSecond)
	}
	floor.pause(false)
	moderato.pause(false)
	r.Floor, r.Moderato = medianFigures(measured[floor]), medianFigures(measured[moderato])
	r.Value, r.Unit = median(ratios), "× floor"
	return r, nil
}

func median[T interface {
	~int64 | ~float64
}](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func medianFigures(all []figures) figures {
	of := func(value func(figures) float64) float64 {
		var values []float64
		for _, f := range all {
			values = append(values, value(f))
		}
		return median(values)
	}
	return figures{
		PerSecond: of(func(f figures) float64 { return f.PerSecond }),
		P50:       time.Duration(of(func(f figures) float64 { return float64(f.P50) })),
		P99:       time.Duration(of(func(f figures) float64 { return float64(f.P99) })),
		CPU:       time.Duration(of(func(f figures) float64 { return float64(f.CPU) })),
		Database:  time.Duration(of(func(f figures) float64 { return float64(f.Database) })),
		Allocs:    of(func(f figures) float64 { return f.Allocs }),
		Memory:    of(func(f figures) float64 { return f.Memory }),
	}
}

// reads measures every read on a store.
func (b *bench) reads(ctx context.Context, store string) error {
	w, err := b.openWorld(ctx, store)
	if err != nil {
		return err
	}
	defer b.stopServers()
	for _, c := range readCases {
		for _, connections := range []int{1, mainConnections, 256} {
			if err := b.readOn(ctx, w, c, connections); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) readOn(ctx context.Context, w *world, c readCase, connections int) error {
	r := row{What: c.name, Store: w.store, Connections: connections, Target: c.targets[w.store]}
	if c.path != nil && b.wants(c.name, w.store, "REST") {
		l, err := b.restLoad("read", func(s *server) []string { return c.lines(w, s) })
		if err != nil {
			return err
		}
		r.Transport = "REST"
		if err := b.report(b.inTurns(ctx, r, w.floor, w.moderato, l, l)); err != nil {
			return err
		}
	}
	if !b.wants(c.name, w.store, "gRPC") {
		return nil
	}
	r.Transport = "gRPC"
	l := c.rpc(w)
	return b.report(b.inTurns(ctx, r, w.floor, w.moderato, l, l))
}
