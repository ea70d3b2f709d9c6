package main

import (
	"context"
	"database/sql"
	"fmt"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// stored is the data set for the sizes of rows.
var stored = dataset{name: "stored", users: 300_000, channels: 1000, categories: 50, followed: ownedChannels, followers: 10, moderators: 1}

const (
	storedRows    = 500_000 // messages and follows
	storedBatches = 100     // of 1,000 bans
)

// sizes measures how much of the disk a row of the largest tables takes, with its indexes.
func (b *bench) sizes(ctx context.Context, store string) error {
	if !b.wants("size", store, "") {
		return nil
	}
	if err := b.forgetDatabase(store, stored.name); err != nil {
		return err
	}
	url, err := b.database(ctx, store, &stored)
	if err != nil {
		return err
	}
	db, err := b.open(store, stored.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := b.fillStored(ctx, filler{db, store}, url); err != nil {
		return err
	}
	for _, table := range []string{"users", "messages", "follows", "bans", "message_generations", "events"} {
		rows, bytes, err := b.tableSize(ctx, db, store, table)
		if err := b.report(row{
			What: "size of a row of " + table + ", with its indexes", Store: store, Value: float64(bytes) / float64(max(1, rows)), Unit: "bytes",
			Note: fmt.Sprintf("%s rows", thousands(rows)),
		}, err); err != nil {
			return err
		}
	}
	return nil
}

// fillStored inserts messages and follows, and bans users in batches through the server.
func (b *bench) fillStored(ctx context.Context, f filler, url string) error {
	users := stored.users - stored.channels
	user := f.id(fmt.Sprintf("%d + n %% %d", stored.channels, users))
	channel := f.id(fmt.Sprintf("n / %d %% %d", users, ownedChannels))
	if f.store == "mariadb" {
		channel = f.id(fmt.Sprintf("n DIV %d %% %d", users, ownedChannels))
	}
	at := fmt.Sprintf("%d + n", firstInstant)
	if err := f.insert(ctx, "messages (id, channel_id, user_id, generation, text, sent_at)", 0, storedRows-1,
		f.id("n"), channel, user, "0", "'a message of usual length in the chat of a channel'", at); err != nil {
		return err
	}
	if _, err := f.db.ExecContext(ctx, "DELETE FROM follows"); err != nil {
		return err
	}
	if err := f.insert(ctx, "follows (channel_id, user_id, followed_at, is_notification_enabled)", 0, storedRows-1, channel, user, at, "0"); err != nil {
		return err
	}
	s, err := b.startModerato(ctx, url)
	if err != nil {
		return err
	}
	defer b.stopServers()
	owners, err := b.issueOwners(ctx, s, url)
	if err != nil {
		return err
	}
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	reason := "spam in a raid"
	for batch := range storedBatches {
		req := &moderatov1.BanUsersRequest{ChannelId: id(batch % ownedChannels), Reason: &reason}
		for n := range batchSize {
			req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id(stored.users - 1 - batch*batchSize - n)})
		}
		if _, err := moderatov1.NewModerationServiceClient(conns[0]).BanUsers(owners[batch%ownedChannels].outgoing(ctx), req); err != nil {
			return err
		}
	}
	return nil
}

// tableSize returns the number of rows of a table, and the size of the pages that it and
// its indexes take.
func (b *bench) tableSize(ctx context.Context, db *sql.DB, store, table string) (rows int, bytes int64, err error) {
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&rows); err != nil {
		return 0, 0, err
	}
	query := "SELECT SUM(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?)"
	if store == "mariadb" {
		if _, err := db.ExecContext(ctx, "ANALYZE TABLE "+table); err != nil {
			return 0, 0, err
		}
		query = "SELECT data_length + index_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	}
	return rows, bytes, db.QueryRowContext(ctx, query, table).Scan(&bytes)
}
