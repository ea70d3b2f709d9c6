package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/logging"
	"github.com/moderato-live/moderato/server/requestid"
)

// facade checks what HTTP asks of a request before it becomes a call.
type facade struct {
	conn    Connection
	routes  routes
	log     *slog.Logger
	refused *prometheus.CounterVec
}

// identified gives each request its id, in the answer's header too, and refuses
// those whose header section, as it came, is too large.
func (f *facade) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := headerBytes(r)
		id := requestid.Accept(r.Header.Values(requestid.Header))
		w.Header().Set(requestid.Header, id)
		if size > maxHeaderBytes {
			f.refuse(w, r, fault.New(moderatov1.Reason_REASON_HEADERS_TOO_LARGE))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (f *facade) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // a value to compare, as net/http does
				panic(p)
			}
			f.log.Error("panic", "request_id", requestID(w), "path", r.URL.Path,
				"panic", fmt.Sprint(p), logging.StackKey, string(debug.Stack()))
			f.refuse(w, r, fault.New(moderatov1.Reason_REASON_INTERNAL))
		}()
		next.ServeHTTP(w, r)
	})
}

// requestID is the id of the request that w answers.
func requestID(w http.ResponseWriter) string { return w.Header().Get(requestid.Header) }

func (f *facade) serve(w http.ResponseWriter, r *http.Request) {
	handle, refusal := f.check(w, r)
	if refusal != nil {
		f.refuse(w, r, refusal)
		return
	}
	handle(w, r)
}

// allow answers OPTIONS: its header says what is allowed.
func allow(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// check refuses what cannot become a call, and prepares what can for its handler.
func (f *facade) check(w http.ResponseWriter, r *http.Request) (http.HandlerFunc, *fault.Error) {
	operations, ok := f.routes[r.URL.Path]
	if !ok || r.URL.RawPath != "" {
		return nil, f.pathNotFound(r.URL.Path)
	}
	handle := operations.by(r.Method)
	if handle == nil {
		w.Header().Set("Allow", operations.allowed())
		if r.Method == http.MethodOptions {
			return allow, nil
		}
		return nil, fault.New(moderatov1.Reason_REASON_METHOD_NOT_ALLOWED)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r.Body = http.NoBody // a body says nothing here, and is not waited for
		return handle, readQuery(r)
	}
	return handle, readBody(w, r)
}

// pathNotFound is the error for a path at which nothing is served. It names the
// path that is served without a slash at the end.
func (f *facade) pathNotFound(path string) *fault.Error {
	e := fault.New(moderatov1.Reason_REASON_PATH_NOT_FOUND)
	if meant := strings.TrimRight(path, "/"); meant != path && f.routes[meant] != nil {
		e.Message = "Nothing is served at this path; did you mean " + meant + "?"
	}
	return e
}

// headerBytes is the size of the header section as HTTP/1.1 writes it.
func headerBytes(r *http.Request) int {
	const separators = len(": \r\n")
	size := len(r.Method) + len(r.RequestURI) + len(" HTTP/1.1\r\n ") + len("Host") + len(r.Host) + separators
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v) + separators
		}
	}
	return size
}

// noForm is the form in the body of a request for reading: http.Request.ParseForm
// makes an empty one where there is none.
var noForm = url.Values{}

// readQuery parses the query where a failure can be told; the generated handlers
// find it done.
func readQuery(r *http.Request) *fault.Error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &fault.Error{
			Reason:     moderatov1.Reason_REASON_INVALID_ARGUMENT,
			Message:    "The query string is not well-formed.",
			Violations: []fault.Violation{{Field: "", Description: "the query string is not well-formed"}},
		}
	}
	r.Form, r.PostForm = values, noForm
	return nil
}

// byteOrderMark is what some editors and libraries write before JSON.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readBody takes the whole body, so that it is neither too large nor of another
// type when it is decoded.
func readBody(w http.ResponseWriter, r *http.Request) *fault.Error {
	body, err := readAll(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return fault.New(moderatov1.Reason_REASON_BODY_TOO_LARGE)
	case errors.Is(err, errEncoding):
		return &fault.Error{
			Reason:  moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED,
			Message: "The request body has an unsupported content-encoding; send it as it is, or with gzip.",
		}
	case err != nil:
		return fault.Invalid(fault.Violation{Description: "the request body could not be read"})
	case len(body) > 0 && !isJSON(r.Header.Values("Content-Type")):
		return fault.New(moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED)
	}
	r.Body = io.NopCloser(bytes.NewReader(bytes.TrimPrefix(body, byteOrderMark)))
	return nil
}

// errEncoding reports a content-encoding that is not supported.
var errEncoding = errors.New("the content-encoding is not supported")

// readAll reads a body, and decodes it. The bound holds before and after.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	sent := http.MaxBytesReader(w, r.Body, maxBodyBytes)
	switch encoding := strings.Join(r.Header.Values("Content-Encoding"), ","); strings.ToLower(encoding) {
	case "", "identity":
		return io.ReadAll(sent)
	case "gzip", "x-gzip":
		decoded, err := gzip.NewReader(sent)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(http.MaxBytesReader(w, decoded, maxBodyBytes))
	default:
		return nil, errEncoding
	}
}

func isJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(contentType[0])
	charset, named := params["charset"]
	return err == nil && mediaType == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}
