package server

import (
	"errors"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
)

const (
	// maxExpansion is how many times larger a compressed message may become. A caller whose
	// message repeats itself more often sends it uncompressed.
	maxExpansion = 20
	// freeExpansion is how large any compressed message may become.
	freeExpansion = 16 << 10
)

// The server accepts gzip for gRPC messages, because package otlptracehttp registers it for
// every server of the process. The compressor that is registered last is used.
func init() { encoding.RegisterCompressor(boundedGzip{encoding.GetCompressor(gzip.Name)}) }

// boundedGzip is gzip whose cost is in proportion to what the caller sent: otherwise a message
// of 1 KiB would cost as much as one of 1 MiB.
type boundedGzip struct{ encoding.Compressor }

var errExpansion = errors.New("the message becomes more than 20 times larger by decompression; send it uncompressed")

// Decompress returns a reader of the decompressed message.
func (b boundedGzip) Decompress(r io.Reader) (io.Reader, error) {
	compressed := &counting{Reader: r}
	inner, err := b.Compressor.Decompress(compressed)
	if err != nil {
		return nil, err
	}
	return &expanding{inner: inner, compressed: compressed}, nil
}

// counting counts the bytes that were read.
type counting struct {
	io.Reader
	n int64
}

func (c *counting) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// expanding is the reader of a message that is being decompressed.
type expanding struct {
	inner      io.Reader
	compressed *counting
	n          int64
}

// Read returns errExpansion if the message becomes too large.
func (e *expanding) Read(p []byte) (n int, err error) {
	n, err = e.inner.Read(p)
	if e.n += int64(n); e.n > freeExpansion+maxExpansion*e.compressed.n {
		return n, errExpansion
	}
	return n, err
}

// Close lets the compressor use the reader again.
func (e *expanding) Close() error {
	if c, ok := e.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
