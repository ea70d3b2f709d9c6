package server

import (
	"net/http"
	"time"
)

// Bounds of the REST transport.
const (
	// A header section that the facade refuses, up to maxRESTHeaderBytes, gets an error response
	// in our form. For a larger one, net/http sends a plain response.
	maxRESTHeaderBytes = 64 << 10

	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	// maxHTTP2Streams bounds the requests that one HTTP/2 connection has in flight.
	maxHTTP2Streams = 100
)

// newHTTPServer returns an HTTP server for the facade. It serves HTTP/1.1. The caller adds HTTP/2
// to its Protocols.
func newHTTPServer(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxRESTHeaderBytes,
	}
}
