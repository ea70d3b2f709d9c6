package requests_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// commands runs commands with secrets, also with a database that does not answer.
func (x *exposure) commands(t *testing.T, owner servertest.Credentials) {
	t.Helper()
	password := canary("Database")
	x.secrets["password of the database"] = password
	run := func(env []string, input string, args ...string) process.Result {
		r := process.Run(t, env, input, args...)
		x.texts["commands"] += r.Out + r.Err
		return r
	}
	succeed := func(input string, args ...string) {
		t.Helper()
		if r := run(nil, input, args...); r.Code != 0 {
			t.Errorf("%v exited with %d: %s%s", args, r.Code, r.Out, r.Err)
		}
	}
	for _, address := range []string{"mysql://moderato:" + password + "@127.0.0.1:1/moderato", "mysql://moderato:" + password + "@[/x", "postgres://moderato:" + password + "@localhost/x"} {
		for _, command := range [][]string{{"migrate"}, {"fsck"}, {"serve"}, {"token", "inspect", "-"}} {
			run(nil, owner.Token, append(command, "--db="+address)...)
			run([]string{"MODERATO_DB=" + address}, owner.Token, command...)
		}
		run([]string{"MODERATO_DB=" + address}, "", "--help")
		run([]string{"MODERATO_DB=" + address}, "", "serve", "--help")
	}
	succeed(owner.Token, "token", "inspect", process.DBFlag(x.url), "-")
	run(nil, owner.Token+"x", "token", "inspect", process.DBFlag(x.url), "-")
	succeed("", "fsck", process.DBFlag(x.url))
	copied := filepath.Join(t.TempDir(), "backup.db")
	succeed("", "backup", process.DBFlag(x.url), copied)
	for _, path := range []string{x.url.Path, x.url.Path + "-wal", copied} {
		text, err := os.ReadFile(path) //nolint:gosec // the test's own files
		if err != nil {
			t.Fatal(err)
		}
		x.texts["file "+filepath.Base(path)] = string(text)
	}
}

// read reads everything that the admin address serves.
func (x *exposure) read(t *testing.T) {
	t.Helper()
	for _, path := range []string{
		"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/goroutine?debug=1",
		"/debug/pprof/heap?debug=1", "/debug/pprof/allocs?debug=1", "/debug/pprof/threadcreate?debug=1", "/debug/pprof/symbol",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+x.Admin+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := x.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		x.texts["admin "+path] += string(text) + "\n"
	}
}

// breakDatabase makes calls fail with server errors.
func (x *exposure) breakDatabase(t *testing.T) {
	t.Helper()
	for _, table := range []string{"roles", "messages", "webhooks", "refresh_tokens"} {
		if _, err := x.db.DB().ExecContext(t.Context(), "DROP TABLE "+table); err != nil {
			t.Fatal(err)
		}
	}
}
