package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

const (
	groupSize  = 3
	rejoinTime = 2 * time.Minute
)

// group is a MySQL replication group, as docs/replication.md sets it up.
type group struct {
	members []*groupMember
	url     store.URL
}

// groupMember is a member of a group. Its place in the group is that of its host in the
// documents: db1.internal and so on.
type groupMember struct {
	*testdb.Node

	communication string // the host:port for the other members
	admin         *sql.DB
}

// newGroup sets up a group with the documented steps, and creates a database.
func newGroup(t *testing.T, members []*groupMember) *group {
	t.Helper()
	g := &group{members: members}
	g.startServers(t)
	for _, m := range members {
		m.run(t, g.documented(t, "MySQL group replication/2"))
	}
	members[0].run(t, g.documented(t, "MySQL group replication/3"))
	for _, m := range members[1:] {
		m.run(t, g.documented(t, "MySQL group replication/4"))
	}
	g.awaitOnline(t)
	for _, m := range members {
		m.run(t, g.documented(t, "MySQL group replication/5"))
	}
	accounts := strings.NewReplacer("…", "secret").Replace(block(t, "docs/operations.md: Create the database/1"))
	members[0].run(t, accounts)
	members[0].run(t, g.documented(t, "MySQL group replication/6"))
	g.url = g.urlOf(t, "moderato")
	return g
}

// urlOf returns the URL for an account of the documents.
func (g *group) urlOf(t *testing.T, user string) store.URL {
	t.Helper()
	var hosts []string
	for _, m := range g.members {
		hosts = append(hosts, m.Addr)
	}
	url, err := store.ParseURL("mysql://" + user + ":secret@" + strings.Join(hosts, ",") + "/moderato")
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// documented returns a documented block with the addresses and passwords of the group.
func (g *group) documented(t *testing.T, name string) string {
	t.Helper()
	values := []string{"…", "secret", "10.0.0.0/8", "127.0.0.1/8,10.0.0.0/8"}
	for i, m := range g.members {
		host := fmt.Sprintf("db%d.internal", i+1)
		values = append(values, host+":33061", m.communication, host+":3306", m.Addr)
	}
	return strings.NewReplacer(values...).Replace(block(t, "docs/replication.md: "+name))
}

func (g *group) startServers(t *testing.T) {
	t.Helper()
	var nodes []*testdb.Node
	for i, m := range g.members {
		host, _, err := net.SplitHostPort(m.Addr)
		if err != nil {
			t.Fatal(err)
		}
		settings := regexp.MustCompile(`(?m)^group_replication_local_address = .*$`).
			ReplaceAllString(g.documented(t, "MySQL group replication/1"), "group_replication_local_address = "+m.communication)
		m.Settings = strings.NewReplacer("server_id = 1", fmt.Sprint("server_id = ", i+1), "db1.internal", host).Replace(settings)
		nodes = append(nodes, m.Node)
	}
	err := testdb.PrepareMySQL(t.Context(), nodes)
	var missing testdb.MySQLMissingError
	if errors.As(err, &missing) && !testdb.IsRequired() {
		storetest.Announce(err)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, m := range g.members {
			if t.Failed() {
				t.Logf("the end of the log of %s:\n%s", m.Addr, m.Log())
			}
			m.Kill()
		}
	})
	if err := testdb.StartAll(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for _, m := range g.members {
		m.admin = openDatabase(t, store.URL{Host: m.Addr})
		m.admin.SetMaxOpenConns(1) // settings of a session stay in it
	}
}

// run runs the statements of a documented block.
func (m *groupMember) run(t *testing.T, statements string) {
	t.Helper()
	for statement := range strings.SplitSeq(regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(statements, ""), ";") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if _, err := m.admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", m.Addr, statement, err)
		}
	}
}

// online returns how many members are online in the view of this one, and the primary's
// address.
func (m *groupMember) online(ctx context.Context) (online int, primary string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	rows, err := m.admin.QueryContext(ctx, "SELECT MEMBER_HOST, MEMBER_PORT, MEMBER_ROLE FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'")
	if err != nil {
		return 0, ""
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var host, port, role string
		if rows.Scan(&host, &port, &role) != nil {
			return 0, ""
		}
		if online++; role == "PRIMARY" {
			primary = net.JoinHostPort(host, port)
		}
	}
	if rows.Err() != nil {
		return 0, ""
	}
	return online, primary
}

// awaitOnline waits until every member sees all members.
func (g *group) awaitOnline(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(rejoinTime); ; time.Sleep(100 * time.Millisecond) {
		complete := 0
		for _, m := range g.members {
			if online, _ := m.online(t.Context()); online == len(g.members) {
				complete++
			}
		}
		if complete == len(g.members) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("only %d of %d members have the whole group", complete, len(g.members))
		}
	}
}

// primary returns the member that all members take for the primary.
func (g *group) primary(t *testing.T) *groupMember {
	t.Helper()
	_, addr := g.members[0].online(t.Context())
	for _, m := range g.members {
		if m.Addr == addr {
			return m
		}
	}
	t.Fatalf("the primary is %q, which is no member", addr)
	return nil
}

// onLoopback returns members on loopback addresses.
func onLoopback(t *testing.T) []*groupMember {
	t.Helper()
	directory := memoryDirectory(t)
	var members []*groupMember
	for i := range groupSize {
		members = append(members, &groupMember{
			Node:          &testdb.Node{Addr: testdb.FreeAddr(t.Context()), Directory: filepath.Join(directory, fmt.Sprint(i))},
			communication: testdb.FreeAddr(t.Context()),
		})
	}
	return members
}

// memoryDirectory returns a directory for servers, in memory if possible.
func memoryDirectory(t *testing.T) string {
	t.Helper()
	memory, ok := testdb.Memory()
	if !ok {
		return t.TempDir()
	}
	directory, err := os.MkdirTemp(memory, "moderato-group.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	return directory
}
