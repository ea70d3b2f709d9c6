package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// writePages writes the generated parts of pages that are otherwise written by hand.
func writePages(d *document) error {
	failures, err := errorsPart(d.comments)
	if err != nil {
		return err
	}
	types, err := eventsPart(d)
	if err != nil {
		return err
	}
	feed, err := feedPart(d.comments)
	if err != nil {
		return err
	}
	if err := writePart("docs/feed-reference.md", feed); err != nil {
		return err
	}
	if err := writePart("docs/errors.md", failures); err != nil {
		return err
	}
	return writePart("docs/event-types.md", types)
}

// cell returns the comment of an element for a cell of a table.
func (c *comments) cell(element protoreflect.Descriptor) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(c.of(element)), " "), "|", `\|`)
}

// generatedPart is the part of a page that the program writes. The rest is written by
// hand.
var generatedPart = regexp.MustCompile(`(?s)(<!-- generated: begin -->\n).*(<!-- generated: end -->)`)

// writePart replaces the generated part of a page.
func writePart(path, part string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !generatedPart.Match(page) {
		return fmt.Errorf("%s has no place for the generated part", path)
	}
	page = generatedPart.ReplaceAll(page, []byte("${1}\n"+strings.ReplaceAll(strings.TrimSpace(part), "$", "$$")+"\n\n${2}"))
	return os.WriteFile(path, page, 0o644) //nolint:gosec // a page of the documentation is public
}
