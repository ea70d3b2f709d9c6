package moderato_test

import (
	"context"
	"log"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// What the examples use: a server, and a client of it with a token of the owner.
var (
	server     *servertest.Server
	client     *moderato.Client
	ownerToken string

	owner, viewer = servertest.Owner.String(), servertest.Viewer.String()
)

func TestMain(m *testing.M) { os.Exit(runWithServer(m)) }

// runWithServer runs the tests and examples with a server. Examples have no testing.T.
func runWithServer(m *testing.M) int {
	t := &mainTB{}
	defer t.cleanUp()
	config := servertest.Config(storetest.SQLite(t))
	config.WebhookAllowPrivate = true
	server = servertest.Start(t, config)
	records := servertest.World()
	for i, user := range []string{servertest.Moderator.String(), viewer, servertest.Raider.String()} {
		records = append(records, &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
			ChannelId: owner, UserId: user, FollowedAt: timestamppb.New(time.Now().Add(time.Duration(i-3) * time.Hour)),
		}}})
	}
	server.Load(t, records...)
	ownerToken = server.As(t, servertest.Owner).Token
	var err error
	client, err = moderato.New(moderato.Config{
		Address: server.GRPCAddr, Plaintext: true, ClientID: servertest.Dashboard, Tokens: moderato.StaticToken(ownerToken),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	return m.Run()
}

func addVIP(ctx context.Context) {
	if _, err := client.Channels.AddVip(ctx, &moderatov1.AddVipRequest{ChannelId: owner, UserId: viewer}); err != nil {
		log.Fatal(err)
	}
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

// TempDir returns a new directory, which is removed with the server.
func (t *mainTB) TempDir() string {
	directory, err := os.MkdirTemp("", "moderato-client.")
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
