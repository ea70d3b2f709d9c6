package watch_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/hearing"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCheckReadsChannelsOnlyAfterChange counts the statements of a check: one for all users,
// regardless of the number of their channels. Only after a change, a check reads channels.
func TestCheckReadsChannelsOnlyAfterChange(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		channels, users := servertest.AddChannels(t, s, 20), servertest.AddUsers(t, s, 30)
		rights := &watch.Rights{Store: s, Log: slog.New(slog.DiscardHandler)}
		for _, user := range users {
			addModerator(t, s, channels, user)
			for range 3 {
				rights.Add(&authn.Caller{Kind: authn.Service, UserID: user})
			}
		}
		check := func() (sent []storetest.Statement) {
			t.Helper()
			before := len(recorder.Sent())
			if err := rights.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			return recorder.Sent()[before:]
		}
		if sent := check(); len(sent) != 3 {
			t.Errorf("first check: got %d statements, want one for the versions and two for the channels of 30 users", len(sent))
		}
		for range 2 {
			sent := check()
			if len(sent) != 1 || len(sent[0].Args) != len(users) || strings.Contains(sent[0].Text, "roles") {
				t.Errorf("check without a change: got %v, want one statement with the versions of 30 users", sent)
			}
		}
		err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return authz.RightsChanged(ctx, s.Dialect, tx, users[7])
		})
		if err != nil {
			t.Fatal(err)
		}
		if sent := check(); len(sent) != 2 || strings.Count(sent[1].Text, "FROM roles") != strings.Count(authz.Moderates(s.Clock, "", ""), "FROM roles")+1 {
			t.Errorf("check after a change: got %v, want the versions and the channels of one user", sent)
		}
		if sent := check(); len(sent) != 1 {
			t.Errorf("second check after a change: got %d statements, want one", len(sent))
		}
		rights.Age()
		if sent := check(); len(sent) < 2 || len(sent[1].Args) > 2*40 {
			t.Errorf("check after a long time: got %v, want the versions, and the channels of at most 40 listeners", sent)
		}
	})
}

// checkLimit is the 2 s within which a right must end, with tolerance for slow machines.
const checkLimit = 2*time.Second + servertest.Slack

