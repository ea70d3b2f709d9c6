package process

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// HAProxy starts HAProxy with a configuration, until the test ends. It returns when HAProxy
// listens on an address of the configuration. Without HAProxy the test is skipped, or fails
// if every program is required.
func HAProxy(t *testing.T, config, address string) {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		err = errors.New("haproxy is missing; make clients installs it")
		if testdb.IsRequired() || os.Getenv("MODERATO_SOAK") != "" {
			t.Fatal(err)
		}
		storetest.Announce(err)
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-db", "-f", path) //nolint:gosec // the program is HAProxy
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
			_ = conn.Close()
			return
		}
	}
	t.Fatal("haproxy does not listen")
}

// FreeAddress returns an address of this host at which nothing listens.
func FreeAddress(t *testing.T) string {
	t.Helper()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = free.Close() }()
	return free.Addr().String()
}
