package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// TiDB is the name of a TiDB cluster, as in Variable.
	TiDB = "tidb"
	// EmbeddedTiDB is the name of a TiDB server with its embedded store, which is for tests of
	// TiDB itself: see storetest.
	EmbeddedTiDB = "tidb-embedded"
	// TiDBVariable is the environment variable that has StartTiDB use a cluster: user@host:port.
	TiDBVariable = "MODERATO_TEST_TIDB"
)

// tidbConfig is the configuration of TiDB with its embedded store, for a port and a directory.
const tidbConfig = `
store = "unistore"
host = "127.0.0.1"
port = %[1]d
path = "%[2]s/data"
temp-dir = "%[2]s/temp"
tmp-storage-path = "%[2]s/temp"
socket = ""
initialize-sql-file = "%[2]s/settings.sql"
[log]
level = "error"
slow-query-file = "%[2]s/slow.log"
[status]
report-status = false
`

// tidbSettings are the settings that Moderato needs.
const tidbSettings = "SET GLOBAL tidb_enable_shared_lock_promotion = 'ON';\n"

// StartTiDB starts a TiDB server, or names the cluster of TiDBVariable. The program is not
// installed if it is missing: building it takes too long.
func (s Starter) StartTiDB(ctx context.Context, program string) (*Servers, error) {
	if cluster := os.Getenv(TiDBVariable); cluster != "" {
		user, addr, ok := strings.Cut(cluster, "@")
		if !ok {
			return nil, fmt.Errorf("%s has %q, which is not user@host:port", TiDBVariable, cluster)
		}
		return &Servers{value: TiDB + "=mysql://" + user + "@" + addr + "/"}, nil
	}
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("there is no %s: `make tidb` builds it, in about 20 minutes; or set %s to the user@host:port of a cluster", program, TiDBVariable)
	}
	servers, err := s.newServers()
	if err != nil {
		return nil, err
	}
	server, err := servers.startTiDB(ctx, program)
	if server != nil {
		servers.running = append(servers.running, server)
	}
	if err != nil {
		servers.Close()
		return nil, err
	}
	s.say("TiDB %s on %s", server.Version, server.Addr)
	return servers, nil
}

func (s *Servers) startTiDB(ctx context.Context, program string) (*Server, error) {
	port := freePort(ctx)
	config := filepath.Join(s.dir, "tidb.toml")
	err := errors.Join(
		os.WriteFile(config, fmt.Appendf(nil, tidbConfig, port, s.dir), 0o600),
		os.WriteFile(filepath.Join(s.dir, "settings.sql"), []byte(tidbSettings), 0o600))
	if err != nil {
		return nil, err
	}
	server := &Server{name: EmbeddedTiDB, label: "TiDB", log: filepath.Join(s.dir, "log"), Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, "-config", config) // Close kills it
	cmd.Dir = s.dir                                                                    // for its records of memory use
	if server.process, err = spawn(server.log, cmd); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if server.process.hasEnded() || ctx.Err() != nil {
			break
		}
		if server.Version = greeting(ctx, server.Addr); server.Version != "" {
			return server, nil
		}
	}
	return server, server.failure("did not start")
}
