package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// TestStoreFollowsPromotedReplica promotes a replica of MariaDB under load, as
// docs/replication.md says.
func TestStoreFollowsPromotedReplica(t *testing.T) {
	t.Parallel()
	if os.Getenv(testdb.Variable) == testdb.None {
		t.Skip("MariaDB is not wanted")
	}
	if _, err := exec.LookPath("mariadbd"); err != nil && !testdb.IsRequired() {
		t.Skip("there is no MariaDB")
	}
	primary, replica := startReplicated(t)
	url, err := store.ParseURL("mysql://app@" + replica.addr + "," + primary.addr + "/app")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if s.Primary() != primary.addr {
		t.Errorf("the primary is %q, want %s", s.Primary(), primary.addr)
	}

	w := &numbers{store: s}
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() { w.write(ctx) })
	w.waitFor(t, 50)

	primary.exec(t, "SET GLOBAL read_only = ON")
	wantReadOnly(t, "mysql://app@"+primary.addr+"/app")
	var position string
	primary.query(t, "SELECT @@GLOBAL.gtid_binlog_pos", &position)
	var waited int
	replica.query(t, "SELECT MASTER_GTID_WAIT('"+position+"', 10)", &waited)
	replica.exec(t, "STOP SLAVE")
	replica.exec(t, "SET GLOBAL read_only = OFF")
	promoted := time.Now()
	w.waitFor(t, w.count()+50)
	if took := time.Since(promoted); took > 10*time.Second {
		t.Errorf("writes went on after %v", took)
	}
	stop()
	writing.Wait()

	if s.Primary() != replica.addr {
		t.Errorf("the primary is %q, want the promoted %s", s.Primary(), replica.addr)
	}
	has := replica.numbers(t)
	for _, n := range w.acknowledged {
		if !slices.Contains(has, n) {
			t.Errorf("%d was acknowledged and is lost", n)
		}
	}
	for _, n := range primary.numbers(t) {
		if !slices.Contains(has, n) {
			t.Errorf("%d was written to the former primary alone", n)
		}
	}

	// A former primary that comes back as a second primary is later in the URL.
	primary.exec(t, "SET GLOBAL read_only = OFF")
	time.Sleep(2 * time.Second)
	if s.Primary() != replica.addr {
		t.Errorf("the primary is %q, want the first of two writable servers, %s", s.Primary(), replica.addr)
	}
}

// wantReadOnly checks that a server which is given this member alone does not start.
func wantReadOnly(t *testing.T, url string) {
	t.Helper()
	parsed, err := store.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), parsed)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CheckServer(t.Context()); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("got %v for a read-only member", err)
	}
}

// replicated is a MariaDB server with its administrator.
type replicated struct {
	addr  string
	admin *sql.DB
}

// startReplicated starts a primary and its replica.
func startReplicated(t *testing.T) (primary, replica *replicated) {
	t.Helper()
	var both [2]*replicated
	var starting sync.WaitGroup
	for i := range both {
		starting.Go(func() {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
			server, err := testdb.StartMariaDB(t.Context(), filepath.Join(dir, "data"), filepath.Join(dir, "log"),
				fmt.Sprint("--server-id=", i+1), "--log-bin=binlog", "--log-slave-updates", "--gtid-strict-mode",
				"--innodb-buffer-pool-size=16M", "--innodb-use-native-aio=0", "--innodb-flush-log-at-trx-commit=0")
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(server.Kill)
			config := mysql.NewConfig()
			config.Net, config.Addr, config.User = "tcp", server.Addr, "root"
			connector, err := mysql.NewConnector(config)
			if err != nil {
				t.Error(err)
				return
			}
			both[i] = &replicated{server.Addr, sql.OpenDB(connector)}
			t.Cleanup(func() { _ = both[i].admin.Close() })
		})
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	primary, replica = both[0], both[1]
	host, port, _ := strings.Cut(primary.addr, ":")
	replica.exec(t, "SET GLOBAL gtid_slave_pos = ''")
	primary.exec(t, "RESET MASTER")
	replica.exec(t, "RESET MASTER")
	replica.exec(t, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='root', MASTER_USE_GTID=slave_pos", host, port))
	replica.exec(t, "START SLAVE")
	replica.exec(t, "SET GLOBAL read_only = ON")
	for _, statement := range []string{
		"CREATE DATABASE app", "CREATE TABLE app.numbers (id INT PRIMARY KEY)",
		"CREATE USER app@'%'", "GRANT SELECT, INSERT ON app.* TO app@'%'",
	} {
		primary.exec(t, statement)
	}
	return primary, replica
}

func (r *replicated) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := r.admin.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (r *replicated) query(t *testing.T, statement string, value any) {
	t.Helper()
	if err := r.admin.QueryRowContext(t.Context(), statement).Scan(value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (r *replicated) numbers(t *testing.T) (all []int) {
	t.Helper()
	err := store.QueryEach(t.Context(), r.admin, "SELECT id FROM app.numbers", nil, func(scan func(...any) error) error {
		all = append(all, 0)
		return scan(&all[len(all)-1])
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// numbers writes consecutive numbers.
type numbers struct {
	store *store.Store

	mu           sync.Mutex
	acknowledged []int
}

func (w *numbers) write(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		err := w.store.Write(ctx, func(ctx context.Context, tx *ent.Tx, a store.Attempt) error {
			if a.Unknown {
				err := store.QueryRow(ctx, tx, "SELECT id FROM numbers WHERE id = ?", []any{n}, new(int))
				if err == nil {
					return store.ErrCommitted
				}
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO numbers VALUES (?)", n)
			return err
		})
		if err == nil {
			w.mu.Lock()
			w.acknowledged = append(w.acknowledged, n)
			w.mu.Unlock()
		}
	}
}

func (w *numbers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acknowledged)
}

func (w *numbers) waitFor(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); w.count() < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d writes were acknowledged, want %d", w.count(), n)
		}
	}
}
