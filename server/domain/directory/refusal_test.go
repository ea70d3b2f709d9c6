package directory_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
)

const notUUID = " must be a UUID in its 36-character form"

// requests returns an empty request for each method of DirectoryService and
// AccessService.
func requests(t *testing.T) []proto.Message {
	t.Helper()
	var all []proto.Message
	for _, file := range []protoreflect.FileDescriptor{
		platformv1.File_moderato_platform_v1_directory_proto, platformv1.File_moderato_platform_v1_access_proto,
	} {
		rpcs := file.Services().Get(0).Methods()
		for i := range rpcs.Len() {
			all = append(all, servertest.NewMessage(t, rpcs.Get(i).Input()))
		}
	}
	return all
}

func TestDirectoryAndAccessRequireServiceToken(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		claiming := b.As(t, servertest.Owner)
		claiming.ActingUser = servertest.Owner
		for name, c := range map[string]struct {
			caller servertest.Credentials
			want   string
		}{
			"an owner's token":      {b.As(t, servertest.Owner), "TOKEN_KIND_NOT_ACCEPTED"},
			"user with acting-user": {claiming, "TOKEN_KIND_NOT_ACCEPTED"},
			"an app's token":        {b.AsApp(t), "TOKEN_KIND_NOT_ACCEPTED"},
			"nobody":                {servertest.Credentials{}, "TOKEN_MISSING"},
			"no client-id":          {servertest.Credentials{Token: b.AsService(t).Token}, "CLIENT_ID_MISSING"},
			"a wrong client-id":     {servertest.Credentials{Token: b.AsService(t).Token, ClientID: servertest.Dashboard}, "CLIENT_ID_MISMATCH"},
		} {
			for _, request := range requests(t) {
				servertest.WantError(t, name+", "+string(request.ProtoReflect().Descriptor().Name()), b.Call(c.caller, request), c.want)
			}
		}
		// A backend that acts for a user keeps its rights; the error names what is
		// missing.
		acting := b.AsService(t)
		acting.ActingUser = servertest.Owner
		for _, request := range requests(t) {
			if got := servertest.OutcomeOf(b.Call(acting, request)); got.Reason != "INVALID_ARGUMENT" || len(got.Violations) == 0 {
				t.Errorf("%T, empty: got %+v, want violations", request, got)
			}
		}
	})
}

func TestDirectoryReportsAllInvalidArguments(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		service := b.AsService(t)
		long, viewer := strings.Repeat("x", 301), servertest.Viewer.String()
		user := func(r *platformv1.UserRecord) proto.Message { return &platformv1.PutUserRequest{User: r} }
		channel := func(r *platformv1.ChannelRecord) proto.Message { return &platformv1.PutChannelRequest{Channel: r} }
		category := func(r *platformv1.CategoryRecord) proto.Message { return &platformv1.PutCategoryRequest{Category: r} }
		for _, c := range []struct {
			name       string
			request    proto.Message
			reason     string
			violations []string
		}{
			{"no user", user(nil), "INVALID_ARGUMENT", []string{"user.id is required", "user.username is required"}},
			{"user with only invalid fields", user(&platformv1.UserRecord{Id: "x", Username: "a b", DisplayName: long, AvatarUrl: "ftp://x"}), "INVALID_ARGUMENT", []string{
				"user.id" + notUUID, "user.username must be 1 to 40 of A-Z a-z 0-9 _ . -", "user.displayName must be 1 to 140 characters",
				"user.avatarUrl must be an http or https address of at most 2048 characters",
			}},
			{"a username of 41", user(&platformv1.UserRecord{Id: viewer, Username: strings.Repeat("x", 41)}), "INVALID_ARGUMENT", []string{"user.username must be 1 to 40 of A-Z a-z 0-9 _ . -"}},
			{"a display name of spaces", user(&platformv1.UserRecord{Id: viewer, Username: "x", DisplayName: "  "}), "INVALID_ARGUMENT", []string{"user.displayName is required"}},
			{"get without a user", &platformv1.GetUserRequest{}, "INVALID_ARGUMENT", []string{"userId is required, or username instead"}},
			{"a user by both", &platformv1.GetUserRequest{UserId: viewer, Username: "ines"}, "INVALID_ARGUMENT", []string{"userId must not be given together with username", "username must not be given together with userId"}},
			{"a user by a bad id", &platformv1.GetUserRequest{UserId: "x"}, "INVALID_ARGUMENT", []string{"userId" + notUUID}},
			{"a user by a bad username", &platformv1.GetUserRequest{Username: "a b"}, "INVALID_ARGUMENT", []string{"username must be 1 to 40 of A-Z a-z 0-9 _ . -"}},
			{"an unknown id", &platformv1.GetUserRequest{UserId: servertest.Nobody.String()}, "USER_NOT_FOUND", nil},
			{"an unknown username", &platformv1.GetUserRequest{Username: "nobody"}, "USER_NOT_FOUND", nil},
			{"placeholder of deleted users, by id", &platformv1.GetUserRequest{UserId: "5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185"}, "USER_NOT_FOUND", nil},
			{"placeholder of deleted users, by username", &platformv1.GetUserRequest{Username: "~deleted"}, "INVALID_ARGUMENT", []string{"username must be 1 to 40 of A-Z a-z 0-9 _ . -"}},
			{"id of the placeholder of deleted users", user(&platformv1.UserRecord{Id: "5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185", Username: "x"}), "INVALID_ARGUMENT", []string{"user.id is reserved"}},
			{"delete without a user", &platformv1.DeleteUserRequest{}, "INVALID_ARGUMENT", []string{"userId is required"}},
			{"a bad id to delete", &platformv1.DeleteUserRequest{UserId: viewer + "0"}, "INVALID_ARGUMENT", []string{"userId" + notUUID}},

			{"no channel", channel(nil), "INVALID_ARGUMENT", []string{"channel.id is required", "channel.title is required"}},
			{"channel with only invalid fields", channel(&platformv1.ChannelRecord{Id: "x", Title: strings.Repeat("x", 141), Bio: long, Lang: "?", CategoryId: 9, Tier: -1}), "INVALID_ARGUMENT", []string{
				"channel.id" + notUUID, "channel.title must be 1 to 140 characters", "channel.bio must be 0 to 300 characters",
				"channel.tier must be 0 or more", "channel.lang must be a BCP 47 language tag, such as en or pt-BR",
			}},
			{"channel of an unknown user", channel(&platformv1.ChannelRecord{Id: servertest.Nobody.String(), Title: "x"}), "USER_NOT_FOUND", nil},
			{"channel in an unknown category", channel(&platformv1.ChannelRecord{Id: viewer, Title: "x", CategoryId: 9}), "CATEGORY_NOT_FOUND", nil},
			{"a channel in category -1", channel(&platformv1.ChannelRecord{Id: viewer, Title: "x", CategoryId: -1}), "CATEGORY_NOT_FOUND", nil},
			{"no channel to get", &platformv1.GetChannelRequest{}, "INVALID_ARGUMENT", []string{"channelId is required"}},
			{"channel of a user without one", &platformv1.GetChannelRequest{ChannelId: viewer}, "CHANNEL_NOT_FOUND", nil},
			{"no channel to delete", &platformv1.DeleteChannelRequest{}, "INVALID_ARGUMENT", []string{"channelId is required"}},

			{"no category", category(nil), "INVALID_ARGUMENT", []string{"category.id must be 1 to 4611686018427387903", "category.name is required", "category.slug is required"}},
			{"category with only invalid fields", category(&platformv1.CategoryRecord{Id: -1, Name: strings.Repeat("x", 141), Slug: "A b", ImageUrl: "x"}), "INVALID_ARGUMENT", []string{
				"category.id must be 1 to 4611686018427387903", "category.name must be 1 to 140 characters", "category.slug must be 1 to 140 of a-z 0-9 _ . -",
				"category.imageUrl must be an http or https address of at most 2048 characters",
			}},
			{"category 0", &platformv1.GetCategoryRequest{}, "INVALID_ARGUMENT", []string{"categoryId must be 1 or more"}},
			{"an unknown category", &platformv1.GetCategoryRequest{CategoryId: 9}, "CATEGORY_NOT_FOUND", nil},
			{"category 0 to delete", &platformv1.DeleteCategoryRequest{}, "INVALID_ARGUMENT", []string{"categoryId must be 1 or more"}},
		} {
			b.WantUnchanged(c.name, func() error {
				servertest.WantError(t, c.name, b.Call(service, c.request), c.reason, c.violations...)
				return nil
			})
		}
	})
}

