// Package docs holds the pages of the documentation. Package docs/site serves them.
package docs

import "embed"

// Files holds the pages in Markdown, and their pictures.
//
//go:embed *.md *.svg
var Files embed.FS
