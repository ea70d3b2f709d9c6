package authn_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// reasonOf returns the reason of a gRPC error, or OK.
func reasonOf(err error) string {
	if err == nil {
		return "OK"
	}
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return err.Error()
}

// revocationWrites returns calls that change Owner's channel.
func revocationWrites(s *servertest.Server) map[string]func(ctx context.Context) error {
	owner, raider := servertest.Owner.String(), servertest.Raider.String()
	return map[string]func(ctx context.Context) error{
		"AddModerator": func(ctx context.Context) error {
			_, err := s.Moderation.AddModerator(ctx, &moderatov1.AddModeratorRequest{ChannelId: owner, UserId: raider})
			return err
		},
		"RemoveModerator": func(ctx context.Context) error {
			_, err := s.Moderation.RemoveModerator(ctx, &moderatov1.RemoveModeratorRequest{ChannelId: owner, UserId: raider})
			return err
		},
		"BanUser": func(ctx context.Context) error {
			_, err := s.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: owner, BanUserId: raider})
			return err
		},
		"RemoveBan": func(ctx context.Context) error {
			_, err := s.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: owner, BanUserId: raider})
			return err
		},
		"MuteUser": func(ctx context.Context) error {
			_, err := s.Moderation.MuteUser(ctx, &moderatov1.MuteUserRequest{ChannelId: owner, MutedUserId: raider})
			return err
		},
		"UndoBanBatch": func(ctx context.Context) error {
			_, err := s.Moderation.UndoBanBatch(ctx, &moderatov1.UndoBanBatchRequest{ChannelId: owner, BatchId: raider})
			return err
		},
		"RevertModerator": func(ctx context.Context) error {
			_, err := s.Moderation.RevertModerator(ctx, &moderatov1.RevertModeratorRequest{ChannelId: owner, ModeratorId: raider, Since: timestamppb.Now()})
			return err
		},
		"BanUsers": func(ctx context.Context) error {
			_, err := s.Moderation.BanUsers(ctx, &moderatov1.BanUsersRequest{ChannelId: owner, Users: []*moderatov1.BatchTarget{{UserId: raider}}})
			return err
		},
		"PreviewSweep": func(ctx context.Context) error {
			_, err := s.Moderation.PreviewSweep(ctx, &moderatov1.PreviewSweepRequest{ChannelId: owner, Phrase: new("x"), WithinSeconds: new(int64(60))})
			return err
		},
		"CommitSweep": func(ctx context.Context) error {
			_, err := s.Moderation.CommitSweep(ctx, &moderatov1.CommitSweepRequest{ChannelId: owner, SweepToken: "x"})
			return err
		},
		"RemoveMute": func(ctx context.Context) error {
			_, err := s.Moderation.RemoveMute(ctx, &moderatov1.RemoveMuteRequest{ChannelId: owner, MutedUserId: raider})
			return err
		},
	}
}

func listModerators(s *servertest.Server, c servertest.Credentials) error {
	_, err := s.Moderation.ListModerators(c.Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
	return err
}

// whileCached revokes a token that the server has just read, makes a write with it, and
// checks with a read that the server still had the token cached. If the machine was too
// slow for that, it tries again.
func whileCached(t *testing.T, s *servertest.Server, credentials func() servertest.Credentials, write func(ctx context.Context) error) {
	t.Helper()
	for range 20 {
		c := credentials()
		if err := listModerators(s, c); err != nil {
			t.Fatal(err)
		}
		if _, err := authn.Revoke(context.Background(), s.Store, c.Token, nil); err != nil {
			t.Fatal(err)
		}
		if got := reasonOf(write(c.Context())); got != "TOKEN_INVALID" {
			t.Errorf("a write with a revoked token: got %s, want TOKEN_INVALID", got)
		}
		if listModerators(s, c) == nil {
			return
		}
	}
	t.Error("the server never remembered the token, so the test shows nothing")
}

func TestWritesRejectRevokedTokenImmediately(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, write := range revocationWrites(s) {
			t.Run(name, func(t *testing.T) {
				whileCached(t, s, func() servertest.Credentials { return s.As(t, servertest.Owner) }, write)
			})
			t.Run(name+" by a backend", func(t *testing.T) {
				whileCached(t, s, func() servertest.Credentials {
					c := s.AsService(t)
					c.ActingUser = servertest.Owner
					return c
				}, write)
			})
		}
		if n := storetest.Must(s.Store.Read.Event.Query().Count(context.Background())); n != 0 {
			t.Errorf("refused writes left %d events, want none", n)
		}
	})
}

func TestPostRejectsRevokedTokenImmediately(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		whileCached(t, s, func() servertest.Credentials { return s.AsService(t) }, func(ctx context.Context) error {
			_, err := s.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: "gg",
			})
			return err
		})
		if n := storetest.Must(s.Store.Read.Message.Query().Count(context.Background())); n != 0 {
			t.Errorf("refused posts left %d messages, want none", n)
		}
	})
}

func TestWritesRejectExpiredToken(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now := freeze(t, s.Store)
		c := s.Token(t, authn.NewToken{
			Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(), Lifetime: time.Hour,
		})
		s.Store.Clock.Freeze(now.Add(time.Hour - time.Millisecond))
		writes := revocationWrites(s)
		for _, name := range []string{"AddModerator", "RemoveModerator", "BanUser", "RemoveBan", "MuteUser", "RemoveMute"} {
			if got := reasonOf(writes[name](c.Context())); got != "OK" {
				t.Errorf("%s a millisecond before the end: got %s, want OK", name, got)
			}
		}
		s.Store.Clock.Freeze(now.Add(time.Hour))
		for name, write := range writes {
			if got := reasonOf(write(c.Context())); got != "TOKEN_EXPIRED" {
				t.Errorf("%s at the end: got %s, want TOKEN_EXPIRED", name, got)
			}
		}
	})
}

func TestReadsRejectRevokedTokenWithin2sOnEveryServer(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		second := servertest.Start(t, servertest.Config(url))
		c := s.As(t, servertest.Owner)
		read := func(s *servertest.Server) string { return reasonOf(listModerators(s, c)) }
		overREST := func(s *servertest.Server) int {
			return s.REST(t, c, http.MethodGet, "/v1/moderation/moderators?channelId="+servertest.Owner.String(), "").Status
		}
		for _, s := range []*servertest.Server{s, second} {
			if got := read(s); got != "OK" {
				t.Fatalf("before the revocation: got %s, want OK", got)
			}
		}
		if _, err := authn.Revoke(context.Background(), s.Store, c.Token, nil); err != nil {
			t.Fatal(err)
		}
		revoked := time.Now()
		for {
			begun := time.Since(revoked)
			if read(s) == "TOKEN_INVALID" && read(second) == "TOKEN_INVALID" && overREST(s) == 401 && overREST(second) == 401 {
				break
			}
			if begun >= 2*time.Second {
				t.Fatalf("a server still takes the token %s after its revocation", begun)
			}
			time.Sleep(10 * time.Millisecond)
		}
		for range 10 { // and remains refused
			for _, s := range []*servertest.Server{s, second} {
				if got := read(s); got != "TOKEN_INVALID" {
					t.Errorf("later: got %s, want TOKEN_INVALID", got)
				}
			}
		}
	})
}
