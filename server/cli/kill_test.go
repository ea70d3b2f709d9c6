package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/event"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	kills   = 8
	victims = 6
)

// TestKilledServerKeepsAcknowledgedChanges kills the process at random moments during
// bans and unbans. The next process must have every acknowledged change and no partial
// one: a ban has its events, and the sequence has no gap.
func TestKilledServerKeepsAcknowledgedChanges(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		var users []*victim
		for i := range victims {
			users = append(users, &victim{id: uid.MustParse(fmt.Sprintf("0b6faaaa-0000-4000-8000-%012d", i))})
		}
		addUsers(t, db, users)
		ctx := callerContext(t, db)
		answered := 0
		for range kills {
			p := process.Serve(t, url)
			conn := p.Dial(t)
			var work sync.WaitGroup
			begun := make(chan struct{}) // closed at the first response, which can take long on a loaded machine
			responded := sync.OnceFunc(func() { close(begun) })
			for _, v := range users {
				work.Go(func() { v.banAndUnban(ctx, moderatov1.NewModerationServiceClient(conn), responded) })
			}
			select {
			case <-begun:
			case <-time.After(10 * time.Second):
				t.Error("nothing is answered")
			}
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			p.Kill()
			work.Wait()
			_ = conn.Close()
			for _, v := range users {
				v.check(t, db)
				answered += v.answers
				v.answers = 0
			}
			checkSequence(t, db)
		}
		t.Logf("%d changes were answered in %d processes", answered, kills)
		if answered == 0 {
			t.Error("no change was answered, so nothing was tested")
		}
	})
}

// victim is a user who is banned and unbanned.
type victim struct {
	id      uid.ID
	banned  bool // as of the last response
	unsure  bool // a later change has no response
	answers int
}

// banAndUnban alternates until the server is dead. It calls answered after each response.
func (v *victim) banAndUnban(ctx context.Context, client moderatov1.ModerationServiceClient, answered func()) {
	v.unsure = false
	for {
		var err error
		if v.banned {
			_, err = client.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: servertest.Owner.String(), BanUserId: v.id.String()})
		} else {
			_, err = client.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: v.id.String()})
		}
		if err != nil {
			v.unsure = true
			return
		}
		v.banned = !v.banned
		v.answers++
		answered()
	}
}

// check compares the database with the acknowledged changes, and updates v from the
// database if the last change has no response.
func (v *victim) check(t *testing.T, db *store.Store) {
	t.Helper()
	ctx := context.Background()
	isBanned, err := db.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserID(v.id)).Exist(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if isBanned != v.banned && !v.unsure {
		t.Errorf("%s: banned is %t, answered was %t", v.id, isBanned, v.banned)
	}
	v.banned = isBanned
	want := "channel.unban"
	if isBanned {
		want = "channel.chat.clear_user_messages"
	}
	last, err := db.Read.Event.Query().Where(event.ChannelID(servertest.Owner), event.TargetID(v.id)).
		Order(ent.Desc(event.FieldSequence)).First(ctx)
	if ent.IsNotFound(err) && !isBanned {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if last.Type != want {
		t.Errorf("%s: banned is %t, but the last event is %s", v.id, isBanned, last.Type)
	}
}

// checkSequence checks that the channel's events have no gap, that the channel's row
// agrees, and that the two events of each ban are adjacent.
func checkSequence(t *testing.T, db *store.Store) {
	t.Helper()
	ctx := context.Background()
	events, err := db.Read.Event.Query().Where(event.ChannelID(servertest.Owner)).Order(ent.Asc(event.FieldSequence)).All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has sequence %d", i+1, e.Sequence)
		}
		if e.Type == "channel.ban" && (i+1 == len(events) || events[i+1].OperationID != e.OperationID) {
			t.Errorf("channel.ban %d is without its channel.chat.clear_user_messages", e.Sequence)
		}
	}
	channel, err := db.Read.Channel.Get(ctx, servertest.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if channel.EventSequence != int64(len(events)) {
		t.Errorf("the channel is at sequence %d, with %d events", channel.EventSequence, len(events))
	}
}

// prepare migrates a database and puts the World into it.
func prepare(t *testing.T, url store.URL) *store.Store {
	t.Helper()
	if got := process.Run(t, nil, "", "migrate", process.DBFlag(url)); got.Code != 0 {
		t.Fatal(got.Err)
	}
	db, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	servertest.Import(t, db, servertest.World()...)
	return db
}

func addUsers(t *testing.T, db *store.Store, users []*victim) {
	t.Helper()
	for i, v := range users {
		servertest.Import(t, db, &platformv1.Record{Kind: &platformv1.Record_User{
			User: &platformv1.UserRecord{Id: v.id.String(), Username: fmt.Sprintf("victim%d", i)},
		}})
	}
}

func callerContext(t *testing.T, db *store.Store) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(context.Background(),
		authn.AuthorizationKey, "Bearer "+ownerToken(t, db), authn.ClientIDKey, servertest.Dashboard)
}

func TestTerminatedServerDrainsAndExitsZero(t *testing.T) {
	db := storetest.SQLite(t)
	p := process.Serve(t, db)
	if got := p.Terminate(); got != 0 {
		t.Errorf("exit code %d, want 0", got)
	}
	if !regexp.MustCompile(`(?s)"stopping.*"draining.*"stopped"`).MatchString(p.Log()) {
		t.Errorf("the log does not mention the stop:\n%s", p.Log())
	}
}

// TestSecondSignalEndsDrain has a server with a drain delay of an hour.
func TestSecondSignalEndsDrain(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, storetest.SQLite(t), "--drain-delay=1h")
	ended := make(chan int, 1)
	go func() { ended <- p.Terminate() }()
	deadline := time.After(patience)
	for {
		select {
		case code := <-ended:
			if code == 0 {
				t.Error("exit code 0, as if it had drained")
			}
			return
		case <-deadline:
			t.Fatal("it still drains")
		case <-time.After(20 * time.Millisecond): // the server may not have handled the first signal yet
			_ = p.Cmd.Process.Signal(syscall.SIGTERM)
		}
	}
}
