package moderation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

const userPath = "/v1/moderation/users"

func TestUserInChannelHasTheirWholeState(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now, err := s.Store.Clock.Now(t.Context(), s.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		s.Load(t,
			&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: ownerID, UserId: viewerID, Role: "vip"}}},
			&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: ownerID, UserId: viewerID, FollowedAt: now.Proto()}}},
			&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
				ChannelId: ownerID, UserId: viewerID, SubscribedAt: now.Proto(), ExpiresAt: now.Add(time.Hour).Proto(), RenewCount: 2, StreakCount: 1,
			}}},
		)
		client := moderatov1.NewModerationServiceClient(s.Conn)
		moderator := s.As(t, servertest.Moderator)
		post := func(text string) {
			t.Helper()
			_, err := s.Chat.PostMessage(s.AsService(t).Context(), &platformv1.PostMessageRequest{ChannelId: ownerID, UserId: viewerID, Text: text})
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range 25 {
			post(fmt.Sprint(n))
		}
		got, err := client.GetUser(moderator.Context(), &moderatov1.GetUserRequest{ChannelId: ownerID, UserId: viewerID})
		if err != nil || len(got.GetMessages()) != 20 || got.GetMessages()[0].GetMessage() != "24" {
			t.Errorf("the messages are %v, %v; want the latest 20, newest first", got.GetMessages(), err)
		}
		mute, err := client.MuteUser(moderator.Context(), &moderatov1.MuteUserRequest{ChannelId: ownerID, MutedUserId: viewerID})
		if err != nil {
			t.Fatal(err)
		}
		ban, err := client.BanUser(moderator.Context(), &moderatov1.BanUserRequest{ChannelId: ownerID, BanUserId: viewerID})
		if err != nil {
			t.Fatal(err)
		}
		got, err = client.GetUser(moderator.Context(), &moderatov1.GetUserRequest{ChannelId: ownerID, Username: " @AMARA.okafor"})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetUser().GetId() != viewerID || got.GetUser().GetSlug() != "amara.okafor" || strings.Join(got.GetRoles(), " ") != "vip" {
			t.Errorf("the user is %v with the roles %v", got.GetUser(), got.GetRoles())
		}
		if !got.GetBan().GetBannedAt().AsTime().Equal(ban.GetBannedAt().AsTime()) || got.GetBan().GetBannedBy().GetSlug() != "tomasz_wrona" {
			t.Errorf("the ban is %v", got.GetBan())
		}
		if !got.GetMute().GetMuteExpiresAt().AsTime().Equal(mute.GetMuteExpiresAt().AsTime()) {
			t.Errorf("the mute is %v, want %v", got.GetMute(), mute.GetMuteExpiresAt())
		}
		if len(got.GetMessages()) != 0 {
			t.Errorf("deleted messages are listed: %v", got.GetMessages())
		}
		if got.GetFollow().GetFollowedAt() == nil || !got.GetSubscription().GetIsSubscriber() || got.GetSubscription().GetRenewCount() != 2 {
			t.Errorf("the follow is %v, the subscription %v", got.GetFollow(), got.GetSubscription())
		}
		s.Store.Clock.Advance(time.Hour + time.Second)
		if got, err = client.GetUser(moderator.Context(), &moderatov1.GetUserRequest{ChannelId: ownerID, UserId: viewerID}); err != nil ||
			got.GetMute() != nil || got.GetSubscription().GetIsSubscriber() {
			t.Errorf("an hour later the mute is %v and the subscription %v, %v", got.GetMute(), got.GetSubscription(), err)
		}
	})
}

func TestUserInChannelIsRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, test := range []struct {
			name   string
			caller servertest.Credentials
			args   servertest.Args
			want   string
		}{
			{"the owner, about themselves", s.As(t, servertest.Owner), servertest.Args{"channelId": ownerID, "userId": ownerID}, "OK"},
			{"a service", s.AsService(t), servertest.Args{"channelId": ownerID, "userId": ownerID}, "OK"},
			{"a viewer", s.As(t, servertest.Viewer), servertest.Args{"channelId": ownerID, "userId": viewerID}, "NOT_CHANNEL_MODERATOR"},
			{"an app", s.AsApp(t), servertest.Args{"channelId": ownerID, "userId": viewerID}, "TOKEN_KIND_NOT_ACCEPTED"},
			{"an unknown user", s.As(t, servertest.Owner), servertest.Args{"channelId": ownerID, "userId": servertest.Nobody.String()}, "USER_NOT_FOUND"},
			{"an unknown user, by a viewer", s.As(t, servertest.Viewer), servertest.Args{"channelId": ownerID, "username": "nobody"}, "NOT_CHANNEL_MODERATOR"},
			{"an unknown channel", s.AsService(t), servertest.Args{"channelId": servertest.Nobody.String(), "userId": ownerID}, "CHANNEL_NOT_FOUND"},
			{"no user", s.As(t, servertest.Owner), servertest.Args{"channelId": ownerID}, "INVALID_ARGUMENT"},
			{"an id and a username", s.As(t, servertest.Owner), servertest.Args{"channelId": ownerID, "userId": ownerID, "username": "ines"}, "INVALID_ARGUMENT"},
		} {
			if _, got := s.CallREST(t, test.caller, http.MethodGet, userPath, test.args); got.Reason != test.want {
				t.Errorf("%s: got %+v, want %s", test.name, got, test.want)
			}
		}
	})
}
