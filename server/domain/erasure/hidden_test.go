package erasure_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/test/servertest"
)

// ofChannel lists the reads of a channel, with their parameters in addition to its id.
var ofChannel = map[string]servertest.Args{
	"/v1/moderation/moderators": {}, "/v1/channels/stream-info": {}, "/v1/channels/live-stats": {}, "/v1/channels/stats": {},
	"/v1/channels/followers": {}, "/v1/channels/subscribers": {}, "/v1/channels/banned-users": {}, "/v1/channels/activities": {},
	"/v1/channels/roles/mods": {}, "/v1/channels/roles/vips": {}, "/v1/channels/roles/ogs": {},
	"/v1/channels/votes": {"epoch": "all"}, "/v1/channels/clips": {}, "/v1/channels/vods": {},
}

// wantNoChannel checks that a channel does not exist for any caller, including a backend
// that acts for its owner.
func wantNoChannel(t *testing.T, s *scene, id uid.ID) {
	t.Helper()
	acting := s.service
	acting.ActingUser = id
	for path, args := range ofChannel {
		args = maps.Clone(args) // tests run in parallel
		args["channelId"] = id.String()
		if _, got := s.CallREST(t, acting, http.MethodGet, path, args); got.Reason != "CHANNEL_NOT_FOUND" {
			t.Errorf("GET %s: got %+v, want CHANNEL_NOT_FOUND", path, got)
		}
	}
	for path, args := range map[string]servertest.Args{
		"/v1/moderation/ban":        {"banUserId": servertest.Raider.String()},
		"/v1/moderation/mute":       {"mutedUserId": servertest.Raider.String()},
		"/v1/moderation/moderators": {"userId": servertest.Raider.String()},
		"/v1/channels/vips":         {"userId": servertest.Raider.String()},
	} {
		args["channelId"] = id.String()
		if _, got := s.CallREST(t, acting, http.MethodPost, path, args); got.Reason != "CHANNEL_NOT_FOUND" {
			t.Errorf("POST %s: got %+v, want CHANNEL_NOT_FOUND", path, got)
		}
	}
	if _, got := s.CallREST(t, acting, http.MethodPost, "/v1/channels/info", servertest.Args{"title": "x", "lang": "en"}); got.Reason != "CHANNEL_NOT_FOUND" {
		t.Errorf("POST info: got %+v, want CHANNEL_NOT_FOUND", got)
	}
	_, err := s.Directory.GetChannel(s.ctx, &platformv1.GetChannelRequest{ChannelId: id.String()})
	wantReason(t, "GetChannel", err, "CHANNEL_NOT_FOUND")
	_, err = s.streams.StartStream(s.ctx, &platformv1.StartStreamRequest{ChannelId: id.String()})
	wantReason(t, "StartStream", err, "CHANNEL_NOT_FOUND")
	wantReason(t, "Follow", s.follow(id, servertest.Other), "CHANNEL_NOT_FOUND")
	wantReason(t, "PostMessage", s.post(id, servertest.Other, "x"), "CHANNEL_NOT_FOUND")
	_, err = s.Chat.ListMessages(s.ctx, &platformv1.ListMessagesRequest{ChannelId: id.String()})
	wantReason(t, "ListMessages", err, "CHANNEL_NOT_FOUND")

	var all moderatov1.ListChannelsResponse
	for cursor := ""; ; cursor = all.GetPagination().GetCursor() {
		page, err := s.channels.ListChannels(s.service.Context(), &moderatov1.ListChannelsRequest{Cursor: cursor})
		s.must(page, err)
		all.Rows, all.Pagination, all.Count = append(all.Rows, page.GetRows()...), page.GetPagination(), page.GetCount()
		if page.GetPagination().GetCursor() == "" {
			break
		}
	}
	for _, c := range all.GetRows() {
		if c.GetId() == id.String() {
			t.Error("the channel is in the list of channels")
		}
	}
	if all.GetCount() != int64(len(all.GetRows())) {
		t.Errorf("%d channels are counted, and %d listed", all.GetCount(), len(all.GetRows()))
	}
	for _, user := range []uid.ID{servertest.Moderator, servertest.Owner, servertest.Viewer} {
		as := s.As(t, user).Context()
		moderated, err := s.Moderation.ListModeratedChannels(as, &moderatov1.ListModeratedChannelsRequest{UserId: user.String()})
		s.must(moderated, err)
		if slices.ContainsFunc(moderated.GetChannels(), func(c *moderatov1.ModeratedChannel) bool { return c.GetUuid() == id.String() }) {
			t.Errorf("%s moderates the channel", user)
		}
		followed, err := s.channels.ListFollowed(as, &moderatov1.ListFollowedRequest{})
		s.must(followed, err)
		if slices.ContainsFunc(followed.GetRows(), func(c *moderatov1.FollowedChannel) bool { return c.GetId() == id.String() }) {
			t.Errorf("%s follows the channel", user)
		}
	}
}

