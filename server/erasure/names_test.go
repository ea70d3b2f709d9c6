package erasure_test

import (
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/servertest"
)

// TestDeletionWorksWithFormerlyReservedNames has users with the names that were once
// generated for deleted users, and one with the former placeholder id.
func TestDeletionWorksWithFormerlyReservedNames(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := s.AsService(t).Context()
		for id, name := range map[string]string{
			"00000000-0000-4000-8000-000000000000": "-deleted-",
			servertest.Nobody.String():             "deleted-" + strings.ReplaceAll(servertest.Raider.String(), "-", ""),
		} {
			_, err := s.Directory.PutUser(ctx, &platformv1.PutUserRequest{User: &platformv1.UserRecord{Id: id, Username: name}})
			if err != nil {
				t.Errorf("put %s: %v", name, err)
			}
		}
		for _, id := range []string{servertest.Raider.String(), servertest.Nobody.String()} {
			if _, err := s.Directory.DeleteUser(ctx, &platformv1.DeleteUserRequest{UserId: id}); err != nil {
				t.Errorf("delete %s: %v", id, err)
			}
		}
	})
}
