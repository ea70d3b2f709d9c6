package cluster_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/server/store/cluster"
)

// TestPrimaryIsTheFirstWritableMember lists what members say, and which one is the primary.
func TestPrimaryIsTheFirstWritableMember(t *testing.T) {
	for name, test := range map[string]struct {
		members []*fake
		want    string // the host, or a part of the error
	}{
		"replicas":                  {[]*fake{standalone("ON"), standalone("OFF"), standalone("NO_LOCK")}, "b:1"},
		"two writable servers":      {[]*fake{standalone("ON"), standalone("OFF"), standalone("OFF")}, "b:1"},
		"replicas alone":            {[]*fake{standalone("ON"), standalone("ON")}, "no primary: a:1: is read-only; b:1: is read-only"},
		"group":                     {[]*fake{inGroup(true), inGroup(true)}, "a:1"},
		"member outside its group":  {[]*fake{inGroup(false), inGroup(true)}, "b:1"},
		"group without majority":    {[]*fake{inGroup(false), standalone("ON")}, "a:1: is not online in the majority of its group"},
		"galera":                    {[]*fake{galeraNode("Donor/Desynced"), galeraNode("Synced"), galeraNode("Synced")}, "b:1"},
		"joining galera":            {[]*fake{galeraNode("Synced"), galeraNode("Joined")}, "a:1"},
		"galera without a primary":  {[]*fake{galeraNode("Initialized"), galeraNode("Initialized")}, "a:1: is not ready in its Galera cluster (Initialized)"},
		"a member that is down":     {[]*fake{{fails: errRefused}, standalone("OFF")}, "b:1"},
		"a member that is silent":   {[]*fake{{isSilent: true}, standalone("OFF")}, "b:1"},
		"members that do not reply": {[]*fake{{isSilent: true}, {fails: errRefused}}, "a:1: does not answer; b:1: dial: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, test.members...)
				time.Sleep(5 * time.Second)
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

// TestMembersAreAskedInOrder has the first member take its time: the second one must not be
// the primary meanwhile.
func TestMembersAreAskedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &fake{isSilent: true}
		c := connect(t, a, standalone("OFF"))
		time.Sleep(3 * time.Second)
		if got := c.Primary(); got != "" {
			t.Errorf("the primary is %s before the first member was asked", got)
		}
		time.Sleep(2 * time.Second)
		if got := c.Primary(); got != "b:1" {
			t.Errorf("the primary is %q, want b:1", got)
		}
	})
}

// TestFailoverDiscardsConnections moves the primary, and observes the pool of a database.
func TestFailoverDiscardsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := standalone("OFF"), standalone("ON")
		c := connect(t, a, b)
		db := sql.OpenDB(c)
		defer func() { _ = db.Close() }()
		run := func() {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), "SELECT 1"); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Millisecond)
		run()
		a.set(func(f *fake) { f.variables["read_only"] = "ON" })
		b.set(func(f *fake) { f.variables["read_only"] = "OFF" })
		time.Sleep(time.Second)
		run()
		if once := []string{"SELECT 1"}; !slices.Equal(a.executed, once) || !slices.Equal(b.executed, once) {
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

// TestConnectionIsCheckedBeforeUse demotes the primary directly after a probe.
func TestConnectionIsCheckedBeforeUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		a.set(func(f *fake) { f.variables["read_only"] = "ON" })
		_, err := c.Connect(t.Context())
		if !errors.Is(err, cluster.ErrNoPrimary) || !strings.Contains(err.Error(), "a:1 is no longer the primary") {
			t.Errorf("got %v, want that a:1 is no longer the primary", err)
		}
	})
}

// TestSlowPrimaryStays has a primary that does not answer for three seconds, and then not at
// all.
func TestSlowPrimaryStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		a.set(func(f *fake) { f.isSilent = true })
		time.Sleep(3 * time.Second)
		if c.Primary() != "a:1" {
			t.Error("a primary that did not answer for three seconds is lost")
		}
		time.Sleep(2 * time.Second)
		if got := c.Primary(); got != "" {
			t.Errorf("a primary that does not answer is still %s", got)
		}
	})
}

// TestReturnedPrimary has a former primary that was suspended, and still believes to be the
// primary, beside the new one. A group must not return to it. With Galera, all servers must
// choose the same node.
func TestReturnedPrimary(t *testing.T) {
	for name, test := range map[string]struct {
		make func() *fake
		want string
	}{
		"group":  {func() *fake { return inGroup(true) }, "b:1"},
		"galera": {func() *fake { return galeraNode("Synced") }, "a:1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := test.make(), test.make()
				a.isSilent = true
				c := connect(t, a, b)
				time.Sleep(4500 * time.Millisecond)
				if c.Primary() != "b:1" {
					t.Errorf("the primary is %q, want b:1", c.Primary())
				}
				a.set(func(f *fake) { f.isSilent = false })
				time.Sleep(2 * time.Second)
				if c.Primary() != test.want {
					t.Errorf("the primary is %q, want %s", c.Primary(), test.want)
				}
			})
		})
	}
}

// TestConnectingToFormerPrimaryEnds has a primary hang while a connection to it is opened.
func TestConnectingToFormerPrimaryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		a.set(func(f *fake) { f.isSilent = true })
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		if _, err := c.Connect(ctx); !errors.Is(err, cluster.ErrNoPrimary) || ctx.Err() != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestStatementOnFormerPrimaryEnds has a statement wait for a primary that is unreachable.
func TestStatementOnFormerPrimaryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := standalone("OFF")
		c := connect(t, a, standalone("ON"))
		time.Sleep(time.Millisecond)
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_ = a.last.client.SetReadDeadline(time.Now().Add(time.Minute))
			_, err := a.last.client.Read(make([]byte, 1))
			ended <- err
		}()
		a.set(func(f *fake) { f.variables["read_only"] = "ON" })
		time.Sleep(time.Second)
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the read succeeded")
			}
		default:
			t.Error("the connection to the former primary stays open")
		}
	})
}

// TestSessionWaitsForEarlierTransactions checks that a session on a new primary sees what
// the former one has acknowledged.
func TestSessionWaitsForEarlierTransactions(t *testing.T) {
	for want, member := range map[string]*fake{
		"SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'": inGroup(true),
		"SET SESSION wsrep_sync_wait = 7":                                          galeraNode("Synced"),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, member, &fake{fails: errRefused})
			time.Sleep(time.Millisecond)
			if _, err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(member.executed, []string{want}) {
				t.Errorf("the session begins with %q, want %q", member.executed, want)
			}
		})
	}
}
