package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/testdb"
)

// network has a network namespace for each member of a group. The namespace of the tests
// forwards the packets between them, and can stop doing so: then the members do not reach
// each other, but servers and tests reach every member.
type network struct {
	members []*groupMember
	rules   [][]string
}

// newNetwork needs a network namespace of its own, in which it has the rights of root.
func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{}
	ip(t, "link", "set", "lo", "up")
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	directory := memoryDirectory(t)
	for i := range groupSize {
		pid := namespace(t)
		outer, inner := fmt.Sprint("outer", i), fmt.Sprint("inner", i)
		ip(t, "link", "add", outer, "type", "veth", "peer", "name", inner)
		ip(t, "link", "set", inner, "netns", pid)
		ip(t, "address", "add", fmt.Sprintf("10.91.%d.1/24", i), "dev", outer)
		ip(t, "link", "set", outer, "up")
		within := []string{"nsenter", "--target", pid, "--net"}
		for _, args := range [][]string{
			{"link", "set", "lo", "up"},
			{"address", "add", fmt.Sprintf("10.91.%d.2/24", i), "dev", inner},
			{"link", "set", inner, "up"},
			{"route", "add", "default", "via", fmt.Sprintf("10.91.%d.1", i)},
		} {
			command(t, append(append(within[:len(within):len(within)], "ip"), args...)...)
		}
		host := fmt.Sprintf("10.91.%d.2", i)
		n.members = append(n.members, &groupMember{
			Node:          &testdb.Node{Addr: host + ":3306", Directory: filepath.Join(directory, fmt.Sprint(i)), Within: within},
			communication: host + ":33061",
		})
	}
	return n
}

// namespace creates a network namespace, and returns the id of a process in it.
func namespace(t *testing.T) string {
	t.Helper()
	holder := exec.CommandContext(t.Context(), "unshare", "--net", "sleep", "7200")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(holder.Process.Pid)
	for range 100 {
		if its, err := os.Readlink("/proc/" + pid + "/ns/net"); err == nil && its != own {
			return pid
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("unshare has not created a network namespace")
	return ""
}

// isolate cuts a member off from the others.
func (n *network) isolate(t *testing.T, member *groupMember) {
	t.Helper()
	at := -1
	for i, m := range n.members {
		if m == member {
			at = i
		}
	}
	for i := range n.members {
		if i != at {
			n.drop(t, at, i)
			n.drop(t, i, at)
		}
	}
}

// drop drops the packets from one member to another.
func (n *network) drop(t *testing.T, from, to int) {
	t.Helper()
	rule := []string{"iif", fmt.Sprint("outer", from), "to", fmt.Sprintf("10.91.%d.0/24", to), "blackhole"}
	ip(t, append([]string{"rule", "add"}, rule...)...)
	n.rules = append(n.rules, rule)
}

// heal connects all members again.
func (n *network) heal(t *testing.T) {
	t.Helper()
	for _, rule := range n.rules {
		ip(t, append([]string{"rule", "delete"}, rule...)...)
	}
	n.rules = nil
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	command(t, append([]string{"ip"}, args...)...)
}

func command(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
}
