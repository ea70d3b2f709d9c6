// Command pages writes the errors and the event types into their pages in docs/. It reads
// them from the .proto files, with their comments, as `buf build` writes them. It runs in
// the directory of the project.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	image := flag.String("image", "bin/contract.binpb", "the .proto files with their comments, as buf build writes them")
	flag.Parse()
	if err := write(*image); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func write(image string) error {
	c, err := readComments(image)
	if err != nil {
		return err
	}
	for path, part := range map[string]func(comments) (string, error){
		"docs/errors.md": errorsPart, "docs/event-types.md": eventsPart,
	} {
		text, err := part(c)
		if err != nil {
			return err
		}
		if err := writePart(path, text); err != nil {
			return err
		}
	}
	return nil
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
