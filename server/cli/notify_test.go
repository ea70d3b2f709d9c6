package cli_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// TestSystemdIsNotified starts and stops a server beside a socket like systemd's.
func TestSystemdIsNotified(t *testing.T) {
	t.Parallel()
	directory, err := os.MkdirTemp("", "n") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	address := &net.UnixAddr{Name: filepath.Join(directory, "s"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	want := func(state string) {
		t.Helper()
		buffer := make([]byte, 100)
		_ = socket.SetReadDeadline(time.Now().Add(patience))
		if n, err := socket.Read(buffer); err != nil || string(buffer[:n]) != state {
			t.Errorf("got %q (%v), want %s", buffer[:n], err, state)
		}
	}
	s := process.ServeWith(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, []string{"NOTIFY_SOCKET=" + address.Name})
	want("READY=1")
	if code := s.Terminate(); code != 0 {
		t.Errorf("the server exits with %d", code)
	}
	want("STOPPING=1")
}
