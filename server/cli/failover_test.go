package cli_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/testdb"
)

// maxResume is how long writes may be interrupted by a fault of one member.
const maxResume = 15 * time.Second

// TestFailoverKeepsAcknowledgedChanges sets up a replication group as documented, and kills
// its primary once while two servers write.
func TestFailoverKeepsAcknowledgedChanges(t *testing.T) {
	if os.Getenv(testdb.Variable) == testdb.None && os.Getenv("CI") != "true" {
		t.Skip("MySQL is not wanted")
	}
	f := newGroupFailover(t, newGroup(t, onLoopback(t)), 3000)
	f.serveAsDocumented(t)
	f.start(t)
	former := f.group.primary(t)
	f.load.burst()
	former.Kill()
	killed := time.Now()
	for without := ""; without != "not ready: the database cluster has no primary\n"; time.Sleep(50 * time.Millisecond) {
		if without = f.get(t, f.servers[0], "/readyz"); time.Since(killed) > maxResume {
			t.Fatalf("without a primary /readyz says %q", without)
		}
	}
	f.await(t, "kill", former.Addr, killed)
	f.finish(t)
}

var (
	failoverKills      = flag.Int("failover-kills", 0, "how often TestFailoverExperiment kills the primary")
	failoverPartitions = flag.Int("failover-partitions", 0, "how often TestFailoverExperiment isolates the primary from its group")
	failoverPauses     = flag.Int("failover-pauses", 0, "how often TestFailoverExperiment suspends the primary")
)

// TestFailoverExperiment is the long form of TestFailoverKeepsAcknowledgedChanges. Each
// member has a network of its own, so that the primary can be cut off from its group while
// the servers reach it.
func TestFailoverExperiment(t *testing.T) {
	faults := *failoverKills + *failoverPartitions + *failoverPauses
	if faults == 0 {
		t.Skip("make failover runs it")
	}
	n := newNetwork(t)
	f := newGroupFailover(t, newGroup(t, n.members), 6000*(faults+1))
	f.start(t)
	for i := range max(*failoverKills, *failoverPartitions, *failoverPauses) {
		if i < *failoverKills {
			f.kill(t)
		}
		if i < *failoverPartitions {
			f.partition(t, n)
		}
		if i < *failoverPauses {
			f.pause(t)
		}
	}
	f.finish(t)
}

// failover is an experiment: servers write to a cluster whose members fail.
type failover struct {
	url     store.URL
	db      *store.Store
	servers []*process.Server
	load    *failoverLoad
	stop    context.CancelFunc
	ended   chan struct{}
	resumes map[string][]time.Duration
}

// newFailover migrates a database with the account of one URL, and serves it with that of
// another.
func newFailover(t *testing.T, migrated, url store.URL, users int) *failover {
	t.Helper()
	f := &failover{url: url, ended: make(chan struct{}), resumes: map[string][]time.Duration{}}
	if got := process.Run(t, nil, "", "migrate", process.DBFlag(migrated)); got.Code != 0 {
		t.Fatal(got.Err)
	}
	var err error
	if f.db, err = store.Open(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.db.Close)
	servertest.Import(t, f.db, servertest.World()...)
	for range 2 {
		f.servers = append(f.servers, process.Serve(t, url))
	}
	f.load = newFailoverLoad(t, f.db, f.servers, users)
	return f
}

// groupFailover is a failover of a replication group.
type groupFailover struct {
	*failover

	group *group
}

func newGroupFailover(t *testing.T, g *group, users int) *groupFailover {
	t.Helper()
	return &groupFailover{newFailover(t, g.urlOf(t, "moderato_ddl"), g.url, users), g}
}

// serveAsDocumented runs the documented commands that migrate the database and serve it.
func (f *groupFailover) serveAsDocumented(t *testing.T) {
	t.Helper()
	directory := demoDirectory(t)
	commands := strings.NewReplacer("?tls=true", "", ":8080", "127.0.0.1:0",
		"10.0.0.5:9090", "127.0.0.1:0 --admin-addr 127.0.0.1:0 --log-format json").Replace(f.group.documented(t, "MySQL group replication/7"))
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = directory, append(os.Environ(), "PATH="+filepath.Join(directory, "bin")+":"+os.Getenv("PATH"))
	l := listen(t, cmd)
	l.until(t, `"msg":"listening"`)
	_ = l.signal(syscall.SIGTERM)
}

