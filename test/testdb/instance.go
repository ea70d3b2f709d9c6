package testdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// durable are the options for tests that kill the server: what a COMMIT acknowledged is in
// the files when it returns. The files of a killed process are whole, so that they need not
// be on a disk.
var durable = []string{
	"--skip-log-bin",
	"--innodb-flush-log-at-trx-commit=1",
	"--innodb-buffer-pool-size=128M",
	"--performance-schema=OFF",
	"--innodb-use-native-aio=0",
	"--max-connections=500",
}

// Instance is a server of its own for a test that kills it, stops it or changes its clock.
type Instance struct {
	*Server

	program program
	config  config
	dir     string
}

// StartInstance starts a server of the kind MariaDB or MySQL with durable commits. The
// server runs with the environment of this process and env.
func StartInstance(ctx context.Context, kind string, env ...string) (*Instance, error) {
	dir, err := os.MkdirTemp(dataParent(), dataPrefix)
	if err != nil {
		return nil, fmt.Errorf("test databases: %w", err)
	}
	i := &Instance{dir: dir}
	if err := i.begin(ctx, kind, env); err != nil {
		removeData(dir)
		return nil, err
	}
	return i, nil
}

func (i *Instance) begin(ctx context.Context, kind string, env []string) error {
	s := Starter{Log: os.Stderr}
	provide := s.provideMariaDB
	if kind == MySQL {
		provide = s.provideMySQL
	}
	p, err := provide(ctx, i.dir)
	if err != nil {
		return err
	}
	i.program = p
	i.config = config{data: filepath.Join(i.dir, "data"), log: filepath.Join(i.dir, "log"), options: durable, env: env}
	i.Server, err = start(ctx, p, i.config)
	return err
}

// URL returns the URL of the server, without a database.
func (i *Instance) URL() string { return "mysql://root@" + i.Addr + "/" }

// Signal sends a signal to the server, such as SIGSTOP.
func (i *Instance) Signal(s syscall.Signal) error { return i.process.cmd.Process.Signal(s) }

// Restart starts the killed server again, with the same data and the same address. It
// returns when the server accepts connections.
func (i *Instance) Restart(ctx context.Context) error {
	if err := i.relaunch(ctx, i.program, i.config); err != nil {
		return err
	}
	return i.waitReady(ctx, i.config)
}

// Close kills the server and removes its data.
func (i *Instance) Close() {
	i.Kill()
	removeData(i.dir)
}
