//go:build unix

package server

import "syscall"

// descriptorLimit returns how many descriptors the process may have; 0 if that is
// not known.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
