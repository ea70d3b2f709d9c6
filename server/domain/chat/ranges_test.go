package chat_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestRangesOfEmotes posts texts with the parts that stand for emotes. A text is normalized before
// its code points are counted.
func TestRangesOfEmotes(t *testing.T) {
	const text = "  GG e\u0301 \U0001F389 Kappa " // 12 code points as it is stored
	at := func(start, end int32) *platformv1.EmoteRange {
		return &platformv1.EmoteRange{Start: start, End: end, Id: "k"}
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		client, service := platformv1.NewChatServiceClient(s.Conn), s.AsService(t).Context()
		for _, c := range []struct {
			emotes []*platformv1.EmoteRange
			fields []string
		}{
			{[]*platformv1.EmoteRange{at(-1, 1)}, []string{"emotes[0].start"}},
			{[]*platformv1.EmoteRange{at(1, 1)}, []string{"emotes[0].end"}},
			{[]*platformv1.EmoteRange{at(0, 13)}, []string{"emotes[0].end"}},
			{[]*platformv1.EmoteRange{at(0, 2), at(1, 3)}, []string{"emotes[1].start"}},
			{[]*platformv1.EmoteRange{at(3, 4), at(0, 2)}, []string{"emotes[1].start"}},
			{[]*platformv1.EmoteRange{{Start: 0, End: 2}}, []string{"emotes[0].id"}},
			{[]*platformv1.EmoteRange{{Start: 0, End: 2, Id: strings.Repeat("k", 65)}}, []string{"emotes[0].id"}},
			{slices.Repeat([]*platformv1.EmoteRange{at(0, 2)}, 101), []string{"emotes"}},
			{[]*platformv1.EmoteRange{at(0, 2), at(2, 3), at(7, 12)}, nil},
		} {
			_, err := client.PostMessage(service, &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: text, Emotes: c.emotes,
			})
			var fields []string
			for _, detail := range status.Convert(err).Details() {
				if bad, ok := detail.(*errdetails.BadRequest); ok {
					for _, v := range bad.GetFieldViolations() {
						fields = append(fields, v.GetField())
					}
				}
			}
			if !slices.Equal(fields, c.fields) || err != nil && fields == nil {
				t.Errorf("%v: got %v, want violations of %q", c.emotes, err, c.fields)
			}
		}
	})
}
