package cluster_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store/cluster"
)

const online = "ONLINE SECONDARY"

// TestPrimaryIsTheWritableMember lists what members say, and which one is the primary.
func TestPrimaryIsTheWritableMember(t *testing.T) {
	primary, secondary := func() *fake { return inGroup("ONLINE PRIMARY", online, online) },
		func() *fake { return inGroup(online, "ONLINE PRIMARY", online) }
	for name, test := range map[string]struct {
		members []*fake
		want    string // the host, or a part of the error
	}{
		"replicas":               {[]*fake{standalone("ON"), standalone("OFF"), standalone("NO_LOCK")}, "b:1"},
		"two writable servers":   {[]*fake{standalone("OFF"), standalone("ON"), standalone("OFF")}, "a:1 and c:1 are writable"},
		"replicas alone":         {[]*fake{standalone("ON"), standalone("ON")}, "a:1 is read-only; b:1 is read-only"},
		"group":                  {[]*fake{secondary(), secondary(), primary()}, "c:1"},
		"group without majority": {[]*fake{inGroup("ONLINE PRIMARY", "UNREACHABLE SECONDARY", "UNREACHABLE SECONDARY"), secondary()}, "a:1 does not reach the majority"},
		"half of a group":        {[]*fake{inGroup("ONLINE PRIMARY", "UNREACHABLE SECONDARY"), secondary()}, "a:1 does not reach the majority"},
		"partitioned primary": {[]*fake{
			inGroup("ONLINE PRIMARY 1", "ONLINE SECONDARY 2", "ONLINE SECONDARY 3"), inGroup("ONLINE SECONDARY 2", "UNREACHABLE PRIMARY 1", "ONLINE SECONDARY 3"),
		}, "a:1 is unreachable for b:1"},
		"partitioned secondary": {[]*fake{
			inGroup("ONLINE PRIMARY 1", "ONLINE SECONDARY 2", "ONLINE SECONDARY 3"), inGroup("ONLINE SECONDARY 2", "UNREACHABLE PRIMARY 1", "UNREACHABLE SECONDARY 3"),
		}, "a:1"},
		"recovering member":         {[]*fake{inGroup("RECOVERING PRIMARY", online, online), secondary()}, "a:1 has the state RECOVERING"},
		"member outside its group":  {[]*fake{inGroup("OFFLINE "), secondary()}, "a:1 has the state OFFLINE"},
		"group with many primaries": {[]*fake{secondary(), primary(), primary()}, "b:1"},
		"galera":                    {[]*fake{galeraNode("Donor/Desynced"), galeraNode("Synced"), galeraNode("Synced")}, "b:1"},
		"joining galera":            {[]*fake{galeraNode("Joined"), galeraNode("Joined")}, "b:1 has the state Joined"},
		"a down member":             {[]*fake{{fails: errRefused}, standalone("OFF")}, "b:1"},
		"a silent member":           {[]*fake{{isSilent: true}, standalone("OFF")}, "b:1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, nil, test.members...)
				conn, err := c.Connect(t.Context())
				if err == nil {
					defer func() { _ = conn.Close() }()
				}
				if isHost := len(test.want) == 3; isHost && (err != nil || c.Primary() != test.want) {
					t.Errorf("the primary is %q (%v), want %s", c.Primary(), err, test.want)
				} else if !isHost && (!errors.Is(err, cluster.ErrNoPrimary) || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("got %v, want no primary: %s", err, test.want)
				}
			})
		})
	}
}

// TestPartitionedGaleraNodeIsNotWrittenTo has a node outside the primary component.
func TestPartitionedGaleraNodeIsNotWrittenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside := galeraNode("Synced")
		outside.status["wsrep_cluster_status"] = "non-Primary"
		c := connect(t, nil, outside, galeraNode("Synced"))
		if _, err := c.Connect(t.Context()); err != nil || c.Primary() != "b:1" {
			t.Errorf("the primary is %q (%v), want b:1", c.Primary(), err)
		}
	})
}

// TestFailoverDiscardsConnections moves the primary of a group, and observes the pool of a database.
func TestFailoverDiscardsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := inGroup("ONLINE PRIMARY", online, online), inGroup(online, "ONLINE PRIMARY", online)
		c := connect(t, nil, a, b)
		db := sql.OpenDB(c)
		defer func() { _ = db.Close() }()
		run := func() {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), "SELECT 1"); err != nil {
				t.Error(err)
			}
		}
		run()
		a.set(func(f *fake) { f.sees(online, "ONLINE PRIMARY", online) })
		b.set(func(f *fake) { f.sees("ONLINE PRIMARY", online, online) })
		c.Doubt()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		run()
		once := []string{"SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'", "SELECT 1"}
		if !slices.Equal(a.executed, once) || !slices.Equal(b.executed, once) {
			t.Errorf("the members ran %q and %q, want one statement each", a.executed, b.executed)
		}
		want := []string{"moderato_database_failovers_total 1", "moderato_database_primary a:1 0", "moderato_database_primary b:1 1"}
		if got := metricsOf(t, c); !slices.Equal(got, want) {
			t.Errorf("the metrics are %q, want %q", got, want)
		}
	})
}

