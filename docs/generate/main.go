// Command generate writes docs/contract.md and the OpenAPI documents from the .proto
// files, with their comments, and from the golden files of the gateway's tests. It runs
// in the directory of the project.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	image := flag.String("image", "bin/contract.binpb", "the .proto files with their comments, as buf build writes them")
	flag.Parse()
	if err := generate(*image); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(image string) error {
	comments, err := readComments(image)
	if err != nil {
		return err
	}
	golden, err := readGolden("gateway/testdata", "server/feed/testdata/payloads.golden")
	if err != nil {
		return err
	}
	document, err := newDocument(comments, golden).encode()
	if err != nil {
		return err
	}
	inYAML, err := toYAML(document)
	if err != nil {
		return err
	}
	for path, text := range map[string][]byte{
		"docs/contract.md": contract(), "docs/openapi/openapi.json": document, "docs/openapi/openapi.yaml": inYAML,
	} {
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // for everyone to read, as the rest of the project
			return err
		}
	}
	return nil
}
