package erasure_test

import (
	"strings"
	"testing"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
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

// TestRepeatedImportOfVoteNamesNobodyElse repeats the import of a vote after its user has
// another username, and after the user was erased.
func TestRepeatedImportOfVoteNamesNobodyElse(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		s.must(nil, s.putUser(vera.id, vera.oldName))
		vote := &platformv1.Record{Kind: &platformv1.Record_Vote{Vote: &platformv1.VoteRecord{
			Id: uid.New().String(), ChannelId: servertest.Owner.String(), Username: vera.oldName, Address: vera.address, Amount: 1,
		}}}
		s.Load(t, vote)
		s.must(nil, s.putUser(vera.id, vera.name))
		s.must(nil, s.putUser(walter.id, vera.oldName))
		s.Load(t, vote)
		s.must(nil, s.putUser(walter.id, walter.name))
		s.deleteUser(vera)
		erase(t, s.Store)
		wantNoTrace(t, s.Store, vera)
		s.Load(t, vote)
		wantNoTrace(t, s.Store, vera)
	})
}