// metricsOf returns the metrics with their labels and values.
func metricsOf(t *testing.T, c *cluster.Connector) (all []string) {
	t.Helper()
	r := prometheus.NewRegistry()
	c.Register(r)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := f.GetName()
			for _, l := range m.GetLabel() {
				text += " " + l.GetValue()
			}
			all = append(all, fmt.Sprint(text, " ", m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	return all
}

// TestConnectionIsCheckedBeforeUse demotes the primary directly after a round of probes.
func TestConnectionIsCheckedBeforeUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, nil, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		a.set(func(f *fake) { f.variables["read_only"] = "ON" })
		if conn, err := c.Connect(t.Context()); !errors.Is(err, cluster.ErrNoPrimary) {
			t.Errorf("got %v and %v, want no primary", conn, err)
		}
	})
}

// TestSlowPrimaryStays has a primary that leaves one probe without an answer, and then all.
func TestSlowPrimaryStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, nil, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		a.set(func(f *fake) { f.isSilent = true })
		time.Sleep(3300 * time.Millisecond)
		if c.Primary() != "a:1" {
			t.Error("a primary that did not answer once is lost")
		}
		a.set(func(f *fake) { f.isSilent = false })
		time.Sleep(4 * time.Second)
		a.set(func(f *fake) { f.isSilent = true })
		time.Sleep(8 * time.Second)
		if got := c.Primary(); got != "" {
			t.Errorf("a primary that does not answer is still %s", got)
		}
	})
}

// TestSilentPrimaryIsLeftWhenItsGroupDoesNotReachIt has a partitioned primary that leaves
// probes without an answer, which alone would be forgiven.
func TestSilentPrimaryIsLeftWhenItsGroupDoesNotReachIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := inGroup("ONLINE PRIMARY 1", "ONLINE SECONDARY 2", "ONLINE SECONDARY 3")
		b := inGroup("ONLINE SECONDARY 2", "ONLINE PRIMARY 1", "ONLINE SECONDARY 3")
		c := connect(t, nil, a, b)
		time.Sleep(time.Second)
		if c.Primary() != "a:1" {
			t.Fatalf("the primary is %q", c.Primary())
		}
		a.set(func(f *fake) { f.isSilent = true })
		b.set(func(f *fake) {
			f.members = inGroup("ONLINE SECONDARY 2", "UNREACHABLE PRIMARY 1", "ONLINE SECONDARY 3").members
		})
		time.Sleep(1100 * time.Millisecond) // a round, and the time to settle
		if got := c.Primary(); got != "" {
			t.Errorf("the primary is still %s", got)
		}
	})
}

// TestReturnedPrimaryIsIgnored has a former primary that was suspended, and still believes
// to be the primary, beside the new one. Galera has the opposite rule: all servers must
// choose the same node.
func TestReturnedPrimaryIsIgnored(t *testing.T) {
	for name, test := range map[string]struct {
		make func() *fake
		want string
	}{
		"group":  {func() *fake { return inGroup("ONLINE PRIMARY", online, online) }, "b:1"},
		"galera": {func() *fake { return galeraNode("Synced") }, "a:1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := test.make(), test.make()
				a.isSilent = true
				c := connect(t, nil, a, b)
				time.Sleep(time.Second)
				if c.Primary() != "b:1" {
					t.Errorf("the primary is %q, want b:1", c.Primary())
				}
				a.set(func(f *fake) { f.isSilent = false })
				time.Sleep(5 * time.Second)
				if c.Primary() != test.want {
					t.Errorf("the primary is %q, want %s", c.Primary(), test.want)
				}
			})
		})
	}
}

// TestSplitIsRemembered has two members that were writable at the same time. A slow answer of
// one of them does not make the other one the primary.
func TestSplitIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale, current := standalone("OFF"), standalone("OFF")
		c := connect(t, nil, stale, current)
		time.Sleep(time.Second)
		current.set(func(f *fake) { f.isSilent = true })
		time.Sleep(10 * time.Second)
		if got := c.Primary(); got != "" {
			t.Errorf("while one does not answer, the primary is %s", got)
		}
		current.set(func(f *fake) { f.isSilent = false })
		time.Sleep(5 * time.Second)
		if got := c.Primary(); got != "" {
			t.Errorf("while both are writable, the primary is %s", got)
		}
		stale.set(func(f *fake) { f.variables["read_only"] = "ON" })
		time.Sleep(time.Second)
		if got := c.Primary(); got != "b:1" {
			t.Errorf("after the other was made read-only, the primary is %q", got)
		}
	})
}