// wantWholeLists reads lists of Owner's channel with pages of one row, and compares their
// length with that of the table.
func wantWholeLists(t *testing.T, s *scene) {
	t.Helper()
	as, one := s.As(t, servertest.Owner).Context(), int32(1)
	owner := servertest.Owner.String()
	for table, page := range map[string]func(cursor string) (int, string, error){
		"follows": func(cursor string) (int, string, error) {
			r, err := s.channels.ListFollowers(as, &moderatov1.ListFollowersRequest{Limit: &one, Cursor: cursor})
			return len(r.GetRows()), r.GetPagination().GetCursor(), err
		},
		"subscriptions": func(cursor string) (int, string, error) {
			r, err := s.channels.ListSubscribers(as, &moderatov1.ListSubscribersRequest{Limit: &one, Cursor: cursor})
			return len(r.GetRows()), r.GetPagination().GetCursor(), err
		},
		"bans": func(cursor string) (int, string, error) {
			r, err := s.channels.ListBannedUsers(as, &moderatov1.ListBannedUsersRequest{Limit: &one, Cursor: cursor})
			return len(r.GetRows()), r.GetPagination().GetCursor(), err
		},
		"clips": func(cursor string) (int, string, error) {
			r, err := s.channels.ListClips(as, &moderatov1.ListClipsRequest{ChannelId: owner, Limit: &one, Cursor: cursor})
			return len(r.GetRows()), r.GetPagination().GetCursor(), err
		},
		"activities": func(cursor string) (int, string, error) {
			r, err := s.channels.ListActivities(as, &moderatov1.ListActivitiesRequest{Limit: &one, Cursor: cursor})
			return len(r.GetRows()), r.GetPagination().GetCursor(), err
		},
	} {
		var want int
		if err := s.Store.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table+" WHERE channel_id = ?", servertest.Owner).Scan(&want); err != nil {
			t.Fatal(err)
		}
		got, cursor := 0, ""
		for more := true; more; more = cursor != "" {
			rows, next, err := page(cursor)
			s.must(nil, err)
			if rows != 1 {
				t.Errorf("%s: page %d has %d rows", table, got+1, rows)
			}
			got, cursor = got+rows, next
		}
		if got != want || want < 2 {
			t.Errorf("%s: the list has %d rows, the table %d", table, got, want)
		}
	}
}

func TestDeletedUserIsHiddenImmediately(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		for _, user := range []uid.ID{servertest.Viewer, servertest.Raider} {
			s.must(nil, s.follow(servertest.Owner, user))
			s.must(nil, s.subscribe(servertest.Owner, user, 24*60*60*1e9))
		}
		s.clip(servertest.Owner, servertest.Viewer, "A clip of another")
		used := s.live(vera)
		s.must(nil, s.ban(s.As(t, servertest.Owner).Context(), servertest.Owner, s.newcomer()))
		fresh := s.As(t, vera.id)
		wantWholeLists(t, s)
		release := hold(t, s.Store)
		s.deleteUser(vera)

		wantReason(t, "a change with a token in use", s.ban(used.Context(), servertest.Owner, servertest.Raider), "TOKEN_INVALID")
		if _, got := s.CallREST(t, fresh, http.MethodGet, "/v1/channels/followed", servertest.Args{}); got.Reason != "TOKEN_INVALID" {
			t.Errorf("a read with a token: %+v", got)
		}
		for _, token := range []string{used.Token, fresh.Token} {
			r, err := s.Access.IntrospectToken(s.ctx, &platformv1.IntrospectTokenRequest{Token: token})
			s.must(r, err)
			if r.GetActive() {
				t.Error("a token of the deleted user is active")
			}
		}
		wantNoChannel(t, s, vera.id)
		wantNobody(t, s, vera)
		wantWholeLists(t, s)
		wantNoNames(t, s, vera)
		wantReason(t, "PutUser", s.putUser(vera.id, "another.name"), "BEING_DELETED")
		wantReason(t, "PutChannel", s.putChannel(vera.id, "x"), "USER_NOT_FOUND")
		s.must(nil, s.putUser(servertest.Raider, strings.ToUpper(vera.name)))
		s.must(nil, s.putUser(servertest.Viewer, vera.oldName))
		release()
		erase(t, s.Store)
		wantNoChannel(t, s, vera.id)
		wantNobody(t, s, vera)
		wantWholeLists(t, s)
		wantExactCounters(t, s.Store)
	})
}

