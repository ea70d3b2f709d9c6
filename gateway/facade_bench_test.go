package gateway_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/middleware/inprocess"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// discarded is a response writer that keeps only the status.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

// followers returns n records of users who follow Owner.
func followers(n int) []*platformv1.Record {
	var records []*platformv1.Record
	for i := range n {
		id := fmt.Sprintf("0198c0de-0000-7000-8000-%012d", i)
		records = append(records,
			&platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{
				Id: id, Username: fmt.Sprintf("follower%d", i), DisplayName: fmt.Sprintf("Follower %d", i),
				AvatarUrl: fmt.Sprintf("https://img.example.com/%d.png", i),
			}}},
			&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
				ChannelId: servertest.Owner.String(), UserId: id, FollowedAt: timestamppb.New(time.UnixMilli(1_780_000_000_000 + int64(i))),
			}}})
	}
	return records
}

// BenchmarkFacade measures the whole facade on SQLite, from the parsed header of the
// request to the body of the response. The case "nothing" is the cost of creating the
// request and recording its response; subtract it from the other cases.
func BenchmarkFacade(b *testing.B) {
	s := servertest.Start(b, servertest.Config(storetest.SQLite(b)))
	s.Load(b, servertest.World()...)
	s.Load(b, followers(100)...)
	chain := chainOf(s, slog.New(slog.DiscardHandler))
	conn := inprocess.New(chain.Unary, chain.Stream)
	services := domains.NewServices(s.Store, domains.Options{Lists: paging.NewLists(1000)})
	moderatov1.RegisterChannelsServiceServer(conn, services.Channels)
	moderatov1.RegisterModerationServiceServer(conn, services.Moderation)
	facade, owner := facadeOver(b, conn), s.As(b, servertest.Owner)
	for _, c := range []struct {
		name, path string
		handler    http.Handler
	}{
		{"nothing", "/v1/channels/stats", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
		{"stats", "/v1/channels/stats", facade},
		{"moderators", moderatorsPath, facade},
		{"followers", "/v1/channels/followers", facade},
	} {
		b.Run(c.name, func(b *testing.B) {
			target, err := url.Parse(c.path + "?channelId=" + servertest.Owner.String())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r := &http.Request{
					Method: http.MethodGet, URL: target, RequestURI: target.RequestURI(), Host: "127.0.0.1:8080", RemoteAddr: "127.0.0.1:4711", Body: http.NoBody,
					Header: http.Header{"Authorization": {"Bearer " + owner.Token}, "Client-Id": {owner.ClientID}},
				}
				answer := &discarded{header: http.Header{}}
				c.handler.ServeHTTP(answer, r.WithContext(b.Context()))
				if answer.status != 0 && answer.status != http.StatusOK {
					b.Fatalf("got %d, want 200", answer.status)
				}
			}
		})
	}
}
