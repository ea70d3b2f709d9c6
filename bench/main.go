// Bench compares Moderato with a floor, which is hand-written handlers that do less,
// and measures how the cost of Moderato grows with its data. It prepares what it
// needs, and keeps the data for the next run. See docs/performance.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// bench is a run of the benchmarks.
type bench struct {
	dir    string // the directory of the programs and the data
	large  bool
	only   *regexp.Regexp
	rounds int
	leg    time.Duration
	// profiles is the directory for CPU profiles of Moderato; empty: none are taken.
	profiles string
	// bufferPool is the size of MariaDB's buffer pool, in MiB.
	bufferPool int

	mariadb *mariadb
	running []*server
	rows    []row
	plots   map[string]*plot // by file
	start   time.Time
	machine string // the machine and the settings of the run
}

func main() {
	b := &bench{start: time.Now(), plots: map[string]*plot{}}
	var only, stores, write string
	flag.StringVar(&b.dir, "dir", "bench/.data", "where data sets are kept between runs")
	flag.BoolVar(&b.large, "large", false, "add the rows with 10 million rows")
	flag.StringVar(&only, "only", "", "measure only what matches: a regular expression for \"what, store, transport\"")
	flag.StringVar(&stores, "stores", "sqlite,mariadb", "the stores")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each of the two is measured, in turns")
	flag.DurationVar(&b.leg, "leg", 2*time.Second, "how long each time, with 32 connections; half as long with others. Whole seconds")
	flag.IntVar(&b.bufferPool, "buffer-pool", 1024, "MariaDB's buffer pool, in MiB")
	flag.StringVar(&write, "write", "", "put the tables into this page, and the plots beside it")
	flag.StringVar(&b.profiles, "profiles", "", "keep a CPU profile of each measurement of Moderato that takes 2 s or more in this directory")
	flag.Parse()
	b.only = regexp.MustCompile(only)
	if err := b.runAndWrite(strings.Split(stores, ","), write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runAndWrite measures, and writes the page if page is not empty.
func (b *bench) runAndWrite(stores []string, page string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer b.close()
	err := b.run(ctx, stores)
	if err == nil && page != "" {
		err = b.writePage(page)
	}
	return err
}

func (b *bench) run(ctx context.Context, stores []string) error {
	if err := b.prepare(ctx, stores); err != nil {
		return err
	}
	var err error
	if b.machine, err = b.describe(ctx); err != nil {
		return err
	}
	for _, store := range stores {
		for _, measure := range []func(context.Context, string) error{b.reads, b.writes, b.growth, b.raid, b.batches, b.sweeps, b.chat, b.standings, b.zipf, b.sizes, b.importFollows} {
			if err := errors.Join(ctx.Err(), measure(ctx, store)); err != nil {
				return err
			}
			b.stopServers()
		}
	}
	for _, store := range stores {
		if err := b.footprint(ctx, store); err != nil {
			return err
		}
	}
	b.printTable(os.Stdout)
	results, err := json.MarshalIndent(b.rows, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "results.json"), results, 0o600)
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
	for name, path := range map[string]string{"moderato": "./cmd/moderato", "floor": "./bench/floor"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(b.dir, name), path)
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

func (b *bench) close() {
	b.stopServers()
	b.mariadb.stop()
}

func (b *bench) stopServers() {
	for _, s := range b.running {
		s.stop()
	}
	b.running = nil
}

// wants reports whether a row is selected.
func (b *bench) wants(what, store, transport string) bool {
	return b.only.MatchString(strings.Join([]string{what, store, transport}, ", "))
}

// say prints the progress of the run.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(b.start).Round(time.Second), fmt.Sprintf(format, args...))
}

// report keeps a row and prints it. If err is not nil, report only returns err.
func (b *bench) report(r row, err error) error {
	if err != nil {
		return err
	}
	b.rows = append(b.rows, r)
	b.say("%s", r)
	return nil
}
