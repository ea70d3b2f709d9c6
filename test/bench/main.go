// Bench compares Moderato with a floor, which is hand-written handlers that do less, or with
// another build of Moderato. It prepares what it needs, and keeps the data for the next run.
// See docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is a run of the benchmarks.
type bench struct {
	dir        string // the directory of the programs and the data
	against    string // another build of Moderato, instead of the floor; empty for the floor
	only       *regexp.Regexp
	rounds     int
	leg        time.Duration
	bufferPool int // the size of MariaDB's buffer pool, in MiB

	plotted string // where the pictures are written; empty for nowhere

	mariadb *mariadb
	running []*server
	rows    []row
	start   time.Time
}

// measurement measures a row, or two.
type measurement struct {
	row row
	// group names the measurements that share their servers and their data.
	group string
	crowd bool // see reset
	run   func(ctx context.Context, p *pair, r row) error
}

func main() {
	b := &bench{start: time.Now()}
	var only, stores string
	flag.StringVar(&b.dir, "dir", "test/bench/.data", "where data sets are kept between runs")
	flag.StringVar(&b.against, "against", "", "compare with this build of Moderato, not with the floor; it must have the same schema")
	flag.StringVar(&only, "only", "", "measure only what matches: a regular expression for \"what, store, transport\"")
	flag.StringVar(&stores, "stores", "sqlite,mariadb", "the stores")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each of the two is measured, in turns")
	flag.DurationVar(&b.leg, "leg", 2*time.Second, "how long each time; whole seconds")
	flag.IntVar(&b.bufferPool, "buffer-pool", 1024, "MariaDB's buffer pool, in MiB")
	flag.StringVar(&b.plotted, "plots", "", "write the pictures of docs/performance.md into this directory; needs a run of all rows")
	flag.Parse()
	b.only = regexp.MustCompile(only)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := b.run(ctx, strings.Split(stores, ","))
	b.stopServers()
	b.mariadb.stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // stop is for signals
	}
}

func (b *bench) run(ctx context.Context, stores []string) error {
	if err := b.prepare(ctx, stores); err != nil {
		return err
	}
	for _, store := range stores {
		if err := b.measure(ctx, store); err != nil {
			return err
		}
	}
	if b.plotted != "" {
		if err := b.writePlots(b.plotted); err != nil {
			return err
		}
	}
	return b.printTable(ctx)
}

// measure makes the measurements that are selected.
func (b *bench) measure(ctx context.Context, store string) error {
	var p *pair
	defer b.stopServers()
	for _, m := range slices.Concat(readRows(), banRows(), batchRows(), sweepRows(), chatRows()) {
		m.row.Store = store
		if !b.only.MatchString(strings.Join([]string{m.row.What, store, m.row.Transport}, ", ")) {
			continue
		}
		if p == nil || p.group != m.group {
			b.stopServers()
			var err error
			if p, err = b.open(ctx, store, m.crowd); err != nil {
				return err
			}
			p.group = m.group
		}
		if err := errors.Join(m.run(ctx, p, m.row), ctx.Err()); err != nil {
			return fmt.Errorf("%s, %s, %s: %w", m.row.What, store, m.row.Transport, err)
		}
	}
	return nil
}

// prepare builds the programs with the build flags of a release, and starts MariaDB
// if it is one of the stores.
func (b *bench) prepare(ctx context.Context, stores []string) error {
	if err := os.MkdirAll(b.dir, 0o750); err != nil {
		return err
	}
	var err error
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	for name, path := range map[string]string{"moderato": "./cmd/moderato", "floor": "./test/bench/floor"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.program(name), path)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", name, err, out)
		}
	}
	if !strings.Contains(strings.Join(stores, ","), "mariadb") {
		return nil
	}
	b.mariadb, err = startMariaDB(ctx, b.dir, b.bufferPool)
	return err
}

// program returns the path of a program that prepare builds.
func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) stopServers() {
	for _, s := range b.running {
		s.stop()
	}
	b.running = nil
}

// say prints the progress of the run.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(b.start).Round(time.Second), fmt.Sprintf(format, args...))
}
