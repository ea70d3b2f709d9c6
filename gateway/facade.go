package gateway

import (
	"bytes"
	"cmp"
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

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/logging"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// facade checks HTTP requests before they become calls.
type facade struct {
	conn    Connection
	mux     *runtime.ServeMux // has the generated handlers
	routes  *http.ServeMux    // has an *operation for each method and path
	log     *slog.Logger
	refused *prometheus.CounterVec
}

// identified sets the id of each request in the response header, and refuses requests
// whose header section, as received, is too large.
func (f *facade) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := headerBytes(r)
		id := requestid.Accept(r.Header.Values(requestid.Header))
		w.Header().Set(requestid.Header, id)
		if size > maxHeaderBytes {
			f.refuse(w, r, apierr.New(moderatov1.Reason_REASON_HEADERS_TOO_LARGE))
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
			f.log.Error("panic", "request_id", requestID(w), "path", logging.Path(r.URL),
				"panic", fmt.Sprint(p), logging.StackKey, string(debug.Stack()))
			f.refuse(w, r, apierr.New(moderatov1.Reason_REASON_INTERNAL))
		}()
		next.ServeHTTP(w, r)
	})
}

// requestID returns the id of the request to which w responds.
func requestID(w http.ResponseWriter) string { return w.Header().Get(requestid.Header) }

func (f *facade) serve(w http.ResponseWriter, r *http.Request) {
	handle, refusal := f.check(w, r)
	if refusal != nil {
		f.refuse(w, r, refusal)
		return
	}
	handle(w, r)
}

// allow responds to OPTIONS. The Allow header, which check has set, lists the methods.
func allow(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// check returns the handler of a request and prepares the request for it. It returns an
// error if the request cannot become a call.
func (f *facade) check(w http.ResponseWriter, r *http.Request) (http.HandlerFunc, *apierr.Error) {
	found := f.operationOf(r)
	if found == nil {
		return f.unserved(w, r)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r.Body = http.NoBody // a body has no meaning here, and the server does not wait for it
		if found.readsQuery {
			return found.handle, nil
		}
		return found.handle, readQuery(r)
	}
	if found.isForm {
		return found.handle, nil
	}
	if found.input != nil {
		if refusal := refuseOptions(found.input, r.URL.Query()); refusal != nil {
			return nil, refusal
		}
	}
	return found.handle, readBody(w, r, cmp.Or(found.maxBody, maxBodyBytes))
}

// unserved is check for a request without an operation.
func (f *facade) unserved(w http.ResponseWriter, r *http.Request) (http.HandlerFunc, *apierr.Error) {
	methods := f.allowed(r.URL.Path)
	if methods == "" || r.URL.RawPath != "" {
		return nil, f.pathNotFound(r.URL.Path)
	}
	w.Header().Set("Allow", methods)
	if r.Method == http.MethodOptions {
		return allow, nil
	}
	return nil, &apierr.Error{
		Reason:  moderatov1.Reason_REASON_METHOD_NOT_ALLOWED,
		Message: "This path does not take this method. It takes " + methods + ".",
	}
}

// pathNotFound returns the error for a path at which nothing is served. The error
// suggests the path without slashes at the end, or below /v1, if that one is served.
func (f *facade) pathNotFound(path string) *apierr.Error {
	e := apierr.New(moderatov1.Reason_REASON_PATH_NOT_FOUND)
	meant := strings.TrimRight(path, "/")
	if f.allowed(meant) == "" {
		meant = "/v1" + meant
	}
	if f.allowed(meant) != "" {
		e.Message = "Nothing is served at this path; did you mean " + meant + "?"
	}
	return e
}

// headerBytes returns the size in bytes of the header section in HTTP/1.1.
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

// noForm is the PostForm of a read request. Without it, http.Request.ParseForm would
// make an empty form.
var noForm = url.Values{}

// readQuery parses the query. It runs before the generated handlers, so that the caller
// gets an API error if the query is not well-formed.
func readQuery(r *http.Request) *apierr.Error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &apierr.Error{
			Reason:     moderatov1.Reason_REASON_INVALID_ARGUMENT,
			Message:    "The query string is not well-formed.",
			Violations: []apierr.Violation{{Field: "", Description: "the query string is not well-formed"}},
		}
	}
	r.Form, r.PostForm = values, noForm
	return nil
}

// byteOrderMark is what some editors and libraries write before JSON.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readBody reads the whole body and replaces it with the bytes read. It checks the size
// and the media type before the body is decoded.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) *apierr.Error {
	text, err := ReadAll(w, r, limit)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &apierr.Error{
			Reason:  moderatov1.Reason_REASON_BODY_TOO_LARGE,
			Message: fmt.Sprintf("The request body is larger than %d KiB.", limit>>10),
		}
	case errors.Is(err, ErrEncoding):
		return &apierr.Error{
			Reason:  moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED,
			Message: "The request body has an unsupported content-encoding; send it as it is, or with gzip.",
		}
	case err != nil:
		return apierr.Invalid(apierr.Violation{Description: "the request body could not be read"})
	case len(text) > 0 && !isJSON(r.Header.Values("Content-Type")):
		return apierr.New(moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED)
	}
	r.Body = &body{bytes.NewReader(bytes.TrimPrefix(text, byteOrderMark))}
	return nil
}

// body is the body of a request that was read.
type body struct{ *bytes.Reader }

// Close does nothing.
func (*body) Close() error { return nil }

// ErrEncoding is the error of ReadAll for a content-encoding that is not supported.
var ErrEncoding = errors.New("the content-encoding is not supported")

// ReadAll reads the body of a request and decodes its content-encoding. limit bounds the
// body before and after decoding; the error for a larger one is an *http.MaxBytesError.
func ReadAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	sent := http.MaxBytesReader(w, r.Body, limit)
	switch encoding := strings.Join(r.Header.Values("Content-Encoding"), ","); strings.ToLower(encoding) {
	case "", "identity":
		return io.ReadAll(sent)
	case "gzip", "x-gzip":
		decoded, err := gzip.NewReader(sent)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(http.MaxBytesReader(w, decoded, limit))
	default:
		return nil, ErrEncoding
	}
}

func isJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(contentType[0])
	charset, named := params["charset"]
	isUTF8 := strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8") // as some libraries spell it
	return err == nil && mediaType == "application/json" && (!named || isUTF8)
}
