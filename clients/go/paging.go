package moderato

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// paged is a page of a list.
type paged interface {
	GetPagination() *moderatov1.Pagination
}

// page is a page whose rows are named so.
type page[Row any] interface {
	paged
	GetRows() []Row
}

// Rows yields all rows of a list, which it reads page by page:
//
//	for follower, err := range moderato.Rows(ctx, client.Channels.ListFollowers, &moderatov1.ListFollowersRequest{}) {
//
// The request may have a limit, which is the size of a page, by default the largest
// possible, and a cursor, which is where to start. After an error, which is yielded with a
// nil row, the iteration ends. A second iteration reads the list again.
func Rows[Request proto.Message, Row any, Page page[Row]](
	ctx context.Context, list func(context.Context, Request, ...grpc.CallOption) (Page, error), request Request,
) iter.Seq2[Row, error] {
	return RowsOf(ctx, list, request, Page.GetRows)
}

// RowsOf is Rows for a list whose rows have another name, such as the votes of a channel:
//
//	for vote, err := range moderato.RowsOf(ctx, client.Channels.ListVotes, request, (*moderatov1.ListVotesResponse).GetVotes) {
func RowsOf[Request proto.Message, Row any, Page paged](
	ctx context.Context, list func(context.Context, Request, ...grpc.CallOption) (Page, error), request Request, rows func(Page) []Row,
) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var none Row
		request := proto.CloneOf(request)
		fields := request.ProtoReflect().Descriptor().Fields()
		field := fields.ByName("cursor")
		if field == nil {
			yield(none, fmt.Errorf("moderato: %s has no cursor", request.ProtoReflect().Descriptor().FullName()))
			return
		}
		if limit := fields.ByName("limit"); limit != nil && !request.ProtoReflect().Has(limit) {
			bounds, _ := proto.GetExtension(limit.Options(), optionsv1.E_Bounds).(*optionsv1.Bounds)
			request.ProtoReflect().Set(limit, protoreflect.ValueOfInt32(int32(bounds.GetMax()))) //nolint:gosec // at most 100
		}
		for {
			page, err := list(ctx, request)
			if err != nil {
				yield(none, err)
				return
			}
			for _, row := range rows(page) {
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
