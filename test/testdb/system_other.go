//go:build unix && !linux

package testdb

import "syscall"

func inOwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Memory returns a directory whose files are in memory. It knows none on this system.
func Memory() (dir string, ok bool) { return "", false }
