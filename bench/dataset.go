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

// dataset is what a database is filled with. Its users and channels have
// numbers, and the same ids in every store.
type dataset struct {
	name string
	// channels are those of the first users; their categories take turns. users 0:
	// nobody else.
	users, channels, categories int
	// followed are the first channels, each with followers of its own number.
	followed, followers int
	// moderators is how many each followed channel has.
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
	// reads is what the hot pages are read from: 100,000 channels in 50
	// categories, and 100,000 follows over 100 channels.
	reads = dataset{name: "reads", channels: hundredThou, categories: 50, followed: ownedChannels, followers: 1000, moderators: 10}
	// small, medium and large differ in nothing but the number of rows: channels
	// beside the followed one, which all of them follow.
	small  = dataset{name: "small", channels: 10_001, categories: 50, followed: 1, followers: 10_000}
	medium = dataset{name: "medium", channels: 100_001, categories: 50, followed: 1, followers: 100_000}
	large  = dataset{name: "large", channels: 1_000_001, categories: 50, followed: 1, followers: 1_000_000}
	// largest is for make bench-large.
	largest = dataset{name: "largest", channels: 10_000_001, categories: 50, followed: 1, followers: 10_000_000}
	// writes is for bans: 100 channels, of Moderato and of the floor.
	writes      = dataset{name: "writes", channels: 20_000, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
	floorWrites = dataset{name: "floor_writes", channels: 20_000, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
)

// id is the id of a user and of their channel. That of 0 would be the reserved one.
func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", scatter(n+1), n+1) }

// scatter spreads ids over the key space, as random ones are.
func scatter(n int) uint32 { return uint32(n) * 2654435761 } // wraps on purpose

// person is the nth user around a channel; none of the followed ones' owners.
func (d *dataset) person(channel, n int) int {
	return d.followed + (channel*d.followers+n)%(d.channels-d.followed)
}

// database is the URL of a store's database with the dataset in it, which is
// made when it is not there: in the store that is named "sqlite" or "mariadb".
func (b *bench) database(ctx context.Context, store string, d *dataset) (string, error) {
	url := "sqlite:" + filepath.Join(b.dir, d.name+".db")
	if store == "mariadb" {
		var err error
		if url, err = b.mariadb.url(ctx, "bench_"+d.name); err != nil {
			return "", err
		}
	}
	// The mark says that the import went through, with which records.
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
	b.say("%s: made %s in %s", store, d.name, time.Since(start).Round(time.Millisecond))
	return url, os.WriteFile(mark, []byte(want), 0o600)
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
