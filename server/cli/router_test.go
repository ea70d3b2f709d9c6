package cli_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/testdb"
)

// TestFailoverBehindRouter sets up a replication group with MySQL Router before it, as documented,
// and kills its primary while two servers write through Router.
func TestFailoverBehindRouter(t *testing.T) {
	if os.Getenv(testdb.Variable) == testdb.None && os.Getenv("CI") != "true" {
		t.Skip("MySQL is not wanted")
	}
	g := newGroup(t, onLoopback(t))
	direct := g.urlOf(t, "moderato_ddl")
	var routes []string // by the place of the member
	own := []string{"?tls=true", "", ":8080", "127.0.0.1:0", "10.0.0.5:9090", "127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-format json"}
	for _, port := range []string{"6446", "6447", "6448"} {
		route := testdb.FreeAddr(t.Context())
		_, free, err := net.SplitHostPort(route)
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, route)
		own = append(own, "127.0.0.1:"+port, route, "bind_port = "+port, "bind_port = "+free)
	}
	directory := t.TempDir()
	if command := block(t, "docs/replication.md: Behind MySQL Router/2"); command != "mysqlrouter --config mysqlrouter.conf\n" {
		t.Fatalf("the documented command is %q, and the test runs another", command)
	}
	stop, err := testdb.StartRouter(t.Context(), directory, strings.NewReplacer(own...).Replace(g.documented(t, "Behind MySQL Router/1")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(directory, "mysqlrouter.log"))
			t.Logf("the log of Router:\n%s", log)
		}
	})
	if g.url, err = store.ParseURL("mysql://moderato:secret@" + strings.Join(routes, ",") + "/moderato"); err != nil {
		t.Fatal(err)
	}
	f := &groupFailover{newFailover(t, direct, g.url, 3000), g}

	commands := strings.NewReplacer(own...).Replace(g.documented(t, "Behind MySQL Router/3"))
	workplace := demoDirectory(t)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = workplace, append(os.Environ(), "PATH="+filepath.Join(workplace, "bin")+":"+os.Getenv("PATH"))
	l := listen(t, cmd)
	l.until(t, `"msg":"listening"`)
	_ = l.signal(syscall.SIGTERM)

	f.start(t)
	former := g.primary(t)
	f.load.burst()
	former.Kill()
	for i, m := range g.members {
		if m == former {
			f.await(t, "kill", routes[i], time.Now())
		}
	}
	f.finish(t)
}
