package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // the drivers
	_ "modernc.org/sqlite"

	"github.com/moderato-live/moderato/test/testdb"
)

// dataset describes the content of a database. Its users are numbered, and each has a
// channel. They have the same ids in every database.
type dataset struct {
	users int
	// followed is how many of the channels have followers.
	followed, followers int
	// The raiders posted the messages in the channel swept, which they and others follow.
	raiders, messages, follows int
	// batches is how many batches of users posted in the channel chatty, messagesEach times.
	batches int
}

// data is 120,000 users, 100,000 follows of 100 channels, and a raid.
var data = dataset{
	users: 120_000, followed: 100, followers: 1000,
	raiders: 10_000, messages: 100_000, follows: 100_000, batches: 20,
}

const (
	benchClient  = "bench"
	benchService = "bench-service"
	firstInstant = 1_700_000_000_000
	batchSize    = 1000
	messagesEach = 3
	raidText     = "Join now and get a free sub at example.com, hurry up!"
	// rowsPerTransaction is the maximum number of rows that one transaction inserts.
	rowsPerTransaction = 100_000
)

// The channels of the groups follow those of the reads. Nobody posted in the silent one.
func silent() int { return data.followed }
func chatty() int { return data.followed + 1 }
func swept() int  { return data.followed + 2 }
func busy() int   { return data.followed + 3 }

// owned is the number of channels whose owners have tokens.
func owned() int { return data.followed + 4 }

// id returns the id of a user and of their channel; that of n = -1 would be the reserved one.
func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", scatter(n+1), n+1) }

// scatter spreads ids over the key space, like random ids.
func scatter(n int) uint32 { return uint32(n) * 2654435761 } // wraps on purpose

// user returns the number of the nth user who owns none of the channels of the groups.
func user(n int) int { return owned() + n%(data.users-owned()) }