func TestDeletingMissingDirectoryRecordChangesNothing(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		nobody := servertest.Nobody.String()
		b.WantUnchanged("deleting what is not there", func() error {
			r, err := b.Directory.DeleteUser(b.Ctx(), &platformv1.DeleteUserRequest{UserId: nobody})
			if !r.GetDone() || r.GetDoneAfter() != nil {
				t.Errorf("got %v, want done", r)
			}
			return err
		}, func() error {
			// The placeholder of deleted users is not a user.
			r, err := b.Directory.DeleteUser(b.Ctx(), &platformv1.DeleteUserRequest{UserId: "5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185"})
			if !r.GetDone() {
				t.Errorf("got %v, want done", r)
			}
			return err
		}, func() error {
			_, err := b.Directory.DeleteChannel(b.Ctx(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Viewer.String()})
			return err
		}, func() error { return b.deleteCategory(99) })
	})
}

// TestDirectoryRejectsRevokedTokenImmediately revokes a token that the server has cached
// as valid.
func TestDirectoryRejectsRevokedTokenImmediately(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		viewer := servertest.Viewer.String()
		for _, request := range []proto.Message{
			&platformv1.PutUserRequest{User: &platformv1.UserRecord{Id: newID, Username: "new"}},
			&platformv1.DeleteUserRequest{UserId: viewer},
			&platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: viewer, Title: "x"}},
			&platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()},
			&platformv1.PutCategoryRequest{Category: categoryRecord(1, 0)},
			&platformv1.DeleteCategoryRequest{CategoryId: 1},
			&platformv1.PutClientRequest{Client: &platformv1.ClientRecord{Id: "new", Name: "x"}},
			&platformv1.DeleteClientRequest{ClientId: servertest.Dashboard},
			&platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{ClientId: servertest.Dashboard, UserId: viewer}},
			&platformv1.IssueTokenRequest{Kind: platformv1.TokenKind_TOKEN_KIND_APP, ClientId: servertest.Dashboard},
			&platformv1.RevokeTokenRequest{Token: b.AsApp(t).Token},
		} {
			c := b.AsService(t)
			known := &platformv1.GetUserRequest{UserId: viewer}
			if err := b.Call(c, known); err != nil {
				t.Fatal(err)
			}
			if _, err := authn.Revoke(t.Context(), b.Store, c.Token, nil); err != nil {
				t.Fatal(err)
			}
			b.WantUnchanged("a revoked token", func() error {
				servertest.WantError(t, string(request.ProtoReflect().Descriptor().Name()), b.Call(c, request), "TOKEN_INVALID")
				return nil
			})
		}
	})
}
