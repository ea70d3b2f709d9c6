//go:build !unix

package server

// descriptorLimit returns how many descriptors the process may have; 0 if that is
// not known.
func descriptorLimit() uint64 { return 0 }
