// Package clients holds the client libraries for JavaScript and Python, which servers offer for
// download, and the READMEs of all, which are pages of the documentation.
package clients

import "embed"

// Files holds the files of the packages and the READMEs, each in the directory of its library.
//
//go:embed go/README.md
//go:embed python/README.md python/LICENSE python/pyproject.toml python/moderato/*.py python/moderato/py.typed
//go:embed typescript/README.md typescript/LICENSE typescript/package.json typescript/dist/*.js typescript/dist/*.d.ts
var Files embed.FS
