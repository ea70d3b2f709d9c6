// Package proto holds the contract: the .proto files, with those that they import.
package proto

import "embed"

// Files holds the .proto files at the paths by which they import each other.
//
//go:embed google moderato
var Files embed.FS
