package erasure_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/ent/token"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// calls returns the calls that run concurrently with a deletion: all calls that store
// data of the user. Each is repeated until it is refused.
func (s *scene) calls(as context.Context, p person) map[string]func() error {
	owner := servertest.Owner
	moderator := s.As(s.t, servertest.Moderator).Context()
	now := timestamppb.New(s.Store.Clock.Local().Time())
	imports := func(records ...*platformv1.Record) error {
		stream, err := s.Bulk.Import(s.ctx)
		if err != nil {
			return err
		}
		if err := stream.Send(&platformv1.ImportRequest{Records: records}); err != nil {
			return err
		}
		_, err = stream.CloseAndRecv()
		return err
	}
	return map[string]func() error{
		"follow": func() error { return s.follow(owner, p.id) },
		"unfollow": func() error {
			_, err := s.audience.Unfollow(s.ctx, &platformv1.UnfollowRequest{ChannelId: owner.String(), UserId: p.id.String()})
			return err
		},
		"subscribe": func() error { return s.subscribe(servertest.Other, p.id, 1e12) },
		"post":      func() error { return s.post(servertest.Other, p.id, p.text(1)) },
		"ban": func() error {
			if err := s.ban(moderator, owner, p.id); err != nil {
				return err
			}
			_, err := s.Moderation.RemoveBan(moderator, &moderatov1.RemoveBanRequest{ChannelId: owner.String(), BanUserId: p.id.String()})
			return err
		},
		"be a moderator": func() error {
			_, err := s.Moderation.AddModerator(s.As(s.t, owner).Context(), &moderatov1.AddModeratorRequest{ChannelId: owner.String(), UserId: p.id.String()})
			return err
		},
		"ban as the owner of a channel": func() error { return s.ban(as, p.id, servertest.Raider) },
		"be followed":                   func() error { return s.follow(p.id, servertest.Viewer) },
		"thank": func() error {
			_, err := s.content.RecordThanks(s.ctx, &platformv1.RecordThanksRequest{
				ChannelId: owner.String(), UserId: p.id.String(), Key: uid.New().String(), Amount: 1, Message: p.text(2),
			})
			return err
		},
		"vote": func() error {
			_, err := s.content.RecordVote(s.ctx, &platformv1.RecordVoteRequest{
				ChannelId: owner.String(), UserId: p.id.String(), Id: uid.New().String(), Amount: 1, Address: p.address,
			})
			return err
		},
		"grant": func() error {
			_, err := s.Access.PutGrant(s.ctx, &platformv1.PutGrantRequest{Grant: &platformv1.GrantRecord{ClientId: servertest.Dashboard, UserId: p.id.String(), Scopes: authn.Scopes()}})
			return err
		},
		"issue a token": func() error {
			_, err := s.Access.IssueToken(s.ctx, &platformv1.IssueTokenRequest{Kind: platformv1.TokenKind_TOKEN_KIND_USER, ClientId: servertest.Dashboard, UserId: p.id.String()})
			return err
		},
		"put the user": func() error {
			_, err := s.Directory.PutUser(s.ctx, &platformv1.PutUserRequest{User: &platformv1.UserRecord{
				Id: p.id.String(), Username: p.name, DisplayName: p.displayName, AvatarUrl: p.avatar,
			}})
			return err
		},
		"put the channel": func() error { return s.putChannel(p.id, p.text(3)) },
		"import": func() error {
			return imports(
				&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: servertest.Other.String(), UserId: p.id.String()}}},
				&platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: servertest.Other.String(), UserId: p.id.String(), Role: "og"}}},
				&platformv1.Record{Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{ClipId: uid.New().String(), ChannelId: owner.String(), CreatorId: p.id.String(), Title: "A clip"}}},
				&platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
					Id: uid.New().String(), ChannelId: owner.String(), UserId: p.id.String(), Text: p.text(4), SentAt: now,
				}}},
			)
		},
	}
}

// refusals are the errors with which a late call may end.
var refusals = []string{
	"USER_NOT_FOUND", "CHANNEL_NOT_FOUND", "BEING_DELETED", "TOKEN_INVALID", "NOT_CHANNEL_MODERATOR", "NOT_BANNED", "USER_BANNED",
}

// TestConcurrentCallsLeaveNoTraceOfDeletedUser has many calls in flight when a user is
// deleted. After all have ended and the final scan is done, no trace of them must be
// left.
func TestConcurrentCallsLeaveNoTraceOfDeletedUser(t *testing.T) {
	eachScene(t, func(t *testing.T, s *scene) {
		var round []person
		for i := range 4 {
			p := person{
				uid.MustParse(fmt.Sprintf("0b6fcafe-beef-4abc-8def-a1234567cc%02d", i)),
				fmt.Sprintf("Racer.Old%d-", i), fmt.Sprintf("Racer.New%d-", i), fmt.Sprintf("Räcer %d-", i), fmt.Sprintf("https://img.example.com/racer%d-.png", i),
				fmt.Sprintf("198.51.100.%d-", i), fmt.Sprintf("racoon%d-", i),
			}
			round = append(round, p)
			s.must(nil, s.putUser(p.id, p.name))
			if i%2 == 0 { // otherwise only a concurrent call creates one
				s.must(nil, s.putChannel(p.id, p.text(0)))
			}
			s.race(p)
		}
		erase(t, s.Store)
		for _, p := range round {
			wantNoTrace(t, s.Store, p)
		}
		wantExactCounters(t, s.Store)
	})
}

func (s *scene) race(p person) {
	t := s.t
	t.Helper()
	var all sync.WaitGroup
	var made atomic.Int64
	deleted := make(chan struct{})
	for name, call := range s.calls(s.As(t, p.id).Context(), p) {
		all.Go(func() {
			for isLate := false; !isLate; {
				select {
				case <-deleted: // one more call, which must see the deletion
					isLate = true
				default:
				}
				got := servertest.OutcomeOf(call()).Reason
				made.Add(1)
				if got != "OK" && !slices.Contains(refusals, got) {
					t.Errorf("%s: %s", name, got)
				}
				if isLate && got == "OK" {
					t.Errorf("%s: after the deletion's answer it went through", name)
				}
			}
		})
	}
	for made.Load() < 60 && !t.Failed() { // until all calls are running
		runtime.Gosched()
	}
	s.deleteUser(p)
	close(deleted)
	all.Wait()
	_, err := s.Directory.GetUser(s.ctx, &platformv1.GetUserRequest{Username: p.name})
	wantReason(t, "the username", err, "USER_NOT_FOUND")
	_, err = s.Directory.GetChannel(s.ctx, &platformv1.GetChannelRequest{ChannelId: p.id.String()})
	wantReason(t, "the channel", err, "CHANNEL_NOT_FOUND")
	if n := storetest.Must(s.Store.Read.Token.Query().Where(token.UserID(p.id)).Count(t.Context())); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
}
