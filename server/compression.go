package server

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"time"

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

// decompressing holds a buffer for each message that may be decompressed at the same time.
// gRPC decompresses a message before it knows the caller, so a flood of messages must leave
// processors and memory for other calls.
var decompressing = func() chan *bytes.Buffer {
	buffers := make(chan *bytes.Buffer, max(1, runtime.NumCPU()/2))
	for range cap(buffers) {
		buffers <- new(bytes.Buffer)
	}
	return buffers
}()

// After a message that became too large, the next one waits restFactor times as long as it took
// to decompress that message. So a flood of such messages takes a small part of a processor.
const restFactor = 20

// Decompress returns a reader of the decompressed message.
func (b boundedGzip) Decompress(r io.Reader) (io.Reader, error) {
	buffer, start := <-decompressing, time.Now()
	message, err := b.decompress(r, buffer)
	if errors.Is(err, errExpansion) {
		time.Sleep(restFactor * time.Since(start))
	}
	decompressing <- buffer
	return bytes.NewReader(message), err
}

// decompress returns the decompressed message, or its beginning if it is longer than any
// message may be.
func (b boundedGzip) decompress(r io.Reader, buffer *bytes.Buffer) ([]byte, error) {
	compressed := &counting{Reader: r}
	inner, err := b.Compressor.Decompress(compressed)
	if err != nil {
		return nil, err
	}
	if c, ok := inner.(io.Closer); ok {
		defer func() { _ = c.Close() }() // lets the compressor use the reader again
	}
	buffer.Reset()
	if _, err := buffer.ReadFrom(io.LimitReader(&expanding{inner: inner, compressed: compressed}, maxMessageBytes+1)); err != nil {
		return nil, err
	}
	return bytes.Clone(buffer.Bytes()), nil
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