// TestMessagesOfDeletedUserAreHiddenImmediately lists messages that the eraser has not
// removed yet.
func TestMessagesOfDeletedUserAreHiddenImmediately(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		gone := s.newcomer()
		s.must(nil, s.post(servertest.Owner, servertest.Viewer, "of another"))
		s.must(nil, s.post(servertest.Owner, gone, "left behind"))
		hold(t, s.Store)
		s.must(s.Directory.DeleteUser(s.ctx, &platformv1.DeleteUserRequest{UserId: gone.String()}))
		as := s.As(t, servertest.Owner).Context()
		for userID, want := range map[string]int{"": 1, gone.String(): 0} {
			r, err := s.chats.ListMessages(as, &moderatov1.ListMessagesRequest{ChannelId: servertest.Owner.String(), UserId: userID})
			s.must(r, err)
			if len(r.GetMessages()) != want {
				t.Errorf("user %q: got %v, want %d messages", userID, r.GetMessages(), want)
			}
		}
	})
}

// wantNoNames checks that lists do not reveal the name of a deleted user whose rows still
// exist.
func wantNoNames(t *testing.T, s *scene, p person) {
	t.Helper()
	as := s.As(t, servertest.Owner)
	for path, marker := range map[string]string{ // of rows that the user has left
		"channels/followers": p.id.String(), "channels/subscribers": p.id.String(), "channels/roles/mods": p.id.String(),
		"channels/clips": p.id.String(), "channels/activities": p.id.String(), "channels/votes": users.DeletedUsername,
		"channels/banned-users": "", "chats/messages": "",
	} {
		args := servertest.Args{"channelId": servertest.Owner.String()}
		if path == "channels/votes" {
			args["epoch"] = "all"
		}
		r, got := s.CallREST(t, as, http.MethodGet, "/v1/"+path, args)
		if got.Reason != "OK" || !strings.Contains(r.Body, marker) {
			t.Errorf("%s: got %+v with %s, want the user among others", path, got, r.Body)
		}
		for _, name := range []string{p.name, strings.ToLower(p.name), p.displayName, p.avatar, p.address, p.word} {
			if strings.Contains(r.Body, name) {
				t.Errorf("%s reveals %s", path, name)
			}
		}
	}
}

