package jsonapi_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

func moderators(rows int) *moderatov1.ListModeratorsResponse {
	m := &moderatov1.ListModeratorsResponse{}
	for i := range rows {
		m.Moderators = append(m.Moderators, &moderatov1.UserSummary{
			Id:          fmt.Sprintf("0198c0de-0000-7000-8000-%012d", i),
			DisplayName: fmt.Sprintf("Moderator № %d", i),
			Slug:        fmt.Sprintf("moderator-%d", i),
			AvatarUrl:   fmt.Sprintf("https://cdn.example/avatars/%d.png?size=64&v=1", i),
		})
	}
	return m
}

func followers(rows int) *moderatov1.ListFollowersResponse {
	m := &moderatov1.ListFollowersResponse{Pagination: &moderatov1.Pagination{Cursor: "4uoVtik9QSd7IkF0IjoxNzcyNzM0ODMxMDA3fQ"}}
	for _, u := range moderators(rows).GetModerators() {
		info := &moderatov1.SubscriptionInfo{}
		if len(m.GetRows())%2 == 0 {
			info = &moderatov1.SubscriptionInfo{
				IsSubscriber: true, RenewCount: proto.Int64(3), StreakCount: proto.Int64(2),
				ExpiresAt: timestamppb.Now(), SubscribedAt: timestamppb.Now(),
			}
		}
		m.Rows = append(m.Rows, &moderatov1.AudienceMember{
			Id: u.GetId(), DisplayName: u.GetDisplayName(), Slug: u.GetSlug(), AvatarUrl: u.GetAvatarUrl(),
			IsFollower: true, FollowedAt: timestamppb.Now(), SubscriptionInfo: info,
		})
	}
	return m
}

// benchmarkMarshal compares with protojson, configured to write all fields.
func benchmarkMarshal(b *testing.B, m proto.Message) {
	b.Run("jsonapi", func(b *testing.B) {
		b.ReportAllocs()
		var buffer []byte
		for b.Loop() {
			buffer = jsonapi.Append(buffer[:0], m)
		}
		b.SetBytes(int64(len(buffer)))
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		opts := protojson.MarshalOptions{EmitUnpopulated: true}
		var buffer []byte
		for b.Loop() {
			var err error
			if buffer, err = opts.MarshalAppend(buffer[:0], m); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(buffer)))
	})
}

func BenchmarkAppend(b *testing.B) {
	b.Run("20 moderators", func(b *testing.B) { benchmarkMarshal(b, moderators(20)) })
	b.Run("20 followers", func(b *testing.B) { benchmarkMarshal(b, followers(20)) })
	b.Run("ban", func(b *testing.B) {
		benchmarkMarshal(b, &moderatov1.BanUserResponse{
			ChannelId:             "0198c0de-0000-7000-8000-000000000001",
			ModeratorId:           "0198c0de-0000-7000-8000-000000000002",
			BannedUserId:          "0198c0de-0000-7000-8000-000000000003",
			BannedUserDisplayName: "Somebody",
			BannedAt:              timestamppb.Now(),
		})
	})
}

func BenchmarkUnmarshal(b *testing.B) {
	bodies := []struct {
		name string
		m    proto.Message
	}{
		{"20 moderators", moderators(20)},
		{"ban", &moderatov1.BanUserRequest{
			ChannelId: "0198c0de-0000-7000-8000-000000000001",
			BanUserId: "0198c0de-0000-7000-8000-000000000003",
		}},
	}
	for _, body := range bodies {
		text := jsonapi.Marshal(body.m)
		b.Run(body.name+"/jsonapi", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := jsonapi.Unmarshal(text, body.m, jsonapi.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(body.name+"/protojson", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := protojson.Unmarshal(text, body.m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
