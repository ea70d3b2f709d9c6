package cli_test

import (
	"database/sql"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/testdb"
)

var (
	galeraKills  = flag.Int("galera-kills", 0, "how often TestGaleraFailover kills the node that servers write to")
	galeraPauses = flag.Int("galera-pauses", 0, "how often TestGaleraFailover suspends it")

	galeraConflicts = flag.Duration("galera-conflicts", 0, "how long TestGaleraWritersConflict writes")
)

// TestGaleraFailover kills and suspends the first of three Galera nodes while two servers
// write to it. They go on with the second one, and return to the first.
func TestGaleraFailover(t *testing.T) {
	if *galeraKills+*galeraPauses == 0 {
		t.Skip("make failover-galera runs it")
	}
	f := newGaleraFailover(t, 6000*(*galeraKills+*galeraPauses+1))
	f.start(t)
	for range *galeraKills {
		f.load.burst()
		f.first.Kill()
		f.await(t, "kill", f.first.Addr, time.Now())
		if err := f.first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.awaitReturn(t)
	}
	for range *galeraPauses {
		f.load.burst()
		f.first.Pause()
		f.await(t, "pause", f.first.Addr, time.Now())
		f.first.Continue()
		f.awaitReturn(t)
	}
	f.finish(t)
}

// TestGaleraWritersConflict has two servers write to different nodes, as they can for a second
// after a failover. Transactions that conflict are rolled back, and must be retried whole.
func TestGaleraWritersConflict(t *testing.T) {
	if *galeraConflicts == 0 {
		t.Skip("make failover-galera runs it")
	}
	f := newGaleraFailover(t, int(*galeraConflicts/writeInterval)*2)
	f.servers[1].Kill()
	hosts := f.url.Hosts()
	slices.Reverse(hosts)
	other := f.url
	other.Host = strings.Join(hosts, ",")
	f.servers[1] = process.Serve(t, other)
	f.load = newFailoverLoad(t, f.db, f.servers, len(f.load.users))
	f.start(t)
	time.Sleep(*galeraConflicts)
	f.finish(t)
}

// galeraFailover is a failover of a Galera cluster.
type galeraFailover struct {
	*failover

	first *testdb.GaleraNode // of the hosts in the URL
	nodes []*sql.DB
}

func newGaleraFailover(t *testing.T, users int) galeraFailover {
	t.Helper()
	nodes, err := testdb.StartGalera(t.Context(), memoryDirectory(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	f := galeraFailover{first: nodes[0]}
	var hosts []string
	for _, n := range nodes {
		hosts = append(hosts, n.Addr)
		f.nodes = append(f.nodes, openDatabase(t, store.URL{Host: n.Addr}))
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the end of the log of %s:\n%s", n.Addr, n.Log())
			}
			n.Kill()
		})
	}
	if _, err := f.nodes[0].ExecContext(t.Context(), "CREATE DATABASE moderato CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	url, err := store.ParseURL("mysql://root@" + strings.Join(hosts, ",") + "/moderato")
	if err != nil {
		t.Fatal(err)
	}
	f.failover = newFailover(t, url, url, users)
	return f
}

// awaitReturn waits until all nodes are in the cluster again, and the servers write to the
// first one.
func (f galeraFailover) awaitReturn(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(rejoinTime); ; time.Sleep(50 * time.Millisecond) {
		if f.isComplete(t) && f.haveReturned(t) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the servers have not returned to the first node")
		}
	}
}

// isComplete reports whether each node sees all nodes.
func (f galeraFailover) isComplete(t *testing.T) bool {
	t.Helper()
	for _, n := range f.nodes {
		var name, size string
		err := n.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'").Scan(&name, &size)
		if err != nil || size != strconv.Itoa(len(f.nodes)) {
			return false
		}
	}
	return true
}

// haveReturned reports whether the servers write to the first node.
func (f galeraFailover) haveReturned(t *testing.T) bool {
	t.Helper()
	return !slices.ContainsFunc(f.servers, func(s *process.Server) bool {
		return !strings.Contains(f.get(t, s, "/readyz"), "the primary of the database is "+f.first.Addr)
	})
}
