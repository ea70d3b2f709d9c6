package testdb

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// galeraProvider is the library of Debian's and Ubuntu's package galera-4.
const galeraProvider = "/usr/lib/galera/libgalera_smm.so"

//go:embed wsrep_sst_copy
var transferScript []byte

// GaleraNode is a node of a MariaDB Galera cluster on loopback addresses. It can be killed
// and started again. Its user root has no password.
type GaleraNode struct {
	// Addr is the host:port on which the node listens.
	Addr string

	directory string
	peers     []*GaleraNode // all nodes
	internal  string        // the host:port for the other nodes
	server    *Server
}

// StartGalera starts a cluster of nodes with durable commits. Their data are below a
// directory.
func StartGalera(ctx context.Context, directory string, size int) ([]*GaleraNode, error) {
	s := Starter{Log: os.Stderr, Install: true}
	if _, err := s.provideMariaDB(ctx, directory); err != nil {
		return nil, err
	}
	if err := s.provideGalera(ctx, directory); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory, "wsrep_sst_copy"), transferScript, 0o700); err != nil {
		return nil, err
	}
	nodes := make([]*GaleraNode, size)
	for i := range nodes {
		own := filepath.Join(directory, fmt.Sprint(i))
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, err
		}
		nodes[i] = &GaleraNode{Addr: FreeAddr(ctx), directory: own, peers: nodes, internal: FreeAddr(ctx)}
	}
	for i, n := range nodes {
		if err := n.start(ctx, i == 0); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// provideGalera installs Galera's library if it is missing.
func (s Starter) provideGalera(ctx context.Context, logs string) error {
	if _, err := os.Stat(galeraProvider); err == nil {
		return nil
	}
	s.say("installing galera-4")
	return installPackages(ctx, filepath.Join(logs, "install-galera.log"), "galera-4")
}

// Start starts a node that was killed, and returns when it has the data of the others and
// accepts connections.
func (n *GaleraNode) Start(ctx context.Context) error { return n.start(ctx, false) }

func (n *GaleraNode) start(ctx context.Context, isFirst bool) error {
	host, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		return err
	}
	c := config{
		data: filepath.Join(n.directory, "data"), log: filepath.Join(n.directory, "log"), host: host, port: port,
		env: []string{"PATH=" + filepath.Dir(n.directory) + ":" + os.Getenv("PATH")},
	}
	n.server = &Server{name: MariaDB, label: "MariaDB", log: c.log, Addr: n.Addr}
	if err := n.server.initialize(ctx, mariadb{}, c); err != nil {
		return err
	}
	c.options = n.options(isFirst)
	if err := n.server.relaunch(ctx, mariadb{}, c); err != nil {
		return err
	}
	return n.server.waitReady(ctx, c)
}

// options are the documented ones, and those with which several nodes run on one machine.
func (n *GaleraNode) options(isFirst bool) []string {
	members := "gcomm://"
	for i, peer := range n.peers {
		if isFirst {
			break
		}
		if i > 0 {
			members += ","
		}
		members += peer.internal
	}
	return append(durable[1:len(durable):len(durable)], // a Galera node needs no binary log, but its format
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
		"--wsrep-on=ON", "--wsrep-provider="+galeraProvider, "--wsrep-sst-method=copy",
		"--wsrep-cluster-name=moderato", "--wsrep-cluster-address="+members, "--wsrep-node-address="+n.internal,
		"--wsrep-provider-options=gmcast.listen_addr=tcp://"+n.internal+";gcache.size=32M;gcache.page_size=32M",
	)
}

// Kill kills the node, as kill -9 does.
func (n *GaleraNode) Kill() {
	if n.server != nil && n.server.process != nil {
		n.server.Kill()
	}
}

// Pause suspends the node's process until Continue.
func (n *GaleraNode) Pause() { n.server.process.signal(syscall.SIGSTOP) }

// Continue continues a process that is suspended.
func (n *GaleraNode) Continue() { n.server.process.signal(syscall.SIGCONT) }

// Log returns the end of the node's log.
func (n *GaleraNode) Log() string { return lastLines(filepath.Join(n.directory, "log")) }