// TestConnectingToFormerPrimaryEnds has a primary hang while a connection to it is opened.
func TestConnectingToFormerPrimaryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, nil, a, standalone("ON"))
		time.Sleep(time.Second)
		a.set(func(f *fake) { f.isSilent = true })
		began := time.Now()
		if _, err := c.Connect(t.Context()); !errors.Is(err, cluster.ErrNoPrimary) || time.Since(began) > 15*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// TestSessionWaitsForEarlierTransactions checks that a session on a new primary sees what
// the former one has acknowledged.
func TestSessionWaitsForEarlierTransactions(t *testing.T) {
	for want, member := range map[string]*fake{
		"SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'": inGroup("ONLINE PRIMARY", online, online),
		"SET SESSION wsrep_sync_wait = 7":                                          galeraNode("Synced"),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, func(config *cluster.Config) {
				config.Settings = func(version string) []string { return []string{"version " + version} }
			}, member, &fake{fails: errRefused})
			if _, err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := []string{want, "version " + member.variables["version"]}; !slices.Equal(member.executed, got) {
				t.Errorf("the session begins with %q, want %q", member.executed, got)
			}
		})
	}
}

// TestPinnedConnectorDoesNotFollow is about migrations, which hold a lock on one member.
func TestPinnedConnectorDoesNotFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := standalone("OFF"), standalone("ON")
		c := connect(t, func(config *cluster.Config) { config.IsPinned = true }, a, b)
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.set(func(f *fake) { f.fails = errRefused })
		b.set(func(f *fake) { f.variables["read_only"] = "OFF" })
		time.Sleep(3 * time.Second)
		if _, err := c.Connect(t.Context()); !errors.Is(err, cluster.ErrNoPrimary) || !strings.Contains(err.Error(), "it was a:1 and is b:1") {
			t.Errorf("got %v, want that the primary has changed", err)
		}
	})
}

// TestWaitForPrimaryIsBounded has no member that answers, and a caller with little time.
func TestWaitForPrimaryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, nil, &fake{isSilent: true}, &fake{isSilent: true})
		began := time.Now()
		if _, err := c.Connect(t.Context()); !errors.Is(err, cluster.ErrNoPrimary) || time.Since(began) > 3*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		began = time.Now()
		if _, err := c.Connect(ctx); !errors.Is(err, cluster.ErrNoPrimary) || time.Since(began) > 20*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// TestRejectionByEveryMemberIsReported has a wrong password. A caller must not wait for a
// primary.
func TestRejectionByEveryMemberIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		denied := &mysql.MySQLError{Number: 1045, Message: "Access denied"}
		c := connect(t, nil, &fake{fails: denied}, &fake{fails: denied})
		if _, err := c.Connect(t.Context()); !errors.Is(err, denied) || errors.Is(err, cluster.ErrNoPrimary) {
			t.Errorf("got %v, want %v", err, denied)
		}
	})
}

// TestStatementOnFormerPrimaryEnds has a statement wait for a primary that is unreachable.
func TestStatementOnFormerPrimaryEnds(t *testing.T) {
	client, server := net.Pipe()
	defer func() { _ = server.Close() }()
	a, b := standalone("OFF"), standalone("ON")
	dial := cluster.Dial(func(context.Context, string, string) (net.Conn, error) { return client, nil })
	c := connect(t, func(config *cluster.Config) {
		inner := config.Connect
		config.Connect = func(host string) (driver.Connector, error) {
			member, err := inner(host)
			return dialing{member, dial}, err
		}
	}, a, b)
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.Read(make([]byte, 1))
		ended <- err
	}()
	a.set(func(f *fake) { f.variables["read_only"] = "ON" })
	c.Doubt()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the read succeeded")
		}
	case <-time.After(10 * time.Second):
		t.Error("the connection to the former primary stays open")
	}
}

// dialing is a connector that dials as the driver does.
type dialing struct {
	driver.Connector
	dial cluster.DialFunc
}

func (d dialing) Connect(ctx context.Context) (driver.Conn, error) {
	if _, err := d.dial(ctx, "tcp", ""); err != nil {
		return nil, err
	}
	return d.Connector.Connect(ctx)
}
