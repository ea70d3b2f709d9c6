// Command generate writes docs/contract.md, the generated parts of docs/errors.md and
// docs/event-types.md, and the OpenAPI documents. It reads the .proto files, with their
// comments, and the golden files of the gateway's tests. It runs in the directory of the
// project.
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
	described := newDocument(comments, golden)
	if err := writePages(described); err != nil {
		return err
	}
	document, err := described.encode()
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
