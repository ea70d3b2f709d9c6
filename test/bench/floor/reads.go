package main

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// pageSize is the number of rows of a page. The statements read one row more.
const pageSize = 20

// follower is a row of followers.
type follower struct {
	at                     int64
	id                     uuid.UUID
	displayName, slug, url string
	isActive               *bool
	subscribedAt, expires  *int64
	renewals, streak       *int64
}

// readFollowers reads the first page of the followers of a channel, and returns its cursor.
func (t *tables) readFollowers(ctx context.Context, channel uuid.UUID, row func(*follower)) (next string, err error) {
	rows, err := t.followers.QueryContext(ctx, channel[:])
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var last follower
	for n := 1; rows.Next(); n++ {
		if n > pageSize {
			next = strconv.FormatInt(last.at, 10) + "." + last.id.String()
			break
		}
		last = follower{}
		var id sql.RawBytes
		if err := rows.Scan(&last.at, &id, &last.displayName, &last.slug, &last.url, &last.isActive, &last.subscribedAt, &last.expires, &last.renewals, &last.streak); err != nil {
			return "", err
		}
		copy(last.id[:], id)
		row(&last)
	}
	return next, rows.Err()
}

func (t *tables) readStats(ctx context.Context, channel uuid.UUID) (followers, subscribers, viewers int64, err error) {
	err = t.stats.QueryRowContext(ctx, true, time.Now().UnixMilli(), channel[:]).Scan(&followers, &viewers, &subscribers)
	return followers, subscribers, viewers, err
}
