package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// pageSize is the number of rows of a page. The statements read one row more.
const pageSize = 20

// place is where a list resumes. Its cursor is the numbers and the id, separated by
// dots.
type place struct {
	numbers []int64
	id      uuid.UUID
}

func parsePlace(cursor string, numbers int) (place, error) {
	parts := strings.Split(cursor, ".")
	if len(parts) != numbers+1 {
		return place{}, fmt.Errorf("a cursor here has %d parts", numbers+1)
	}
	var p place
	for _, part := range parts[:numbers] {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return place{}, err
		}
		p.numbers = append(p.numbers, n)
	}
	var err error
	p.id, err = uuid.Parse(parts[numbers])
	return p, err
}

func (p place) String() string {
	var b []byte
	for _, n := range p.numbers {
		b = append(strconv.AppendInt(b, n, 10), '.')
	}
	return string(b) + p.id.String()
}

// each runs a statement and calls row for every row.
func each(ctx context.Context, s *sql.Stmt, args []any, row func(*sql.Rows) error) error {
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// follower is a row of followers.
type follower struct {
	at                     int64
	id                     uuid.UUID
	displayName, slug, url string
	isActive               *bool
	subscribedAt, expires  *int64
	renewals, streak       *int64
}

func (t *tables) readFollowers(ctx context.Context, channel uuid.UUID, cursor string, row func(*follower)) (next string, err error) {
	p := place{numbers: []int64{math.MaxInt64}}
	if cursor != "" {
		if p, err = parsePlace(cursor, 1); err != nil {
			return "", err
		}
	}
	args := []any{channel[:], p.numbers[0], p.id[:]}
	if t.forUpdate != "" {
		args = []any{channel[:], p.numbers[0], p.numbers[0], p.id[:]}
	}
	n := 0
	var last place
	err = each(ctx, t.followers, args, func(rows *sql.Rows) error {
		if n++; n > pageSize {
			next = last.String()
			return nil
		}
		var f follower
		var id sql.RawBytes
		err := rows.Scan(&f.at, &id, &f.displayName, &f.slug, &f.url, &f.isActive, &f.subscribedAt, &f.expires, &f.renewals, &f.streak)
		copy(f.id[:], id)
		last = place{[]int64{f.at}, f.id}
		row(&f)
		return err
	})
	return next, err
}

// channel is a row of channels.
type channel struct {
	isLive                              bool
	viewers, followers, category        int64
	id                                  uuid.UUID
	title, bio, lang, displayName, slug string
	url, categoryName, categorySlug     string
	categoryURL                         string
}

func (t *tables) readChannels(ctx context.Context, category int64, cursor string, row func(*channel)) (count int64, next string, err error) {
	live, offline := 2*category+1, 2*category
	if err = t.count.QueryRowContext(ctx, live, offline, live, offline).Scan(&count); err != nil {
		return 0, "", err
	}
	s, args := t.channels, []any{category, true, category, false}
	if cursor != "" {
		p, err := parsePlace(cursor, 2)
		if err != nil {
			return 0, "", err
		}
		isLive, viewers := p.numbers[0] != 0, p.numbers[1]
		s, args = t.channelsAfter, []any{category, isLive, viewers, p.id[:], category, isLive, viewers, category, false}
		if !isLive {
			args[8] = -1 // matches nothing: there is no third range
		}
	}
	n := 0
	var last place
	err = each(ctx, s, args, func(rows *sql.Rows) error {
		if n++; n > pageSize {
			next = last.String()
			return nil
		}
		var c channel
		var id sql.RawBytes
		err := rows.Scan(&c.isLive, &c.viewers, &id, &c.title, &c.bio, &c.lang, &c.followers, &c.category,
			&c.displayName, &c.slug, &c.url, &c.categoryName, &c.categorySlug, &c.categoryURL)
		copy(c.id[:], id)
		last = place{[]int64{0, c.viewers}, c.id}
		if c.isLive {
			last.numbers[0] = 1
		}
		row(&c)
		return err
	})
	return count, next, err
}

func (t *tables) readStats(ctx context.Context, channel uuid.UUID) (followers, subscribers, viewers int64, err error) {
	err = t.stats.QueryRowContext(ctx, true, time.Now().UnixMilli(), channel[:]).Scan(&followers, &viewers, &subscribers)
	return followers, subscribers, viewers, err
}

// user is a row of moderators.
type user struct {
	id                     uuid.UUID
	displayName, slug, url string
}

func (t *tables) readModerators(ctx context.Context, channel uuid.UUID, row func(*user)) error {
	return each(ctx, t.moderators, []any{channel[:]}, func(rows *sql.Rows) error {
		var u user
		var id sql.RawBytes
		err := rows.Scan(&id, &u.displayName, &u.slug, &u.url)
		copy(u.id[:], id)
		row(&u)
		return err
	})
}

// standing is the standing of a user in a channel.
type standing struct {
	now                      int64
	hasChannel, hasUser      bool
	bannedAt, muteExpiresAt  *int64
	generation               int64
	isModerator, isVIP, isOG bool
}

func (t *tables) readStanding(ctx context.Context, channel, user uuid.UUID) (s standing, err error) {
	c, u := channel[:], user[:]
	err = t.standing.QueryRowContext(ctx, c, u, c, u, c, u, c, u, c, c, u, c, u, c, u).Scan(&s.now, &s.hasChannel, &s.hasUser,
		&s.bannedAt, &s.muteExpiresAt, &s.generation, &s.isModerator, &s.isVIP, &s.isOG)
	return s, err
}
