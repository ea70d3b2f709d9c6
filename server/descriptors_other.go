//go:build !unix

package server

// descriptorLimit returns the file descriptor limit of the process; 0 if it is unknown.
func descriptorLimit() uint64 { return 0 }
