// Package docs holds the pages of the documentation, in Markdown. Package docs/site serves them
// at /docs, docs/generate writes what comes from the contract, docs/openapi has the OpenAPI document,
// and docs/records keeps measurements and rejected designs.
package docs

import "embed"

// Overlay is the page of overlay.md, which servers offer for download.
//
//go:embed overlay/overlay.html
var Overlay []byte

// Files holds the pages in Markdown, and their pictures.
//
//go:embed *.md *.svg
var Files embed.FS
