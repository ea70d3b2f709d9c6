package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// newBench returns a bench on SQLite with little data, which keeps no results.
func newBench(t *testing.T) *bench {
	t.Helper()
	t.Chdir("..")
	b := &bench{dir: t.TempDir(), only: regexp.MustCompile(""), start: time.Now()}
	for _, d := range []*dataset{&reads, &writes, &floorWrites, &crowd, &floorCrowd, &platform} {
		whole := *d
		t.Cleanup(func() { *d = whole })
		d.channels, d.followers = 1000, 30
		d.users = min(d.users, firstOfCrowd+batchSize)
	}
	reads.categories = 5
	if err := b.prepare(t.Context(), []string{"sqlite"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// The ratio to a floor is meaningful only if both return the same data.
func TestFloorReadsMatchModeratoReads(t *testing.T) {
	b := newBench(t)
	// The comparison covers the responses of both over both transports.
	if _, err := b.openWorld(t.Context(), "sqlite"); err != nil {
		t.Error(err)
	}
}

// A load that fails ends the simulation, so this checks every operation of the mix.
func TestZipfLoadSucceeds(t *testing.T) {
	exponents, rate, steps, leg, listeners := zipfExponents, zipfFirstRate, zipfSteps, zipfLeg, zipfListeners
	t.Cleanup(func() {
		zipfExponents, zipfFirstRate, zipfSteps, zipfLeg, zipfListeners = exponents, rate, steps, leg, listeners
	})
	zipfExponents, zipfFirstRate, zipfSteps, zipfLeg, zipfListeners = []float64{1}, 200, 2, 300*time.Millisecond, 5
	b := newBench(t)
	platform.channels = 150
	if err := b.zipf(t.Context(), "sqlite"); err != nil {
		t.Fatal(err)
	}
	if len(b.rows) != 2 || b.rows[1].Value == 0 || !strings.Contains(b.rows[1].Note, "its lock is the limit at") {
		t.Errorf("got %v, want the rate of the first limit and the processors' time", b.rows)
	}
}

func TestZipfNamesTheLimit(t *testing.T) {
	const late, early = 2 * zipfBound, zipfBound / 10
	ban := len(operations) - 1
	for want, s := range map[string]step{
		"":          {outcomes: []outcome{{took: early}}},
		"sequencer": {outcomes: []outcome{{took: early}}, sequencing: late},
		"lock of the busiest channel": {outcomes: []outcome{
			{arrival: arrival{operation: ban}, took: late}, {arrival: arrival{operation: ban, channel: unpopular}, took: early},
		}},
		"processors": {outcomes: []outcome{{took: late}}, elapsed: time.Second, machine: time.Duration(runtime.NumCPU()) * time.Second},
		"commits": {outcomes: []outcome{
			{arrival: arrival{operation: ban, channel: unpopular}, took: late}, {arrival: arrival{operation: 1}, took: early},
		}, elapsed: time.Second},
		"refused": {outcomes: []outcome{{arrival: arrival{operation: 1}, took: late, isRefused: true}}, elapsed: time.Second},
	} {
		if got := s.limit(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFloorWritesMatchModeratoWrites(t *testing.T) {
	b := newBench(t)
	db, err := b.database(t.Context(), "sqlite", &writes)
	if err != nil {
		t.Fatal(err)
	}
	floorDB, err := b.database(t.Context(), "sqlite", &floorWrites)
	if err != nil {
		t.Fatal(err)
	}
	moderato, err := b.startModerato(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := b.issueOwners(t.Context(), moderato, db)
	if err != nil {
		t.Fatal(err)
	}
	floorOwners, err := b.floorOwners(t.Context(), floorDB)
	if err != nil {
		t.Fatal(err)
	}
	floor, err := b.startFloor(t.Context(), floorDB)
	if err != nil {
		t.Fatal(err)
	}
	banTwice(t, moderato, owners[0])
	banTwice(t, floor, floorOwners[0])
	got, want := b.written(t, floorWrites.name), b.written(t, writes.name)
	if !slices.Equal(got, want) {
		t.Errorf("the floor writes\n%s\nand Moderato\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) == 0 {
		t.Error("nothing was written")
	}
}

func TestFloorBatchesMatchModeratoBatches(t *testing.T) {
	whole := raidSize
	t.Cleanup(func() { raidSize = whole })
	raidSize = size{raiders: 30, messages: 300, follows: 100, batches: 1}
	b := newBench(t)
	c, err := b.openCrowd(t.Context(), "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*server{c.moderato, c.floor} {
		for _, channel := range []int{silent, chatty, chatty} { // the third batch bans users for the second time
			batch, err := c.ban(t.Context(), s, channel)
			if err == nil {
				err = c.undo(t.Context(), s, channel, batch)
			}
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
		}
		if _, err := c.sweep(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	got, want := b.written(t, floorCrowd.name), b.written(t, crowd.name)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the floor writes (-Moderato +floor):\n%.5000s", diff)
	}
	if len(want) < 3*batchSize {
		t.Errorf("Moderato writes only %d rows", len(want))
	}
}

// banTwice bans a user, unbans the user and bans the user again.
func banTwice(t *testing.T, s *server, owner credentials) {
	t.Helper()
	conns, closeAll, err := dial(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	client, ctx := moderatov1.NewModerationServiceClient(conns[0]), owner.outgoing(t.Context())
	ban := func() error {
		_, err := client.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: id(0), BanUserId: id(500)})
		return err
	}
	unban := func() error {
		_, err := client.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: id(0), BanUserId: id(500)})
		return err
	}
	for _, call := range []func() error{ban, unban, ban} {
		if err := call(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
}

// written returns the rows that bans wrote into a database, without times and new ids.
func (b *bench) written(t *testing.T, name string) []string {
	t.Helper()
	db, err := b.open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var all []string
	for _, query := range []string{
		"SELECT 'ban', channel_id, user_id, moderator_id FROM bans ORDER BY channel_id, user_id",
		"SELECT 'generation', channel_id, user_id, generation FROM message_generations ORDER BY channel_id, user_id",
		"SELECT 'batch', channel_id, banned_count, first_sequence || '-' || last_sequence FROM ban_batches ORDER BY first_sequence, channel_id",
		"SELECT 'restorable', user_id, restorable, restored_from FROM message_generations ORDER BY channel_id, user_id",
		"SELECT 'evidence', target_id, sequence, LENGTH(evidence) FROM events WHERE evidence IS NOT NULL ORDER BY channel_id, sequence",
		"SELECT 'sweep', channel_id, banned_count, due_at FROM sweeps",
		"SELECT type, channel_id, target_id, actor_id || sequence || client_id FROM events ORDER BY channel_id, sequence",
		"SELECT 'channel', id, event_sequence, follower_count FROM channels WHERE event_sequence > 0",
	} {
		all = append(all, rowsOf(t.Context(), t, db, query)...)
	}
	return all
}

func rowsOf(ctx context.Context, t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var kind string
		var values [3]any
		if err := rows.Scan(&kind, &values[0], &values[1], &values[2]); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if bytes, ok := v.([]byte); ok {
				values[i] = hex.EncodeToString(bytes)
			}
		}
		lines = append(lines, kind+" "+fmt.Sprint(values[:]...))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