// TestRightsFollowEveryChange changes rights in each way. There is no hub, so events do not
// trigger the checks.
func TestRightsFollowEveryChange(t *testing.T) {
	t.Parallel()
	owner, moderator := servertest.Owner, servertest.Moderator
	for name, c := range map[string]struct {
		before, change func(t *testing.T, s *servertest.Server)
		channel        uid.ID // the default is the owner's channel
		// hears is whether the moderator may receive the channel's events afterwards.
		hears bool
		// reason is why the listener of this channel ended.
		reason moderatov1.Reason
		// isLate means that listeners of all channels keep the right until the channel is
		// erased. A deleted channel has no events.
		isLate bool
	}{
		"role removed": {
			change: func(t *testing.T, s *servertest.Server) { moderators(t, s, http.MethodDelete) },
			reason: moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR,
		},
		"role added": {
			before: func(t *testing.T, s *servertest.Server) { moderators(t, s, http.MethodDelete) },
			change: func(t *testing.T, s *servertest.Server) { moderators(t, s, http.MethodPost) },
			hears:  true,
		},
		"role imported": {
			before: func(t *testing.T, s *servertest.Server) { moderators(t, s, http.MethodDelete) },
			change: func(t *testing.T, s *servertest.Server) {
				s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
					ChannelId: owner.String(), UserId: moderator.String(), Role: "moderator",
				}}})
			},
			hears: true,
		},
		"banned": {
			change: func(t *testing.T, s *servertest.Server) { ban(t, s, owner, moderator) },
			reason: moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR,
		},
		"unbanned": {
			before: func(t *testing.T, s *servertest.Server) { ban(t, s, owner, moderator) },
			change: func(t *testing.T, s *servertest.Server) { unban(t, s, owner, moderator) },
			hears:  true,
		},
		"user deleted": {
			change: func(t *testing.T, s *servertest.Server) {
				_, err := s.Directory.DeleteUser(s.AsService(t).Context(), &platformv1.DeleteUserRequest{UserId: moderator.String()})
				if err != nil {
					t.Fatal(err)
				}
			},
			reason: moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR,
		},
		"channel created": {
			change: func(t *testing.T, s *servertest.Server) {
				_, err := s.Directory.PutChannel(s.AsService(t).Context(), &platformv1.PutChannelRequest{
					Channel: &platformv1.ChannelRecord{Id: moderator.String(), Title: "of the moderator"},
				})
				if err != nil {
					t.Fatal(err)
				}
			},
			channel: moderator, hears: true,
		},
		"channel deleted": {
			change: func(t *testing.T, s *servertest.Server) {
				_, err := s.Directory.DeleteChannel(s.AsService(t).Context(), &platformv1.DeleteChannelRequest{ChannelId: owner.String()})
				if err != nil {
					t.Fatal(err)
				}
			},
			reason: moderatov1.Reason_REASON_CHANNEL_NOT_FOUND, isLate: true,
		},
	} {
		if c.channel.IsZero() {
			c.channel = owner
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.Each(t, func(t *testing.T, s *servertest.Server) {
				if c.before != nil {
					c.before(t, s)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rights := &watch.Rights{Store: s.Store, Log: slog.New(slog.DiscardHandler)}
				ended := make(chan struct{})
				go func() { defer close(ended); outboxtest.RunJobs(ctx, s.Store, rights.Jobs()...) }()
				defer func() { cancel(); <-ended }()
				// A backend that acts for the moderator, because its token does not end
				// with the user.
				service := s.AsService(t)
				caller := &authn.Caller{Kind: authn.Service, ClientID: service.ClientID, UserID: moderator, Token: digest.Of(service.Token)}
				admit := func(channelID uid.ID, named ...eventtype.Type) (*watch.Listener, error) {
					wish, err := hearing.Ask(caller, channelID, named)
					if err != nil {
						t.Fatal(err)
					}
					return rights.Admit(ctx, wish)
				}
				unnamed, err := admit(uid.ID{})
				if err != nil {
					t.Fatal(err)
				}
				named, err := admit(c.channel, "channel.ban")
				if (err == nil) != !c.hears {
					t.Fatalf("a listener that names the channel: got %v", err)
				}
				if unnamed.MayHear(c.channel, "channel.ban") == c.hears {
					t.Fatalf("before the change: may hear is %t", !c.hears)
				}
				c.change(t, s)
				began := time.Now()
				limit := checkLimit
				if c.isLate {
					limit = patience
				}
				for unnamed.MayHear(c.channel, "channel.ban") != c.hears {
					if time.Since(began) > limit {
						t.Fatalf("%s after the change: may receive: %t", limit, !c.hears)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if c.hears {
					return
				}
				for named.Err() == nil {
					if time.Since(began) > limit {
						t.Fatalf("%s after the change: the listener of the channel has not ended", limit)
					}
					time.Sleep(10 * time.Millisecond)
				}
				// The eraser may have removed the role before the check.
				wasErased := c.isLate && errors.Is(named.Err(), apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR))
				if !errors.Is(named.Err(), apierr.New(c.reason)) && !wasErased {
					t.Errorf("the listener of the channel ended with %v, want %s", named.Err(), c.reason)
				}
			})
		})
	}
}

// TestBanOfUserWithoutRoleDoesNotWriteUser checks that the ban of a raider does not write
// the row of the user, so that a ban waits only for its channel.
func TestBanOfUserWithoutRoleDoesNotWriteUser(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		version := func() int64 {
			return storetest.Must(s.Store.Read.User.Get(t.Context(), servertest.Raider)).RightsVersion
		}
		before := version()
		ban(t, s, servertest.Owner, servertest.Raider)
		unban(t, s, servertest.Owner, servertest.Raider)
		if got := version(); got != before {
			t.Errorf("rights version of the raider: got %d, want %d", got, before)
		}
	})
}

// TestRoleImportWaitsForChannelLock imports a role while a change of the channel is in
// progress. If the change is a ban, it must see the role. Otherwise the user's next check
// would not read the channels again.
func TestRoleImportWaitsForChannelLock(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		imported := make(chan struct{})
		err := outboxtest.EmitThen(s.Store, servertest.Owner, 1, func() error {
			go func() {
				defer close(imported)
				s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
					ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Role: "moderator",
				}}})
			}()
			select {
			case <-imported:
				t.Error("the role was imported while the channel was locked")
			case <-time.After(500 * time.Millisecond):
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-imported
	})
}

// TestPublicListenersCostTheirTokenAlone counts the statements of a check of many listeners
// of one channel who named a public type, or are apps.
func TestPublicListenersCostTheirTokenAlone(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		channel := servertest.AddChannels(t, s, 1)[0]
		rights := &watch.Rights{Store: s, Log: slog.New(slog.DiscardHandler)}
		for range 2000 {
			rights.AddNamed(authn.NewCaller(authn.User, uid.New(), authn.UsersRead), channel, "channel.update")
			rights.AddNamed(authn.NewCaller(authn.App, uid.ID{}, authn.UsersRead), channel)
		}
		before := len(recorder.Sent())
		if err := rights.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sent := recorder.Sent()[before:]; len(sent) != 2 || len(sent[0].Args) != 1 || len(sent[1].Args) != 2 {
			t.Errorf("got %d statements (%v), want one for the channel and one for the grant of the app", len(sent), sent)
		}
	})
}
