package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/jsonapi"
	"github.com/moderato-live/moderato/server/paging"
)

// list is an operation whose data is a complete list, or one page of it if the request
// asks for a page. A complete list can be long, so it is read and written in chunks. A
// client that reads slowly then keeps only one chunk in memory.
type list struct {
	*facade

	method            string
	request, response protoreflect.MessageType
	rows              protoreflect.FieldDescriptor
}

// findList returns the handler of a method that returns a list, or nil if the method
// does not return one.
func (f *facade) findList(rpc protoreflect.MethodDescriptor) (http.HandlerFunc, error) {
	rule, _ := proto.GetExtension(rpc.Options(), annotations.E_Http).(*annotations.HttpRule)
	output := rpc.Output().Fields()
	if rule.GetResponseBody() == "" || output.ByName("pagination") == nil {
		return nil, nil
	}
	l := &list{
		facade: f, method: fmt.Sprintf("/%s/%s", rpc.Parent().FullName(), rpc.Name()),
		rows: output.ByName(protoreflect.Name(rule.GetResponseBody())),
	}
	var err error
	if l.request, err = protoregistry.GlobalTypes.FindMessageByName(rpc.Input().FullName()); err != nil {
		return nil, fmt.Errorf("%s: %w", rpc.FullName(), err)
	}
	if l.response, err = protoregistry.GlobalTypes.FindMessageByName(rpc.Output().FullName()); err != nil {
		return nil, fmt.Errorf("%s: %w", rpc.FullName(), err)
	}
	return l.serve, nil
}

func (l *list) serve(w http.ResponseWriter, r *http.Request) {
	request := l.request.New().Interface()
	if err := (queryParser{}).Parse(request, r.Form, nil); err != nil {
		violations, _ := unflatten(err.Error())
		l.refuse(w, r, apierr.Invalid(violations...))
		return
	}
	rows, next, err := l.call(w, r, request, "")
	if err != nil {
		refusal, _ := apierr.FromStatus(status.Convert(err))
		writeError(w, refusal)
		return
	}
	w.Header().Set("Content-Type", contentType)
	b := appendRows([]byte(envelopeStart+`,"data":[`), rows)
	if isPage(request) {
		setNext(w, r, next)
		next = ""
	}
	if next == "" {
		b = append(b, "]}"...)
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return
	}
	if r.Method != http.MethodHead {
		l.writeChunks(w, r, request, b, next)
	}
}

// writeChunks writes a list of more than one chunk; b is the start of the response. If
// a later chunk cannot be read, writeChunks aborts the connection, so that the client
// does not take the list for complete.
func (l *list) writeChunks(w http.ResponseWriter, r *http.Request, request proto.Message, b []byte, next string) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	for {
		_ = control.SetWriteDeadline(time.Now().Add(streamWriteTimeout))
		if _, err := w.Write(b); err != nil || next == "" {
			return
		}
		rows, following, err := l.call(w, r, request, next)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		next = following
		if b = appendRows(append(b[:0], ','), rows); rows.Len() == 0 {
			b = b[:0]
		}
		if next == "" {
			b = append(b, "]}"...)
		}
	}
}

// call calls the method for the rows that start at cursor, and returns the cursor of
// the rows that follow them.
func (l *list) call(w http.ResponseWriter, r *http.Request, request proto.Message, cursor string) (rows protoreflect.List, next string, err error) {
	var header metadata.MD
	ctx := callContext(paging.WithChunks(r.Context(), paging.Chunks{Cursor: cursor}), w, r)
	response := l.response.New().Interface()
	err = l.conn.Invoke(ctx, l.method, request, response, grpc.Header(&header))
	if cursor == "" {
		setHeader(w, header)
	}
	if err != nil {
		return nil, "", err
	}
	paged := response.(interface{ GetPagination() *moderatov1.Pagination })
	return response.ProtoReflect().Get(l.rows).List(), paged.GetPagination().GetCursor(), nil
}

// isPage reports whether a request asks for a page of a list.
func isPage(request proto.Message) bool {
	m := request.ProtoReflect()
	fields := m.Descriptor().Fields()
	return m.Has(fields.ByName("limit")) || m.Has(fields.ByName("cursor"))
}

// setNext sets the Link header to the next page, if there is one.
func setNext(w http.ResponseWriter, r *http.Request, cursor string) {
	if cursor == "" {
		return
	}
	query := r.URL.Query()
	query.Set("cursor", cursor)
	w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, r.URL.Path, query.Encode()))
}

func appendRows(b []byte, rows protoreflect.List) []byte {
	for i := range rows.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonapi.Append(b, rows.Get(i).Message().Interface())
	}
	return b
}
