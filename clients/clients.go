// Package clients holds the READMEs of the client libraries. Package docs/site serves them as
// pages of the documentation.
package clients

import "embed"

// Files holds the READMEs, each in the directory of its library.
//
//go:embed go/README.md python/README.md typescript/README.md
var Files embed.FS
