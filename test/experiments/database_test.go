package experiments_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// onInstance runs an experiment on a database server of its own, which it may kill. In the
// short form, only one kind of server is used.
func onInstance(t *testing.T, short string, experiment func(t *testing.T, db *testdb.Instance, url store.URL)) {
	t.Helper()
	for _, kind := range []string{testdb.MariaDB, testdb.MySQL} {
		if !isSoak() && kind != short {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := startInstance(t, kind)
			url, err := store.ParseURL(db.URL() + "moderato")
			if err != nil {
				t.Fatal(err)
			}
			createDatabase(t, url)
			experiment(t, db, url)
		})
	}
}

func startInstance(t *testing.T, kind string, env ...string) *testdb.Instance {
	t.Helper()
	if os.Getenv(testdb.Variable) == testdb.None {
		t.Skipf("%s=%s", testdb.Variable, testdb.None)
	}
	db, err := testdb.StartInstance(context.Background(), kind, env...)
	if err != nil {
		if !testdb.IsRequired() {
			storetest.Announce(err)
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func createDatabase(t *testing.T, url store.URL) {
	t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", url.Host, url.User
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	admin := sql.OpenDB(connector)
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+url.Name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
	if err := errors.Join(err, admin.Close()); err != nil {
		t.Fatal(err)
	}
}

// servingWithin is how soon changes must be acknowledged after a database has returned.
const servingWithin = 5 * time.Second
