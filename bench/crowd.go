package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	batchSize = 1000

	// The channels of the crowd: nobody posted in the silent one, and each user of the
	// first batches posted messagesEach times in the chatty one.
	silent, chatty = 0, 1
	messagesEach   = 3

	// The raiders posted in the swept channel, and the raiders and others follow it.
	swept    = 2
	raidText = "Join now and get a free sub at example.com, hurry up!"

	// firstOfCrowd is the first user who is neither an owner nor a moderator.
	firstOfCrowd = 1000
)

// crowd and floorCrowd are for batches of bans and sweeps, of Moderato and of the floor.
var (
	crowd      = dataset{name: "crowd", users: 120_000, channels: 200, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
	floorCrowd = dataset{name: "floor_crowd", users: 120_000, channels: 200, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}
)

// size is that of a raid, and of the crowd around it.
type size struct{ raiders, messages, follows, batches int }

// raidSize is the size of the raid, in which there are messages for 40 batches.
var raidSize = size{raiders: 10_000, messages: hundredThou, follows: hundredThou, batches: 40}

// crowded are Moderato and the floor, each on a crowd of its own.
type crowded struct {
	*bench
	store           string
	db              string // of Moderato
	moderato, floor *server
	owners          map[*server][]credentials
	banned          map[*server]int // how many batches were banned
}

// openCrowd starts Moderato and the floor on new messages and follows, without bans.
func (b *bench) openCrowd(ctx context.Context, store string) (*crowded, error) {
	c := &crowded{bench: b, store: store, owners: map[*server][]credentials{}, banned: map[*server]int{}}
	var err error
	if c.db, err = b.gather(ctx, store, &crowd); err != nil {
		return nil, err
	}
	floorDB, err := b.gather(ctx, store, &floorCrowd)
	if err != nil {
		return nil, err
	}
	if c.moderato, err = b.startModerato(ctx, c.db); err != nil {
		return nil, err
	}
	if c.owners[c.moderato], err = b.issueOwners(ctx, c.moderato, c.db); err != nil {
		return nil, err
	}
	floorOwners, err := b.floorOwners(ctx, floorDB)
	if err != nil {
		return nil, err
	}
	c.floor, err = b.startFloor(ctx, floorDB)
	c.owners[c.floor] = floorOwners
	return c, err
}

// gather returns the URL of a crowd's database. It creates the messages and follows, which
// must be recent, and deletes what an earlier run left.
func (b *bench) gather(ctx context.Context, store string, d *dataset) (string, error) {
	url, err := b.database(ctx, store, d)
	if err != nil {
		return "", err
	}
	db, err := b.open(store, d.name)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	for _, table := range []string{"bans", "message_generations", "messages", "events", "ban_batches", "sweeps", "sweep_chunks", "follows"} {
		if _, err := db.ExecContext(ctx, emptyTable[store]+table); err != nil {
			return "", err
		}
	}
	f := filler{db, store}
	const messages = "messages (id, channel_id, user_id, generation, text, sent_at)"
	const follows = "follows (channel_id, user_id, followed_at, is_notification_enabled)"
	began := fmt.Sprintf("%d + n %% 60000", time.Now().Add(-2*time.Minute).UnixMilli())
	user := func(of int) string { return f.id(fmt.Sprintf("%d + n %% %d", firstOfCrowd, of)) }
	chatters := raidSize.batches * batchSize
	err = f.insert(ctx, messages, 0, chatters*messagesEach-1, f.id("n"), f.id(fmt.Sprint(chatty)), user(chatters), "0", "'hello'", began)
	if err == nil {
		err = f.insert(ctx, messages, 1_000_000, 1_000_000+raidSize.messages-1, f.id("n"), f.id(fmt.Sprint(swept)), user(raidSize.raiders), "0", "'"+raidText+"'", began)
	}
	if err == nil {
		err = f.insert(ctx, follows, 0, raidSize.follows-1, f.id(fmt.Sprint(swept)), user(raidSize.follows), began, "0")
	}
	return url, err
}

// alternate runs a measurement on Moderato and on the floor in turns, after a warm-up of
// both, in round -1.
func (c *crowded) alternate(measure func(s *server, round int) error) error {
	for round := -1; round < c.rounds; round++ {
		order := []*server{c.floor, c.moderato}
		if round%2 != 0 {
			slices.Reverse(order)
		}
		for _, s := range order {
			c.floor.pause(s != c.floor)
			c.moderato.pause(s != c.moderato)
			if err := measure(s, round); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			time.Sleep(settle)
		}
	}
	c.floor.pause(false)
	c.moderato.pause(false)
	return nil
}

// timed makes some calls one after the other, and returns the time and the cost of each.
func timed(ctx context.Context, s *server, n int, call func(i int) error) (figures, error) {
	before, err := s.cost(ctx)
	if err != nil {
		return figures{}, err
	}
	var took []time.Duration
	began := time.Now()
	for i := range n {
		start := time.Now()
		if err := call(i); err != nil {
			return figures{}, err
		}
		took = append(took, time.Since(start))
	}
	f := figures{PerSecond: float64(n) / time.Since(began).Seconds(), P50: median(took), P99: slices.Max(took)}
	after, err := s.cost(ctx)
	if err != nil {
		return f, err
	}
	used := after.minus(before)
	f.CPU, f.Allocs = used.cpu/time.Duration(n), used.mallocs/float64(n)
	f.Memory, err = s.memory()
	return f, err
}

// call makes a call over REST, and decodes the data of the response into data.
func (s *server) call(ctx context.Context, as credentials, method, path string, body, data any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.http+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Client-Id", as.client)
	req.Header.Set("Authorization", "Bearer "+as.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err = io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return json.Unmarshal(text, &struct{ Data any }{data})
}
