//go:build unix

package server

import "syscall"

// descriptorLimit returns the file descriptor limit of the process; 0 if it is unknown.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
