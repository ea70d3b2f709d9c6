// Command generate writes docs/contract.md, the generated parts of docs/errors.md,
// docs/event-types.md and docs/feed-reference.md, and the OpenAPI documents. It reads the .proto files, with their
// comments, and the golden files of the gateway's tests. It runs in the directory of the
// project.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
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
	golden, err := readGolden("gateway/testdata", "server/change/feed/testdata/payloads.golden")
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
	for path, text := range map[string][]byte{"docs/openapi/openapi.json": document, "docs/openapi/openapi.yaml": inYAML} {
		compressed, err := compress(text)
		if err != nil {
			return err
		}
		if err := errors.Join(write(path, text), write(path+".gz", compressed)); err != nil {
			return err
		}
	}
	return write("docs/contract.md", contract())
}

func write(path string, text []byte) error {
	return os.WriteFile(path, text, 0o644) //nolint:gosec // for everyone to read, as the rest of the project
}

// compress returns a text in gzip.
func compress(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
