package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // the driver
)

// tables holds the connections to Moderato's tables, and the statements that the
// floor runs on them.
type tables struct {
	read, write *sql.DB
	forUpdate   string
	forShare    string
	now         string
	// then joins in the order of the text.
	then string
	// byLatest, bySent, byRole, byFollow and byKey are hints to use an index.
	byLatest, bySent, byRole, byFollow, byKey string

	followers, stats, standing *sql.Stmt
}

// open connects with the same pools, isolation and durability as Moderato.
func open(ctx context.Context, db string) (*tables, error) {
	t := &tables{}
	var err error
	isSQLite := strings.HasPrefix(db, "sqlite:")
	if isSQLite {
		err = t.openSQLite(strings.TrimPrefix(db, "sqlite:"))
	} else {
		err = t.openMySQL(db)
	}
	if err != nil {
		return nil, err
	}
	t.hint(isSQLite)
	return t, t.prepare(ctx)
}

func (t *tables) openSQLite(path string) error {
	const common = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	var err error
	if t.write, err = sql.Open("sqlite", "file:"+path+common+"&_txlock=immediate"); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if t.read, err = sql.Open("sqlite", "file:"+path+common+"&_pragma=query_only(1)"); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	pool(t.write, 1)
	pool(t.read, max(4, 2*runtime.NumCPU()))
	t.now = "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)"
	return nil
}

func (t *tables) openMySQL(db string) error {
	u, err := url.Parse(db)
	if err != nil {
		return fmt.Errorf("mysql: %w", err)
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	config.Passwd, _ = u.User.Password()
	config.Collation = "utf8mb4_bin"
	config.ClientFoundRows = true
	config.InterpolateParams = true // for the statements of writes; those of reads are prepared
	config.Params = map[string]string{"tx_isolation": "'READ-COMMITTED'"}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return fmt.Errorf("mysql: %w", err)
	}
	t.read = sql.OpenDB(connector)
	t.write = t.read
	pool(t.read, 64)
	t.forUpdate, t.forShare = " FOR UPDATE", " LOCK IN SHARE MODE"
	t.now = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"
	return nil
}

// hint chooses the hints of the statements of batches and sweeps.
func (t *tables) hint(isSQLite bool) {
	index := func(name string) string { return " FORCE INDEX (" + name + ")" }
	t.then, t.byKey = " STRAIGHT_JOIN ", index("PRIMARY")
	if isSQLite {
		index = func(name string) string { return " INDEXED BY " + name }
		t.then, t.byKey = " CROSS JOIN ", index("sqlite_autoindex_follows_1")
	}
	t.byLatest = index("message_user_id_channel_id_generation_sent_at_id")
	t.bySent = index("message_channel_id_sent_at_id")
	t.byRole = index("role_channel_id_user_id_role")
	t.byFollow = index("follow_channel_id_followed_at_user_id")
}

func pool(db *sql.DB, connections int) {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxLifetime(5 * time.Minute)
}

func (t *tables) prepare(ctx context.Context) error {
	for text, s := range map[string]**sql.Stmt{
		`SELECT f.followed_at, f.user_id, u.display_name, u.slug, u.avatar_url,
				s.is_active, s.subscribed_at, s.expires_at, s.renew_count, s.streak_count
			FROM follows f` + t.byFollow + t.then + `users u ON u.id = f.user_id
			LEFT JOIN subscriptions s ON s.channel_id = f.channel_id AND s.user_id = f.user_id
			WHERE f.channel_id = ? ORDER BY f.followed_at DESC, f.user_id DESC LIMIT 21`: &t.followers,
		`SELECT c.follower_count, c.viewer_count, c.subscriber_count -
				(SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active = ? AND s.expires_at <= ?)
			FROM channels c WHERE c.id = ?`: &t.stats,
		`SELECT ` + t.now + `, EXISTS (SELECT 1 FROM channels WHERE id = ?), EXISTS (SELECT 1 FROM users WHERE id = ?),
				(SELECT banned_at FROM bans WHERE channel_id = ? AND user_id = ? AND (expires_at IS NULL OR expires_at > ` + t.now + `)),
				(SELECT expires_at FROM mutes WHERE channel_id = ? AND user_id = ?),
				COALESCE((SELECT generation FROM message_generations WHERE channel_id = ? AND user_id = ?), 0) +
					COALESCE((SELECT generation FROM chat_generations WHERE channel_id = ?), 0),
				EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'moderator'),
				EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'vip'),
				EXISTS (SELECT 1 FROM roles WHERE channel_id = ? AND user_id = ? AND role = 'og')`: &t.standing,
	} {
		var err error
		if *s, err = t.read.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // lives as long as the process
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}
