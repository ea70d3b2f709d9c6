package cli_test

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestDatabaseCommands creates the accounts of the document, migrates with one and serves
// with the other.
func TestDatabaseCommands(t *testing.T) {
	storetest.EachNewOnServer(t, func(t *testing.T, url store.URL) {
		suffix := url.Name[len(url.Name)-8:]
		values := strings.NewReplacer(
			"CREATE DATABASE moderato CHARACTER SET utf8mb4;", "",
			"'moderato'@", "'m"+suffix+"'@", "moderato_ddl", "d"+suffix, "//moderato:", "//m"+suffix+":",
			"moderato.*", url.Name+".*", "…", "secret",
			"db.internal:3306/moderato?tls=true", url.Host+"/"+url.Name,
			":8080", "127.0.0.1:0", "10.0.0.5:9090", "127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-format json")
		admin := openDatabase(t, url)
		for statement := range strings.SplitSeq(values.Replace(block(t, "docs/operations.md: Create the database/1")), ";") {
			statement = strings.TrimSpace(regexp.MustCompile(`(?m)^\s*--.*$`).ReplaceAllString(statement, ""))
			if statement == "" {
				continue
			}
			if _, err := admin.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		t.Cleanup(func() {
			_, _ = admin.ExecContext(context.Background(), "DROP USER 'm"+suffix+"'@'%', 'd"+suffix+"'@'%'")
		})
		directory := demoDirectory(t)
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", values.Replace(block(t, "docs/operations.md: Create the database/2")))
		cmd.Dir, cmd.Env = directory, append(os.Environ(), "PATH="+filepath.Join(directory, "bin")+":"+os.Getenv("PATH"))
		l := listen(t, cmd)
		l.until(t, `"msg":"listening"`)
		_ = l.signal(syscall.SIGTERM)
	})
}

func openDatabase(t *testing.T, url store.URL) *sql.DB {
	t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd = "tcp", url.Host, cmp.Or(url.User, "root"), url.Password
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
