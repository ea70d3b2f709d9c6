package downloads

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"path"
	"time"
)

// made is when every file in an archive was changed: npm's own choice, so that the bytes of an
// archive depend on its files alone. The format zip knows no time before 1980.
var made = time.Unix(499162500, 0).UTC()

// entry is a file in an archive.
type entry struct {
	name    string
	content []byte
}

// entries reads files at the given patterns. In the archive they are in another directory.
func entries(from fs.FS, root, to string, patterns ...string) (all []entry, err error) {
	for _, pattern := range patterns {
		names, err := fs.Glob(from, path.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("no file is " + pattern)
		}
		for _, name := range names { // sorted
			content, err := fs.ReadFile(from, name)
			if err != nil {
				return nil, err
			}
			all = append(all, entry{path.Join(to, name[len(root)+1:]), content})
		}
	}
	return all, nil
}

// zipped returns an archive in the format zip.
func zipped(all []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range all {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: made}
		h.SetMode(0o644)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// tarred returns an archive in the format tar, compressed with gzip.
func tarred(all []entry) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, e := range all {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content)), ModTime: made}); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := compressed.Close()
	return b.Bytes(), err
}