// wantNobody checks that no call accepts or finds a user.
func wantNobody(t *testing.T, s *scene, p person) {
	t.Helper()
	id, owner := p.id.String(), servertest.Owner.String()
	as := s.As(t, servertest.Owner).Context()
	now := timestamppb.New(s.Store.Clock.Local().Time())
	later := timestamppb.New(now.AsTime().AddDate(1, 0, 0))
	info, err := structpb.NewStruct(map[string]any{"userId": id})
	s.must(info, err)
	calls := map[string]error{
		"Follow": s.follow(servertest.Owner, p.id), "PutSubscription": s.subscribe(servertest.Owner, p.id, 1e12),
		"PostMessage": s.post(servertest.Owner, p.id, "x"), "BanUser": s.ban(as, servertest.Owner, p.id), "MuteUser": s.mute(as, servertest.Owner, p.id),
	}
	call := func(name string, _ any, err error) { calls[name] = err }
	result := func(name string) func(any, error) { return func(r any, err error) { call(name, r, err) } }
	result("AddModerator")(s.Moderation.AddModerator(as, &moderatov1.AddModeratorRequest{ChannelId: owner, UserId: id}))
	result("RemoveModerator")(s.Moderation.RemoveModerator(as, &moderatov1.RemoveModeratorRequest{ChannelId: owner, UserId: id}))
	result("AddVip")(s.channels.AddVip(as, &moderatov1.AddVipRequest{ChannelId: owner, UserId: id}))
	result("AddOg")(s.channels.AddOg(as, &moderatov1.AddOgRequest{ChannelId: owner, UserId: id}))
	result("GetUser")(s.Directory.GetUser(s.ctx, &platformv1.GetUserRequest{UserId: id}))
	result("GetStanding")(s.Chat.GetStanding(s.ctx, &platformv1.GetStandingRequest{ChannelId: owner, UserId: id}))
	result("Unfollow")(s.audience.Unfollow(s.ctx, &platformv1.UnfollowRequest{ChannelId: owner, UserId: id}))
	result("SetFollowNotifications")(s.audience.SetFollowNotifications(s.ctx, &platformv1.SetFollowNotificationsRequest{ChannelId: owner, UserId: id}))
	result("EndSubscription")(s.audience.EndSubscription(s.ctx, &platformv1.EndSubscriptionRequest{ChannelId: owner, UserId: id}))
	result("PutClip")(s.content.PutClip(s.ctx, &platformv1.PutClipRequest{Clip: &platformv1.ClipRecord{ClipId: uid.New().String(), ChannelId: owner, CreatorId: id, Title: "x"}}))
	result("RecordVote")(s.content.RecordVote(s.ctx, &platformv1.RecordVoteRequest{Id: uid.New().String(), ChannelId: owner, UserId: id, Amount: 1}))
	result("RecordGift")(s.content.RecordGift(s.ctx, &platformv1.RecordGiftRequest{Key: "k", ChannelId: owner, UserId: id, Count: 1}))
	result("RecordThanks")(s.content.RecordThanks(s.ctx, &platformv1.RecordThanksRequest{Key: "k", ChannelId: owner, UserId: id, Amount: 1}))
	result("PutActivity")(s.content.PutActivity(s.ctx, &platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{Key: "k", ChannelId: owner, Type: "gift", Info: info}}))
	result("PutGrant")(s.Access.PutGrant(s.ctx, &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{ClientId: servertest.Dashboard, UserId: id, Scopes: authn.Scopes()}}))
	result("ListGrants")(s.Access.ListGrants(s.ctx, &platformv1.ListGrantsRequest{UserId: id}))
	result("IssueToken")(s.Access.IssueToken(s.ctx, &platformv1.IssueTokenRequest{Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: servertest.Dashboard, UserId: id}))
	for name, r := range map[string]*platformv1.Record{
		"role":         {Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: owner, UserId: id, Role: "vip"}}},
		"message":      {Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{Id: uid.New().String(), ChannelId: owner, UserId: id, Text: "x", SentAt: now}}},
		"grant":        {Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{ClientId: servertest.Dashboard, UserId: id}}},
		"follow":       {Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: owner, UserId: id}}},
		"subscription": {Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{ChannelId: owner, UserId: id, ExpiresAt: later}}},
		"clip":         {Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{ClipId: uid.New().String(), ChannelId: owner, CreatorId: id, Title: "x"}}},
		"activity":     {Kind: &platformv1.Record_Activity{Activity: &platformv1.ActivityRecord{Key: "k", ChannelId: owner, Type: "gift", Info: info}}},
	} {
		stream, err := s.Bulk.Import(s.ctx)
		s.must(stream, err)
		s.must(nil, stream.Send(&platformv1.ImportRequest{Records: []*platformv1.Record{r}}))
		result("Import of a " + name)(stream.CloseAndRecv())
	}
	for name, err := range calls {
		wantReason(t, name, err, "USER_NOT_FOUND")
	}
	_, err = s.Moderation.RemoveBan(as, &moderatov1.RemoveBanRequest{ChannelId: owner, BanUserId: id})
	wantReason(t, "RemoveBan", err, "NOT_BANNED")
	channels, err := s.channels.ListChannels(s.AsApp(t).Context(), &moderatov1.ListChannelsRequest{Slug: []string{strings.ToLower(p.name), strings.ToLower(p.oldName)}})
	s.must(channels, err)
	if channels.GetCount() != 0 && channels.GetRows()[0].GetId() == id {
		t.Errorf("by its username there is %v", channels)
	}
}