// start starts the load, and waits for the first acknowledged writes.
func (f *failover) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	go func() {
		defer close(f.ended)
		f.load.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-f.ended
	})
	f.load.resumedAfter(t, time.Now(), 4*maxResume)
	time.Sleep(time.Second)
}

// kill kills the primary, and starts it again when writes have resumed.
func (f *groupFailover) kill(t *testing.T) {
	t.Helper()
	former := f.group.primary(t)
	f.load.burst()
	former.Kill()
	f.await(t, "kill", former.Addr, time.Now())
	if err := former.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.group.awaitOnline(t)
}

// partition isolates the primary from the other members. It stays reachable for the servers.
func (f *groupFailover) partition(t *testing.T, n *network) {
	t.Helper()
	former := f.group.primary(t)
	f.load.burst()
	n.isolate(t, former)
	f.await(t, "partition", former.Addr, time.Now())
	time.Sleep(3 * time.Second) // with a primary on either side, as far as the servers can tell
	n.heal(t)
	f.rejoin(t, former)
}

// pause suspends the primary until there is another one. It then continues in the belief
// that it is the primary.
func (f *groupFailover) pause(t *testing.T) {
	t.Helper()
	former := f.group.primary(t)
	f.load.burst()
	former.Pause()
	f.await(t, "pause", former.Addr, time.Now())
	former.Continue()
	time.Sleep(3 * time.Second)
	f.rejoin(t, former)
}

// rejoin has a member that left the group join again, as documented.
func (f *groupFailover) rejoin(t *testing.T, m *groupMember) {
	t.Helper()
	m.run(t, f.group.documented(t, "Rejoin a member/1"))
	f.group.awaitOnline(t)
}

// await waits until writes have resumed with another primary, which the servers must name.
func (f *failover) await(t *testing.T, what, former string, fault time.Time) {
	t.Helper()
	took := f.load.resumedAfter(t, fault, 4*maxResume)
	t.Logf("%s of %s: writes resumed after %v", what, former, took.Round(10*time.Millisecond))
	f.resumes[what] = append(f.resumes[what], took)
	for _, s := range f.servers {
		named, ready := f.primaryOf(t, s, former)
		metrics := f.get(t, s, "/metrics")
		if named == "" || strings.Contains(ready, "secret") {
			t.Errorf("/readyz says %q after the failure of %s", ready, former)
		} else if !strings.Contains(metrics, `moderato_database_primary{host="`+named+`"} 1`) || !strings.Contains(metrics, `moderato_database_primary{host="`+former+`"} 0`) {
			t.Errorf("the metrics do not name the primary %s", named)
		}
	}
}

// primaryOf returns the primary that /readyz of a server names, once it is not the former
// one. The server still works off what has waited.
func (f *failover) primaryOf(t *testing.T, s *process.Server, former string) (named, ready string) {
	t.Helper()
	for deadline := time.Now().Add(maxResume); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ready = f.get(t, s, "/readyz")
		found := regexp.MustCompile(`the primary of the database is (\S+)`).FindStringSubmatch(ready)
		if found != nil && found[1] != former {
			return found[1], ready
		}
	}
	return "", ready
}

func (f *failover) get(t *testing.T, s *process.Server, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Admin+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// finish stops the load, and checks the database.
func (f *failover) finish(t *testing.T) {
	t.Helper()
	f.stop()
	<-f.ended
	for deadline := time.Now().Add(maxResume); f.db.Primary() == "" && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // the servers may have learned of the primary before this process
	}
	f.load.check(t, f.db)
	for _, s := range f.servers {
		for line := range strings.Lines(s.Log()) {
			if strings.Contains(line, `"code":"INTERNAL"`) {
				t.Error(line)
			}
		}
	}
	if got := process.Run(t, nil, "", "fsck", process.DBFlag(f.url)); got.Code != 0 {
		t.Errorf("fsck: %+v", got)
	}
	for what, took := range f.resumes {
		slices.Sort(took)
		median, longest := took[len(took)/2], took[len(took)-1]
		t.Logf("%s × %d: writes resumed after %v (median), %v (longest)", what, len(took), median.Round(10*time.Millisecond), longest.Round(10*time.Millisecond))
		if longest > maxResume {
			t.Errorf("%s: writes resumed after %v, want %v at most", what, longest, maxResume)
		}
	}
}