// database returns the URL of the database of a server, and creates it if it does not exist.
// It deletes what an earlier run left.
func (b *bench) database(ctx context.Context, store, name string, crowd bool) (string, error) {
	url := "sqlite:" + filepath.Join(b.dir, name+".db")
	if store == "mariadb" {
		url = "mysql://root@" + b.mariadb.server.Addr + "/bench_" + name
	}
	// The mark means that the database was filled, and with what. An older schema may be refused.
	mark, want := filepath.Join(b.dir, store+"-"+name+".done"), fmt.Sprintf("%+v", data)
	if got, err := os.ReadFile(mark); err != nil || string(got) != want || b.moderato(ctx, "migrate", "--db", url) != nil {
		b.say("%s: filling the database of %s …", store, name)
		if err := b.create(ctx, store, name, url); err != nil {
			return "", fmt.Errorf("%s, %s: %w", store, name, err)
		}
		if err := os.WriteFile(mark, []byte(want), 0o600); err != nil {
			return "", err
		}
	}
	db, err := b.connect(store, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	f := &filler{db: db, store: store}
	f.reset(ctx, crowd)
	return url, f.err
}

// create creates the database, and fills it.
func (b *bench) create(ctx context.Context, store, name, url string) error {
	if store == "mariadb" {
		for _, statement := range []string{"DROP DATABASE IF EXISTS bench_", "CREATE DATABASE bench_"} {
			if _, err := b.mariadb.db.ExecContext(ctx, statement+name); err != nil {
				return err
			}
		}
	} else {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(filepath.Join(b.dir, name+".db"+suffix))
		}
	}
	for _, args := range [][]string{
		{"migrate"}, {"client", "create", "--id", benchClient, "--name", benchClient}, {"client", "create", "--id", benchService, "--name", benchService, "--service"},
	} {
		if err := b.moderato(ctx, append(args, "--db", url)...); err != nil {
			return err
		}
	}
	db, err := b.connect(store, name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	f := &filler{db: db, store: store}
	f.fill(ctx)
	if store == "mariadb" { // which updates its statistics some seconds after rows were inserted
		f.exec(ctx, "ANALYZE TABLE users, channels, follows")
	}
	return f.err
}

// connect opens a database directly, to fill it.
func (b *bench) connect(store, name string) (*sql.DB, error) {
	if store == "mariadb" {
		return sql.Open("mysql", "root@tcp("+b.mariadb.server.Addr+")/bench_"+name+"?interpolateParams=true")
	}
	return sql.Open("sqlite", "file:"+filepath.Join(b.dir, name+".db")+
		"?_pragma=busy_timeout(10000)&_pragma=cache_size(-262144)&_pragma=synchronous(NORMAL)&_pragma=journal_mode(WAL)")
}

// moderato runs a command of the program.
func (b *bench) moderato(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, b.program("moderato"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("moderato %s: %w: %s", args[0], err, out)
	}
	return nil
}

// filler fills tables from numbers, inside the database, as an import would.
type filler struct {
	db    *sql.DB
	store string
	err   error // the first one; nothing is done after it
}

func (f *filler) exec(ctx context.Context, statement string) {
	if f.err != nil {
		return
	}
	if _, err := f.db.ExecContext(ctx, statement); err != nil {
		f.err = fmt.Errorf("%.80s: %w", statement, err)
	}
}

// insert runs INSERT INTO into SELECT columns, for n from first to last.
func (f *filler) insert(ctx context.Context, into string, first, last int, columns ...string) {
	for from := first; from <= last && f.err == nil; from += rowsPerTransaction {
		to := min(last, from+rowsPerTransaction-1)
		numbers := fmt.Sprintf("SELECT seq AS n FROM seq_%d_to_%d", from, to)
		if f.store == "sqlite" {
			numbers = fmt.Sprintf("WITH RECURSIVE c(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c", from, to)
		}
		f.exec(ctx, "INSERT INTO "+into+" SELECT "+strings.Join(columns, ", ")+" FROM ("+numbers+") numbers")
	}
}

// id returns an SQL expression for id(n), where n is an expression too.
func (f *filler) id(n string) string {
	unhex := "UNHEX(CONCAT(LPAD(HEX((%[1]s + 1) * 2654435761 %% 4294967296), 8, '0'), '000040008000', LPAD(HEX(%[1]s + 1), 12, '0')))"
	if f.store == "sqlite" {
		unhex = "unhex(printf('%%08X000040008000%%012X', (%[1]s + 1) * 2654435761 %% 4294967296, %[1]s + 1))"
	}
	return fmt.Sprintf(unhex, "("+n+")")
}

const (
	intoFollows  = "follows (channel_id, user_id, followed_at, is_notification_enabled)"
	intoMessages = "messages (id, channel_id, user_id, generation, text, sent_at)"
)

// fill inserts the records that all runs share.
func (f *filler) fill(ctx context.Context) {
	image, since := "CONCAT('https://img.example.com/', n, '.png')", fmt.Sprint(firstInstant)
	f.insert(ctx, "categories (id, name, slug, image_url)", 1, 1, "n", "'Category'", "'category'", image)
	f.insert(ctx, "users (id, username, slug, display_name, avatar_url, created_at)", 0, data.users-1,
		f.id("n"), "CONCAT('user', n)", "CONCAT('user', n)", "CONCAT('User ', n)", image, since)
	f.insert(ctx, "channels (id, title, bio, lang, category_id, created_at, follower_count, is_live, viewer_count)", 0, data.users-1,
		f.id("n"), "CONCAT('Channel ', n)", "'What it does'", "'en'", "1", since,
		fmt.Sprintf("CASE WHEN n < %d THEN %d ELSE 0 END", data.followed, data.followers), "0", "0")
	for c := range data.followed {
		channel, person := f.id(fmt.Sprint(c)), f.id(fmt.Sprintf("%d + (%d + n) %% %d", owned(), c*data.followers, data.users-owned()))
		f.insert(ctx, intoFollows, 0, data.followers-1, channel, person, fmt.Sprintf("%d + n * 1000", firstInstant), "0")
	}
}

// reset deletes what an earlier run left. If crowd is true, it inserts the messages and follows
// of the raid and of the batches, which must be recent.
func (f *filler) reset(ctx context.Context, crowd bool) {
	empty := map[string]string{"sqlite": "DELETE FROM ", "mariadb": "TRUNCATE "}[f.store]
	for _, table := range []string{"bans", "message_generations", "messages", "events", "ban_batches", "sweeps", "sweep_chunks"} {
		f.exec(ctx, empty+table)
	}
	for _, channel := range []int{busy(), swept()} {
		f.exec(ctx, "DELETE FROM follows WHERE channel_id = "+f.id(fmt.Sprint(channel)))
		f.exec(ctx, "UPDATE channels SET follower_count = 0 WHERE id = "+f.id(fmt.Sprint(channel)))
	}
	f.exec(ctx, "UPDATE channels SET event_sequence = 0 WHERE event_sequence > 0")
	if !crowd {
		return
	}
	at := fmt.Sprintf("%d + n %% 60000", time.Now().Add(-2*time.Minute).UnixMilli())
	some := func(of int) string { return f.id(fmt.Sprintf("%d + n %% %d", owned(), of)) }
	chatters := data.batches * batchSize
	f.insert(ctx, intoMessages, 0, chatters*messagesEach-1, f.id("n"), f.id(fmt.Sprint(chatty())), some(chatters), "0", "'hello'", at)
	f.insert(ctx, intoMessages, 1_000_000, 1_000_000+data.messages-1, f.id("n"), f.id(fmt.Sprint(swept())), some(data.raiders), "0", "'"+raidText+"'", at)
	f.insert(ctx, intoFollows, 0, data.follows-1, f.id(fmt.Sprint(swept())), some(data.follows), at, "0")
}

// mariadb is a server that the benchmarks start. Its data are kept between runs. It
// commits durably, like a server in production.
type mariadb struct {
	server *testdb.Server
	db     *sql.DB
}

func startMariaDB(ctx context.Context, dir string, bufferPool int) (*mariadb, error) {
	server, err := testdb.StartMariaDB(ctx, filepath.Join(dir, "mariadb"), filepath.Join(dir, "mariadb.log"),
		fmt.Sprintf("--innodb-buffer-pool-size=%dM", bufferPool), "--innodb-log-file-size=512M",
		"--innodb-flush-log-at-trx-commit=1", "--max-connections=400")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("mysql", "root@tcp("+server.Addr+")/")
	if err != nil {
		server.Stop()
		return nil, fmt.Errorf("mariadb: %w", err)
	}
	return &mariadb{server: server, db: db}, nil
}

func (m *mariadb) stop() {
	if m == nil {
		return
	}
	_ = m.db.Close()
	m.server.Stop()
}
