package cli

import (
	"context"
	"net"
	"os"
	"strings"
)

// notifySocket is the variable in which systemd names its socket, for units with Type=notify.
const notifySocket = "NOTIFY_SOCKET"

// notify tells systemd a state of the program, such as READY=1, as sd_notify(3) describes. It
// does nothing without systemd, and an error changes nothing: systemd then waits longer.
func notify(ctx context.Context, state string) {
	path := os.Getenv(notifySocket)
	if path == "" {
		return
	}
	if strings.HasPrefix(path, "@") { // an abstract socket
		path = "\x00" + path[1:]
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", path)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write([]byte(state))
}
