package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// rowsPerTransaction is the maximum number of rows that one transaction inserts.
const rowsPerTransaction = 100_000

// open opens a data set's database directly, to fill it.
func (b *bench) open(store, name string) (*sql.DB, error) {
	if store == "mariadb" {
		return sql.Open("mysql", "root@tcp("+b.mariadb.server.Addr+")/bench_"+name+"?interpolateParams=true")
	}
	return sql.Open("sqlite", "file:"+filepath.Join(b.dir, name+".db")+
		"?_pragma=busy_timeout(10000)&_pragma=cache_size(-262144)&_pragma=synchronous(NORMAL)&_pragma=journal_mode(WAL)")
}

// filler fills tables from numbers, inside the database. It creates the records that
// an import would create.
type filler struct {
	db    *sql.DB
	store string
}

// id returns an SQL expression for id(n), where n is an expression too.
func (f filler) id(n string) string {
	unhex := "UNHEX(CONCAT(LPAD(HEX((%[1]s + 1) * 2654435761 %% 4294967296), 8, '0'), '000040008000', LPAD(HEX(%[1]s + 1), 12, '0')))"
	if f.store == "sqlite" {
		unhex = "unhex(printf('%%08X000040008000%%012X', (%[1]s + 1) * 2654435761 %% 4294967296, %[1]s + 1))"
	}
	return fmt.Sprintf(unhex, "("+n+")")
}

// text returns an SQL expression that concatenates expressions.
func (f filler) text(parts ...string) string {
	if f.store == "sqlite" {
		return strings.Join(parts, " || ")
	}
	return "CONCAT(" + strings.Join(parts, ", ") + ")"
}

// insert runs INSERT INTO into SELECT columns, for n from first to last.
func (f filler) insert(ctx context.Context, into string, first, last int, columns ...string) error {
	for from := first; from <= last; from += rowsPerTransaction {
		to := min(last, from+rowsPerTransaction-1)
		numbers := fmt.Sprintf("SELECT seq AS n FROM seq_%d_to_%d", from, to)
		if f.store == "sqlite" {
			numbers = fmt.Sprintf("WITH RECURSIVE c(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c", from, to)
		}
		_, err := f.db.ExecContext(ctx, "INSERT INTO "+into+" SELECT "+strings.Join(columns, ", ")+" FROM ("+numbers+") numbers")
		if err != nil {
			return fmt.Errorf("%s: %w", into, err)
		}
	}
	return nil
}

// fill inserts the records of a dataset.
func (b *bench) fill(ctx context.Context, store string, d *dataset) error {
	db, err := b.open(store, d.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	f := filler{db, store}
	last := d.channels - 1
	category, isLive, viewers := fmt.Sprintf("1 + n %% %d", d.categories), "n % 10 = 0", "CASE WHEN n % 10 = 0 THEN (n - n % 10) / 10 % 5000 ELSE 0 END"
	liveSince := fmt.Sprint(firstInstant)
	steps := []func() error{
		func() error {
			return f.insert(ctx, "categories (id, name, slug, image_url)", 1, d.categories,
				"n", f.text("'Category '", "n"), f.text("'category-'", "n"), f.text("'https://img.example.com/'", "n", "'.png'"))
		},
		func() error {
			return f.insert(ctx, "users (id, username, slug, display_name, avatar_url, created_at)", 0, max(d.users, d.channels)-1,
				f.id("n"), f.text("'user'", "n"), f.text("'user'", "n"), f.text("'User '", "n"), f.text("'https://img.example.com/'", "n", "'.png'"), liveSince)
		},
		func() error {
			return f.insert(ctx, "channels (id, title, bio, lang, category_id, created_at, follower_count, is_live, viewer_count, live_started_at)", 0, last,
				f.id("n"), f.text("'Channel '", "n"), f.text("'What '", "n", "' does'"), "'en'", category, liveSince,
				fmt.Sprintf("CASE WHEN n < %d THEN %d ELSE 0 END", d.followed, d.followers), isLive, viewers, "CASE WHEN n % 10 = 0 THEN "+liveSince+" END")
		},
		func() error {
			return f.insert(ctx, "streams (id, channel_id, started_at, title, lang, category_id, preview_img_url, viewer_count)", 0, last/10,
				f.id("n * 10"), f.id("n * 10"), liveSince, f.text("'Channel '", "n * 10"), "'en'", fmt.Sprintf("1 + n * 10 %% %d", d.categories), "''", "n % 5000")
		},
		func() error {
			_, err := db.ExecContext(ctx, `INSERT INTO channel_counts (id, count)
				SELECT 2 * category_id + is_live, COUNT(*) FROM channels GROUP BY 1`)
			return err
		},
		func() error { return f.people(ctx, d) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// people inserts the followers and moderators of the followed channels.
func (f filler) people(ctx context.Context, d *dataset) error {
	for c := range d.followed {
		person := fmt.Sprintf("%d + (%d + n) %% %d", d.followed, c*d.followers, d.channels-d.followed)
		err := f.insert(ctx, "follows (channel_id, user_id, followed_at, is_notification_enabled)", 0, d.followers-1,
			f.id(fmt.Sprint(c)), f.id(person), fmt.Sprintf("%d + n * 1000", firstInstant), "0")
		if err == nil && d.moderators > 0 {
			err = f.insert(ctx, "roles (id, channel_id, user_id, role, created_at)", 0, d.moderators-1,
				f.id(fmt.Sprintf("%d + n", 1_000_000_000+c*1000)), f.id(fmt.Sprint(c)), f.id(person), "'moderator'", fmt.Sprintf("%d + n", firstInstant))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
