package moderato

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// page is a page of a list.
type page[Row any] interface {
	GetRows() []Row
	GetPagination() *moderatov1.Pagination
}

// Rows yields all rows of a list, which it reads page by page:
//
//	for follower, err := range moderato.Rows(ctx, client.Channels.ListFollowers, &moderatov1.ListFollowersRequest{}) {
//
// The request may have a limit, which is the size of a page, and a cursor, which is where
// to start. After an error, which is yielded with a nil row, the iteration ends. A second
// iteration reads the list again.
func Rows[Request proto.Message, Row any, Page page[Row]](
	ctx context.Context, list func(context.Context, Request, ...grpc.CallOption) (Page, error), request Request,
) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var none Row
		request := proto.CloneOf(request)
		field := request.ProtoReflect().Descriptor().Fields().ByName("cursor")
		if field == nil {
			yield(none, fmt.Errorf("moderato: %s has no cursor", request.ProtoReflect().Descriptor().FullName()))
			return
		}
		for {
			page, err := list(ctx, request)
			if err != nil {
				yield(none, err)
				return
			}
			for _, row := range page.GetRows() {
				if !yield(row, nil) {
					return
				}
			}
			cursor := page.GetPagination().GetCursor()
			if cursor == "" {
				return
			}
			request.ProtoReflect().Set(field, protoreflect.ValueOfString(cursor))
		}
	}
}
