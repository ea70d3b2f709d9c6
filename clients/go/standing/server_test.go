package standing_test

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	moderato "github.com/moderato-live/moderato/clients/go"
	"github.com/moderato-live/moderato/clients/go/standing"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// What the examples use: a server, and a client of it.
var (
	address, serviceToken string
	standings             *standing.Client

	channel, user = uuid.UUID(servertest.Owner), uuid.UUID(servertest.Raider)
)

func TestMain(m *testing.M) { os.Exit(runWithServer(m)) }

// runWithServer runs the tests and examples with a server. Examples have no testing.T.
func runWithServer(m *testing.M) int {
	t := &mainTB{}
	defer t.cleanUp()
	server := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	server.Load(t, servertest.World()...)
	address, serviceToken = server.GRPCAddr, server.AsService(t).Token
	_, err := server.Moderation.BanUser(server.As(t, servertest.Owner).Context(), &moderatov1.BanUserRequest{
		ChannelId: channel.String(), BanUserId: user.String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	standings = follow(t, server, standing.Options{Name: "examples", AllChannels: true})
	return m.Run()
}

// follow returns a client that follows a server.
func follow(t testing.TB, s *servertest.Server, o standing.Options) *standing.Client {
	t.Helper()
	client, err := moderato.New(moderato.Config{
		Address: s.GRPCAddr, Plaintext: true, ClientID: servertest.ChatServer, Tokens: moderato.StaticToken(s.AsService(t).Token),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	c, err := standing.New(context.Background(), client.Conn(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), servertest.Slack)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChecksLikeServer makes changes through one server. Check with another server's stream
// becomes what GetStanding returns, for each user in each channel.
func TestChecksLikeServer(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	here := servertest.Start(t, servertest.Config(url))
	here.Load(t, servertest.World()...)
	there := servertest.Start(t, servertest.Config(url))
	owner, service := here.As(t, servertest.Owner).Context(), here.AsService(t)
	channels := moderatov1.NewChannelsServiceClient(here.Conn)
	id, raider, viewer := servertest.Owner.String(), servertest.Raider.String(), servertest.Viewer.String()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(here.Moderation.BanUser(owner, &moderatov1.BanUserRequest{ChannelId: id, BanUserId: raider}))
	must(here.Moderation.MuteUser(owner, &moderatov1.MuteUserRequest{ChannelId: id, MutedUserId: viewer}))
	clients := map[string]*standing.Client{
		"all channels": follow(t, there, standing.Options{Name: "chat-1", AllChannels: true}),
		"two channels": follow(t, there, standing.Options{Name: "chat-2", Channels: []uuid.UUID{channel, uuid.UUID(servertest.Other)}}),
	}
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"the snapshot", func() {}},
		{"an unban", func() {
			must(here.Moderation.RemoveBan(owner, &moderatov1.RemoveBanRequest{ChannelId: id, BanUserId: raider}))
		}},
		{"a ban that ends soon", func() {
			must(here.Moderation.BanUser(owner, &moderatov1.BanUserRequest{ChannelId: id, BanUserId: raider, DurationSeconds: new(int64(1))}))
		}},
		{"its end", func() { time.Sleep(time.Second) }},
		{"an unmute", func() {
			must(here.Moderation.RemoveMute(owner, &moderatov1.RemoveMuteRequest{ChannelId: id, MutedUserId: viewer}))
		}},
		{"a mute of a VIP", func() {
			must(channels.AddVip(owner, &moderatov1.AddVipRequest{ChannelId: id, UserId: viewer}))
			must(here.Moderation.MuteUser(owner, &moderatov1.MuteUserRequest{ChannelId: id, MutedUserId: viewer}))
		}},
		{"a banned moderator", func() {
			must(here.Moderation.BanUser(owner, &moderatov1.BanUserRequest{ChannelId: id, BanUserId: servertest.Moderator.String()}))
		}},
		{"a batch", func() {
			must(here.Moderation.BanUsers(owner, &moderatov1.BanUsersRequest{ChannelId: id, Users: []*moderatov1.BatchTarget{{UserId: raider}, {UserId: viewer}}}))
		}},
		{"an erased user", func() {
			must(here.Directory.DeleteUser(service.Context(), &platformv1.DeleteUserRequest{UserId: viewer}))
		}},
		{"a deleted channel", func() {
			must(here.Directory.DeleteChannel(service.Context(), &platformv1.DeleteChannelRequest{ChannelId: id}))
		}},
	} {
		step.do()
		for name, c := range clients {
			wantLikeServer(t, step.what+": "+name, c, here)
		}
	}
}

// wantLikeServer waits until Check returns what GetStanding does.
func wantLikeServer(t *testing.T, what string, c *standing.Client, s *servertest.Server) {
	t.Helper()
	all := strings.HasSuffix(what, "all channels")
	service := s.AsService(t).Context()
	for _, channelID := range []uid.ID{servertest.Owner, servertest.Other} {
		for _, userID := range []uid.ID{servertest.Owner, servertest.Moderator, servertest.Viewer, servertest.Raider, servertest.Other} {
			for deadline := time.Now().Add(servertest.Slack); ; time.Sleep(5 * time.Millisecond) {
				want, err := s.Chat.GetStanding(service, &platformv1.GetStandingRequest{ChannelId: channelID.String(), UserId: userID.String()})
				got := c.Check(uuid.UUID(channelID), uuid.UUID(userID))
				if isLike(got, want, err, all) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %v in %v is %s %s, want %v, %v", what, userID, channelID, got.Verdict, got.Roles, want, err)
				}
			}
		}
	}
}

// isLike reports whether Check returned what GetStanding did, apart from what the memory
// does not know: which users exist, and with all channels, which channels do.
func isLike(got standing.Standing, want *platformv1.GetStandingResponse, err error, all bool) bool {
	switch reason := servertest.OutcomeOf(err).Reason; {
	case reason == "USER_NOT_FOUND" || reason == "CHANNEL_NOT_FOUND" && all:
		return got.Verdict == standing.Allowed && got.Roles&^standing.Owner == 0
	case reason == "CHANNEL_NOT_FOUND":
		return got.Verdict == standing.ChannelNotFound
	case err != nil:
		return false
	}
	var roles standing.Roles
	for _, role := range want.GetRoles() {
		roles |= 1 << (role - 1)
	}
	muted, isMuted := got.MuteExpiresAt()
	return (got.Verdict == standing.Banned) == want.GetIsBanned() && got.CanPost() == want.GetCanPost() && got.Roles == roles &&
		isMuted == (want.GetMuteExpiresAt() != nil) && (!isMuted || muted.Equal(want.GetMuteExpiresAt().AsTime())) && got.Source == standing.FromMemory
}

// TestResumesAtServer stops the server of a client. The client resumes at a new one, and
// acknowledges what happened meanwhile.
func TestResumesAtServer(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	here := servertest.Start(t, servertest.Config(url))
	here.Load(t, servertest.World()...)
	config := servertest.Config(url)
	there := servertest.Start(t, config)
	config.GRPCAddr = there.GRPCAddr
	c := follow(t, there, standing.Options{Name: "chat-1", AllChannels: true})
	there.Stop(t)
	owner := here.As(t, servertest.Owner)
	if _, err := here.Moderation.BanUser(owner.Context(), &moderatov1.BanUserRequest{ChannelId: channel.String(), BanUserId: user.String()}); err != nil {
		t.Fatal(err)
	}
	if got := c.Check(channel, user); got.Verdict != standing.Allowed || got.Source != standing.FromMemory {
		t.Errorf("without a server: %s from %s", got.Verdict, got.Source)
	}
	servertest.Start(t, config)
	wantLikeServer(t, "resumed: all channels", c, here)
	if got := c.Stats(); got.Snapshots != 1 || got.Resumes != 1 {
		t.Errorf("got %+v", got)
	}
	var body struct {
		Data struct {
			SubscriberCount, AppliedCount int
			SlowestMilliseconds           *int64
		}
	}
	for deadline := time.Now().Add(servertest.Slack); body.Data.AppliedCount != 1 || body.Data.SlowestMilliseconds == nil; time.Sleep(10 * time.Millisecond) {
		r := here.REST(t, owner, http.MethodGet, "/v1/moderation/propagation?channelId="+channel.String(), "")
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil || time.Now().After(deadline) {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
	}
}

// TestHearsOfChannelCreatedWhileAway stops the server of a client, which knows that a channel
// does not exist, and creates the channel meanwhile.
func TestHearsOfChannelCreatedWhileAway(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	here := servertest.Start(t, servertest.Config(url))
	here.Load(t, servertest.World()...)
	config := servertest.Config(url)
	there := servertest.Start(t, config)
	config.GRPCAddr = there.GRPCAddr
	viewer := uuid.UUID(servertest.Viewer)
	c := follow(t, there, standing.Options{Name: "chat-1", Channels: []uuid.UUID{channel, viewer}})
	if got := c.Check(viewer, user); got.Verdict != standing.ChannelNotFound {
		t.Errorf("before the channel exists: %s", got.Verdict)
	}
	there.Stop(t)
	_, err := here.Directory.PutChannel(here.AsService(t).Context(), &platformv1.PutChannelRequest{
		Channel: &platformv1.ChannelRecord{Id: viewer.String(), Title: "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	servertest.Start(t, config)
	for deadline := time.Now().Add(servertest.Slack); c.Check(viewer, user).Verdict != standing.Allowed; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after the channel was created: %s", c.Check(viewer, user).Verdict)
		}
	}
}

// TestRefusedToken has a client without a service token.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	client, err := moderato.New(moderato.Config{Address: address, Plaintext: true, ClientID: servertest.ChatServer, Tokens: moderato.StaticToken("mds_x")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	c, err := standing.New(t.Context(), client.Conn(), standing.Options{Name: "chat-1", AllChannels: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Wait(t.Context()); moderato.ReasonOf(err) != moderatov1.Reason_REASON_TOKEN_INVALID {
		t.Errorf("Wait returns %v", err)
	}
}

// TestReadmeHasExample compares the README with the example.
func TestReadmeHasExample(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(doctest.Read(t, "clients/go/standing/example_test.go"), "func Example() {\n")
	example, _, _ = strings.Cut(example, "\t// Output:")
	example = strings.ReplaceAll(strings.TrimPrefix(example, "\t"), "\n\t", "\n")
	doctest.Want(t, "clients/go/README.md", "```go\n"+example+"```\n",
		"`FailClosed`", "`FailOpen`", "`AskServer`")
}

// mainTB is the testing.TB of TestMain.
type mainTB struct {
	testing.TB

	cleanups []func()
}

func (*mainTB) Helper()                             {}
func (*mainTB) Fatal(args ...any)                   { log.Panic(args...) }
func (*mainTB) Error(args ...any)                   { log.Print(args...) }
func (t *mainTB) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *mainTB) Errorf(format string, args ...any) { log.Printf(format, args...) }

// Skip leaves out the package, which tests on SQLite alone.
func (*mainTB) Skip(...any) { os.Exit(0) }

// TempDir returns a new directory, which is removed with the server.
func (t *mainTB) TempDir() string {
	directory, err := os.MkdirTemp("", "moderato-standing.")
	if err != nil {
		log.Panic(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	return directory
}

func (t *mainTB) cleanUp() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
