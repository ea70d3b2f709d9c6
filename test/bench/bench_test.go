package main

import (
	"context"
	"database/sql"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// openPair starts Moderato and the floor on SQLite with little data.
func openPair(t *testing.T) *pair {
	t.Helper()
	t.Chdir("../..")
	whole := data
	t.Cleanup(func() { data = whole })
	data = dataset{users: 2000, followed: 5, followers: 30, raiders: 30, messages: 300, follows: 100, batches: 1}
	b := &bench{dir: t.TempDir(), only: regexp.MustCompile(""), start: time.Now()}
	if err := b.prepare(t.Context(), []string{"sqlite"}); err != nil {
		t.Fatal(err)
	}
	p, err := b.open(t.Context(), "sqlite", true)
	t.Cleanup(b.stopServers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The ratio to a floor is meaningful only if both return and write the same data.
func TestFloorMatchesModerato(t *testing.T) {
	p := openPair(t)
	for _, c := range readCases {
		if err := c.check(t.Context(), p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, s := range []*server{p.moderato, p.floor} {
		if err := change(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	want, got := written(t, p.bench, p.moderato.name), written(t, p.bench, p.floor.name)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the floor writes (-Moderato +floor):\n%.5000s", diff)
	}
	if len(want) < 3*batchSize {
		t.Errorf("Moderato writes only %d rows", len(want))
	}
}

// change makes every change that is measured.
func change(ctx context.Context, s *server) error {
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	client := moderatov1.NewModerationServiceClient(conns[0])
	ban := func() error {
		nextUser.Store(0)
		return banAndUnban(ctx, conns[0], s, 0)
	}
	batchIn := func(channel int) func() error {
		return func() error {
			batch, err := banBatch(ctx, client, s, channel, 0)
			if err != nil {
				return err
			}
			return undoBatch(ctx, client, s, channel, batch)
		}
	}
	raid := func() error {
		_, err := sweep(ctx, client, s)
		return err
	}
	// The second ban and the third batch ban users for the second time.
	for _, do := range []func() error{ban, ban, batchIn(silent()), batchIn(chatty()), batchIn(chatty()), raid} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// written returns the rows that changes wrote into a database, without times and new ids.
func written(t *testing.T, b *bench, name string) (lines []string) {
	t.Helper()
	db, err := b.connect("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, query := range []string{
		"SELECT concat_ws(' ', 'ban', hex(channel_id), hex(user_id), hex(moderator_id)) FROM bans ORDER BY 1",
		"SELECT concat_ws(' ', 'generation', hex(channel_id), hex(user_id), generation, restorable, restored_from) FROM message_generations ORDER BY 1",
		"SELECT concat_ws(' ', 'batch', hex(channel_id), banned_count, first_sequence, last_sequence) FROM ban_batches ORDER BY 1",
		"SELECT concat_ws(' ', 'sweep', hex(channel_id), banned_count, due_at) FROM sweeps",
		`SELECT concat_ws(' ', type, hex(channel_id), hex(target_id), hex(actor_id), sequence, client_id, LENGTH(evidence))
			FROM events ORDER BY channel_id, sequence`,
		"SELECT concat_ws(' ', 'channel', hex(id), event_sequence, follower_count) FROM channels WHERE event_sequence > 0 ORDER BY 1",
	} {
		lines = append(lines, linesOf(t, db, query)...)
	}
	return lines
}

func linesOf(t *testing.T, db *sql.DB, query string) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
