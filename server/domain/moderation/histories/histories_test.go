// Package histories_test records what concurrent clients of two servers see while they ban,
// mute, batch, undo, post and read the same users. Each history must be one that a single
// server could have produced that makes one change after the other.
package histories_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	// historiesVariable is the environment variable with the number of histories. By default
	// there are fewHistories, and fewKills with kills.
	historiesVariable = "MODERATO_TEST_HISTORIES"
	fewHistories      = 12
	fewKills          = 4
)

func TestMain(m *testing.M) { process.Main(m) }

// number returns the number of histories to check.
func number(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv(historiesVariable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", historiesVariable, err)
	}
	return n
}

const (
	// changes is the function whose transactions are cut.
	changes = "server/change."
	// statementsOfChange is about the greatest number of statements of such a transaction.
	statementsOfChange = 16
)

// TestHistoriesAreLinearizable has clients of two servers in one process. In a third of the
// histories COMMITs are lost, and in another third, on a database server, statements: the
// first ones of their transactions, then the second ones, and so on.
func TestHistoriesAreLinearizable(t *testing.T) {
	n := number(t, fewHistories)
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		first := servertest.Start(t, config)
		first.Load(t, servertest.World()...)
		second := servertest.Start(t, servertest.Config(url))
		servers := &peers{conns: []*grpc.ClientConn{first.Conn, second.Conn}}
		c := callers{first.As(t, servertest.Owner), first.As(t, servertest.Moderator), first.AsService(t)}
		users := servertest.AddUsers(t, first.Store, n*usersOfHistory)
		for i := range n {
			h := &history{callers: c, peers: servers, users: users[i*usersOfHistory:][:usersOfHistory], start: time.Now()}
			switch {
			case i%3 == 1 && url.Path == "":
				cutter.CutStatements(changes, i/3%statementsOfChange, 4)
			case i%3 == 2:
				cutter.CutNext(changes, storetest.BeforeCommit, storetest.Nowhere, storetest.AfterCommit, storetest.Nowhere, storetest.LateCommit)
			}
			operations := h.run(t)
			cutter.CutNext("")
			check(t, i, operations)
		}
	})
}

// TestHistoriesWithKillsAreLinearizable kills one of two servers in the middle of each
// history, and starts it again. Clients repeat a call that was not answered, with the same
// idempotency key, so that each call takes effect once and has one response.
func TestHistoriesWithKillsAreLinearizable(t *testing.T) {
	n := number(t, fewKills)
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		c, users := populate(t, url, n*usersOfHistory)
		servers := &peers{}
		var processes []*process.Server
		for range 2 {
			s := process.Serve(t, url)
			processes = append(processes, s)
			servers.conns = append(servers.conns, dial(t, s.GRPC))
		}
		for i := range n {
			victim, killed := i%len(processes), make(chan struct{})
			at := 1 + rand.IntN(clientsOfHistory*stepsOfClient)
			h := &history{
				callers: c, peers: servers, users: users[i*usersOfHistory:][:usersOfHistory], start: time.Now(), repeats: true,
				onStep: func(n int) {
					if n == at {
						processes[victim].Kill()
						close(killed)
					}
				},
			}
			ended := make(chan []porcupine.Operation)
			go func() { ended <- h.run(t) }()
			<-killed
			processes[victim] = process.Serve(t, url)
			servers.set(victim, dial(t, processes[victim].GRPC))
			check(t, i, <-ended)
		}
	})
}

// populate makes a database with users, and returns the credentials of the clients.
func populate(t *testing.T, url store.URL, n int) (callers, []uid.ID) {
	t.Helper()
	storetest.Migrate(t, url)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	servertest.Import(t, db, servertest.World()...)
	user := func(id uid.ID) authn.NewToken {
		return authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: id, Scopes: authn.Scopes(), Lifetime: time.Hour}
	}
	var all []servertest.Credentials
	for _, token := range []authn.NewToken{user(servertest.Owner), user(servertest.Moderator), {Kind: authn.Service, ClientID: servertest.ChatServer}} {
		issued, err := authn.Issue(t.Context(), db, token)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, servertest.Credentials{Token: issued.Text, ClientID: token.ClientID})
	}
	return callers{all[0], all[1], all[2]}, servertest.AddUsers(t, db, n)
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// check checks that a history is linearizable.
func check(t *testing.T, i int, operations []porcupine.Operation) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(historyModel, operations, time.Minute)
	if result == porcupine.Ok {
		return
	}
	path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("history-%d.html", i))
	if err := porcupine.VisualizePath(historyModel, info, path); err != nil {
		t.Error(err)
	}
	t.Errorf("history %d is not linearizable (%s): see %s, with -artifacts", i, result, path)
}
