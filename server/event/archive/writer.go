package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
)

// writer writes a file under its unfinished name.
type writer struct {
	*bufio.Writer

	file   *os.File
	digest hash.Hash
	bytes  int64
}

// create begins a file, which only its owner may read. It replaces what an interrupted run left.
func (d *directory) create(name string) (*writer, error) {
	path := d.file(name + unfinished)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	w := &writer{file: f, digest: sha256.New()}
	w.Writer = bufio.NewWriterSize(output{w}, 64<<10)
	return w, nil
}

// output is the end of a writer behind its buffer.
type output struct{ w *writer }

// Write writes to the file and to the checksum.
func (o output) Write(b []byte) (int, error) {
	_, _ = o.w.digest.Write(b) // never fails
	n, err := o.w.file.Write(b)
	o.w.bytes += int64(n)
	return n, err
}

// finish ends the file, which is then on the disk. It removes a file that is not whole.
func (w *writer) finish() error {
	err := errors.Join(w.Flush(), w.file.Sync(), w.file.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(w.file.Name()))
	}
	return err
}

// abandon removes the file.
func (w *writer) abandon() error { return errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

// describe sets what the manifest says of the bytes of a finished file.
func (w *writer) describe(f *file) {
	f.Bytes, f.SHA256 = w.bytes, hex.EncodeToString(w.digest.Sum(nil))
}
