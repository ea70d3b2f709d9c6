package store_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/certificates/certtest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// TestDatabaseOverTLS connects to a MariaDB of its own, which serves TLS, while its
// certificate changes. The driver connects to MySQL with the same code.
func TestDatabaseOverTLS(t *testing.T) {
	t.Parallel()
	if os.Getenv(testdb.Variable) == testdb.None {
		t.Skip("MariaDB is not wanted")
	}
	if _, err := exec.LookPath("mariadbd"); err != nil && !testdb.IsRequired() {
		t.Skip("there is no MariaDB")
	}
	authority, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := authority.Files(t, dir, "127.0.0.1", time.Hour)
	server, err := testdb.StartMariaDB(t.Context(), filepath.Join(dir, "data"), filepath.Join(dir, "log"),
		"--ssl-cert="+cert, "--ssl-key="+key, "--ssl-ca="+authority.File,
		"--skip-log-bin", "--innodb-buffer-pool-size=16M", "--innodb-use-native-aio=0", "--innodb-flush-log-at-trx-commit=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	open := func(user, options string) error {
		t.Helper()
		u, err := store.ParseURL("mysql://" + user + "@" + server.Addr + "/mysql?" + options)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := store.OpenWithoutBound(ctx, u)
		if err == nil {
			s.Close()
		}
		return err
	}
	expect := func(user, options, want string) {
		t.Helper()
		if err := open(user, options); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", options, err, want)
		}
	}
	plain, err := store.ParseURL("mysql://root@" + server.Addr + "/mysql")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := store.OpenWithoutBound(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	exec := func(statement string) {
		t.Helper()
		if _, err := admin.DB().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE USER known@'%' REQUIRE X509")
	exec("GRANT SELECT ON mysql.* TO known@'%'")

	trusting := "tls=true&tls-ca=" + url.QueryEscape(authority.File)
	expect("root", trusting, "")
	expect("root", "tls=skip-verify", "")
	expect("root", "tls=true", "certificate signed by unknown authority")
	expect("root", "tls=true&tls-ca="+url.QueryEscape(other.File), "certificate signed by unknown authority")
	expect("root", "tls=true&tls-ca="+url.QueryEscape(key), "it has a block")

	ownCert, ownKey := authority.Files(t, t.TempDir(), "moderato", time.Hour)
	expect("known", trusting+"&tls-cert="+url.QueryEscape(ownCert)+"&tls-key="+url.QueryEscape(ownKey), "")
	expect("known", trusting, "Access denied")
	expect("known", "tls=false", "Access denied")
	expect("known", trusting+"&tls-cert="+url.QueryEscape(ownCert)+"&tls-key="+url.QueryEscape(key), "private key does not match")

	for _, c := range []struct {
		name     string
		lifetime time.Duration
		want     string
	}{
		{"db.example.com", time.Hour, "127.0.0.1"}, // another name
		{"127.0.0.1", -time.Hour, "expired"},
		{"127.0.0.1", time.Hour, ""}, // rotated
	} {
		authority.Files(t, dir, c.name, c.lifetime)
		exec("FLUSH SSL")
		expect("root", trusting, c.want)
	}
}
