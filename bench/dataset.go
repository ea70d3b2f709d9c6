package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// dataset describes the content of a database. Its users and channels are numbered,
// and have the same ids in every store.
type dataset struct {
	name string
	// channels is the number of channels, which belong to the first users. The
	// categories are assigned in turns. If users is 0, there are no other users.
	users, channels, categories int
	// followed is how many channels, from the first on, have followers; followers is
	// how many each of them has.
	followed, followers int
	// moderators is how many moderators each followed channel has.
	moderators int
}

const (
	benchClient   = "bench"
	benchService  = "bench-service"
	firstInstant  = 1_700_000_000_000
	hundredThou   = 100_000
	pagesOfDeep   = 50_000
	ownedChannels = 100
)

var (
	// reads is the data set for the most frequent reads: 100,000 channels in 50
	// categories, and 100,000 follows over 100 channels.
	reads = dataset{name: "reads", channels: hundredThou, categories: 50, followed: ownedChannels, followers: 1000, moderators: 10}
	// small, medium and large differ only in the number of rows: the channels besides
	// the followed one, whose owners all follow it.
	small  = dataset{name: "small", channels: 10_001, categories: 50, followed: 1, followers: 10_000}
	medium = dataset{name: "medium", channels: 100_001, categories: 50, followed: 1, followers: 100_000}
	large  = dataset{name: "large", channels: 1_000_001, categories: 50, followed: 1, followers: 1_000_000}
	// largest is for make bench-large.
	largest = dataset{name: "largest", channels: 10_000_001, categories: 50, followed: 1, followers: 10_000_000}
	// writes and floorWrites are for bans in 100 channels, of Moderato and of the
	// floor.
	writes      = dataset{name: "writes", channels: 20_000, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
	floorWrites = dataset{name: "floor_writes", channels: 20_000, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
)

// id returns the id of a user and of their channel. It uses n+1, because the id for 0
// would be the reserved one.
func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", scatter(n+1), n+1) }

// scatter spreads ids over the key space, like random ids.
func scatter(n int) uint32 { return uint32(n) * 2654435761 } // wraps on purpose

// person returns the number of the nth user around a channel, who owns none of the
// followed channels.
func (d *dataset) person(channel, n int) int {
	return d.followed + (channel*d.followers+n)%(d.channels-d.followed)
}

// database returns the URL of a store's database with the dataset in it, and creates
// it if it does not exist. The store is "sqlite" or "mariadb".
func (b *bench) database(ctx context.Context, store string, d *dataset) (string, error) {
	url := "sqlite:" + filepath.Join(b.dir, d.name+".db")
	if store == "mariadb" {
		var err error
		if url, err = b.mariadb.url(ctx, "bench_"+d.name); err != nil {
			return "", err
		}
	}
	// The mark means that the database was filled, and with which dataset.
	mark, want := filepath.Join(b.dir, store+"-"+d.name+".done"), fmt.Sprintf("%+v", *d)
	if got, err := os.ReadFile(mark); err == nil && string(got) == want {
		return url, b.moderato(ctx, nil, "migrate", "--db", url)
	}
	b.say("%s: making %s …", store, d.name)
	if err := b.removeDatabase(ctx, store, d.name); err != nil {
		return "", err
	}
	start := time.Now()
	if err := b.moderato(ctx, nil, "migrate", "--db", url); err != nil {
		return "", err
	}
	for _, service := range []string{"--service=false", "--service"} {
		name := benchClient
		if service == "--service" {
			name = benchService
		}
		if err := b.moderato(ctx, nil, "client", "create", "--db", url, "--id", name, "--name", name, service); err != nil {
			return "", err
		}
	}
	if err := b.fill(ctx, store, d); err != nil {
		return "", fmt.Errorf("%s: fill %s: %w", store, d.name, err)
	}
	if store == "mariadb" {
		if err := b.analyze(ctx, "bench_"+d.name); err != nil {
			return "", fmt.Errorf("update the statistics of %s: %w", d.name, err)
		}
	}
	b.say("%s: made %s in %s", store, d.name, time.Since(start).Round(time.Millisecond))
	return url, os.WriteFile(mark, []byte(want), 0o600)
}

// analyze updates the statistics of MariaDB, which counts rows some seconds after they were
// inserted: too late if it is stopped before.
func (b *bench) analyze(ctx context.Context, database string) error {
	rows, err := b.mariadb.db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", database)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		tables = append(tables, database+"."+table)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = b.mariadb.db.ExecContext(ctx, "ANALYZE TABLE "+strings.Join(tables, ", "))
	return err
}

// forgetDatabase makes the next use of a database fill it anew.
func (b *bench) forgetDatabase(store, name string) error {
	err := os.Remove(filepath.Join(b.dir, store+"-"+name+".done"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (b *bench) removeDatabase(ctx context.Context, store, name string) error {
	if store == "mariadb" {
		if _, err := b.mariadb.db.ExecContext(ctx, "DROP DATABASE IF EXISTS bench_"+name); err != nil {
			return err
		}
		_, err := b.mariadb.url(ctx, "bench_"+name)
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err := os.Remove(filepath.Join(b.dir, name+".db"+suffix))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// moderato runs a command of the program.
func (b *bench) moderato(ctx context.Context, in *os.File, args ...string) error {
	c := exec.CommandContext(ctx, filepath.Join(b.dir, "moderato"), args...)
	if in != nil {
		c.Stdin = in
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("moderato %s: %w: %s", args[0], err, out)
	}
	return nil
}

// serviceToken issues a service token with the program.
func (b *bench) serviceToken(ctx context.Context, url string) (credentials, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(b.dir, "moderato"), "token", "issue", "--db", url, "--client", benchService, "--service").Output()
	if err != nil {
		return credentials{}, fmt.Errorf("token issue: %w", err)
	}
	return credentials{benchService, strings.TrimSpace(string(out))}, nil
}
