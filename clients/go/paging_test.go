package moderato_test

import (
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// TestRowsOfReadsEveryPage reads a list that is complete unless its request has a limit.
func TestRowsOfReadsEveryPage(t *testing.T) {
	t.Parallel()
	pages := []*moderatov1.ListVotesResponse{
		{Votes: []*moderatov1.Vote{{Id: "1"}, {Id: "2"}}, Pagination: &moderatov1.Pagination{Cursor: "next"}},
		{Votes: []*moderatov1.Vote{{Id: "3"}}, Pagination: &moderatov1.Pagination{}},
	}
	s := newStub(t, func(before int, stream grpc.ServerStream) error { return stream.SendMsg(pages[before]) })
	var got []string
	for vote, err := range moderato.RowsOf(t.Context(), s.client(t).Channels.ListVotes, &moderatov1.ListVotesRequest{}, (*moderatov1.ListVotesResponse).GetVotes) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, vote.GetId())
	}
	if want := []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("got the votes %q, want %q", got, want)
	}
	for i, a := range s.received() {
		var request moderatov1.ListVotesRequest
		if err := proto.Unmarshal(a.request, &request); err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "next"}[i]; request.GetLimit() != 100 || request.GetCursor() != want {
			t.Errorf("request %d has the limit %d and the cursor %q, want 100 and %q", i, request.GetLimit(), request.GetCursor(), want)
		}
	}
}
