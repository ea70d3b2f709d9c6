package cli_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/moderato-live/moderato/ent/ban"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// The transactions whose steps are tested, by the function that begins them.
const (
	ofChange    = "server/change."
	ofSequencer = "server/event/outbox.(*Sequencer)"
	ofWorker    = "server/event/webhooks.(*worker)"
)

// death describes at which step of a transaction the process is killed.
type death struct {
	name string
	halt storetest.Halt
	// when is the moment at which the server is told to stop.
	when moment
	// isAnswered reports whether the ban is acknowledged before the process is killed.
	isAnswered bool
	// isBatch reports whether the user is banned by a batch.
	isBatch bool
	// isRevert reports whether the user is banned before, and the ban is reverted.
	isRevert bool
}

// moment is a moment in the life of a server, which bans one user.
type moment int

const (
	beforeTheBan moment = iota
	atItsStart
	atTheRequest // when the ban's event is at the webhook's receiver
)

var deaths = []death{
	{name: "writing", halt: storetest.Halt{Of: ofChange, Has: "INSERT INTO bans"}},
	{name: "writing a batch", halt: storetest.Halt{Of: ofChange, Has: "INSERT INTO bans"}, isBatch: true},
	{name: "reverting", halt: storetest.Halt{Of: ofChange, Has: "DELETE FROM `bans`"}, isRevert: true},
	{name: "taking the lease", halt: storetest.Halt{Of: ofSequencer, Has: "UPDATE event_sequencers SET epoch"}, when: atItsStart},
	{name: "sequencing", halt: storetest.Halt{Of: ofSequencer, After: ofChange, Has: "UPDATE events SET position"}, isAnswered: true},
	{name: "claiming", halt: storetest.Halt{Of: ofWorker, Has: "INSERT INTO `webhook_deliveries`"}, isAnswered: true},
	{name: "recording", halt: storetest.Halt{Of: ofWorker, Has: "UPDATE `webhook_deliveries`"}, when: atTheRequest, isAnswered: true},
}

// TestKilledAtEveryStep kills the process before each step of the transactions that write
// events, sequence them and deliver them, and after their COMMIT. Each time another
// server takes over without a difference: acknowledged changes persist, each event is
// received once and in order by listeners, and at least once and in order by the webhook.
// Every kind of transaction is killed on SQLite or on a server; see storetest.Takes.
func TestKilledAtEveryStep(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := newScene(t, url)
		began, died := time.Now(), 0
		for _, d := range deaths {
			if !storetest.Takes(t, url, d.name) {
				continue
			}
			found := false
			for step := 0; ; step++ {
				d.halt.Step = step
				reached := s.die(d)
				s.takeOver(fmt.Sprintf("%s, killed before step %d, %.60s", d.name, step, reached))
				if reached == "" {
					break
				}
				died++
				found = found || strings.HasPrefix(reached, d.halt.Has)
			}
			if !found {
				t.Errorf("%s: no step was %s", d.name, d.halt.Has)
			}
		}
		s.killWhileSending()
		s.takeOver("killed while the receiver has the request")
		s.check()
		t.Logf("killed at %d steps in %s; %d of %d events arrived again", died+1, time.Since(began).Round(time.Millisecond), s.box.repeats, s.recorder.reached())
	})
}

// scene holds what outlives the processes.
type scene struct {
	t        *testing.T
	url      store.URL
	db       *store.Store
	owner    context.Context
	backend  context.Context
	recorder *eventRecorder
	box      *mailbox
	users    int
	takes    int      // processes that took over
	banned   []uid.ID // as acknowledged
}

func newScene(t *testing.T, url store.URL) *scene {
	t.Helper()
	s := &scene{t: t, url: url, db: prepare(t, url), box: newMailbox(t)}
	s.recorder = newEventRecorder(t, s.db)
	s.owner = callerContext(t, s.db)
	receiver := httptest.NewServer(s.box)
	t.Cleanup(receiver.Close)
	live := s.start()
	s.backend = live.AsService(t).Context()
	_, err := moderatov1.NewWebhooksServiceClient(live.Conn).CreateWebhook(s.backend, &moderatov1.CreateWebhookRequest{Url: receiver.URL})
	if err != nil {
		t.Fatal(err)
	}
	s.waitUntilIdle()
	live.Stop(t)
	return s
}

func (s *scene) start() *servertest.Server {
	config := servertest.Config(s.url)
	config.WebhookAllowPrivate = true
	return servertest.Start(s.t, config)
}

// newUser returns a new user to ban.
func (s *scene) newUser() uid.ID {
	s.t.Helper()
	s.users++
	id := uid.MustParse(fmt.Sprintf("0b6faaaa-0000-4000-8000-%012d", s.users))
	servertest.Import(s.t, s.db, &platformv1.Record{Kind: &platformv1.Record_User{
		User: &platformv1.UserRecord{Id: id.String(), Username: fmt.Sprint("victim", s.users)},
	}})
	return id
}

// die has a user banned, and kills the process when it stops at the step. It returns the
// step, or "" if there are fewer steps.
func (s *scene) die(d death) string {
	s.t.Helper()
	var atStart storetest.Halt
	if d.when == atItsStart {
		atStart = d.halt
	}
	p := serveUpTo(s.t, s.url, atStart)
	conn := p.Dial(s.t)
	defer s.recorder.listen(s.backend, conn)()
	if d.when == atItsStart {
		defer p.Kill()
		return p.stepReached(s.t)
	}
	user, change := s.newUser(), s.ban
	switch {
	case d.isBatch:
		change = s.banAsBatch
	case d.isRevert:
		if err := s.ban(conn, user); err != nil {
			s.t.Fatal(err)
		}
		change = s.revert
	}
	switch d.when {
	case beforeTheBan:
		p.stopAt(s.t, d.halt)
	case atTheRequest:
		s.box.onNextArrival(func() { p.stopAt(s.t, d.halt) })
	}
	answer := make(chan error, 1)
	go func() { answer <- change(conn, user) }()
	if d.isAnswered {
		s.note(user, <-answer, true)
		defer p.Kill()
		return p.stepReached(s.t)
	}
	reached := p.stepReached(s.t)
	var err error
	isWhole := reached == "" || reached == storetest.CommittedStep
	if reached == "" {
		err = <-answer
		p.Kill()
	} else {
		p.Kill()
		err = <-answer
	}
	if (err == nil) != (reached == "") {
		s.t.Errorf("killed before %s: the answer was %v", reached, err)
	}
	s.note(user, err, isWhole != d.isRevert)
	return reached
}

func (s *scene) ban(conn *grpc.ClientConn, user uid.ID) error {
	_, err := moderatov1.NewModerationServiceClient(conn).BanUser(s.owner,
		&moderatov1.BanUserRequest{ChannelId: servertest.Owner.String(), BanUserId: user.String()})
	return err
}

func (s *scene) banAsBatch(conn *grpc.ClientConn, user uid.ID) error {
	_, err := moderatov1.NewModerationServiceClient(conn).BanUsers(s.owner, &moderatov1.BanUsersRequest{
		ChannelId: servertest.Owner.String(), Users: []*moderatov1.BatchTarget{{UserId: user.String()}},
	})
	return err
}

// revert reverts the ban of a user, which is the owner's latest.
func (s *scene) revert(conn *grpc.ClientConn, user uid.ID) error {
	row, err := s.db.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserID(user)).Only(context.Background())
	if err != nil {
		return err
	}
	_, err = moderatov1.NewModerationServiceClient(conn).RevertModerator(s.owner, &moderatov1.RevertModeratorRequest{
		ChannelId: servertest.Owner.String(), ModeratorId: servertest.Owner.String(), Since: row.BannedAt.Proto(),
	})
	return err
}

// note checks that a ban exists if and only if it was acknowledged or committed, and not
// reverted.
func (s *scene) note(user uid.ID, err error, holds bool) {
	s.t.Helper()
	if s.isBanned(user) != holds {
		s.t.Errorf("banned is %t, want %t; the answer was %v", !holds, holds, err)
	}
	if holds {
		s.banned = append(s.banned, user)
	}
}

func (s *scene) isBanned(user uid.ID) bool {
	s.t.Helper()
	is, err := s.db.Read.Ban.Query().Where(ban.ChannelID(servertest.Owner), ban.UserID(user)).Exist(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return is
}

// killWhileSending kills the process when the receiver has a request and has not
// responded.
func (s *scene) killWhileSending() {
	s.t.Helper()
	p := serveUpTo(s.t, s.url, storetest.Halt{})
	conn := p.Dial(s.t)
	has, dead := make(chan struct{}), make(chan struct{})
	s.box.onNextArrival(func() { close(has); <-dead })
	user := s.newUser()
	s.note(user, s.ban(conn, user), true)
	select {
	case <-has:
	case <-time.After(patience):
		s.t.Error("nothing was sent")
	}
	p.Kill()
	close(dead)
}

// takeOver has another server take over after the claims of the dead server have expired, and
// checks that all listeners receive all events.
func (s *scene) takeOver(what string) {
	s.t.Helper()
	for _, statement := range []string{"UPDATE webhooks SET next_at = 0 WHERE is_claimed", "UPDATE event_sequencers SET expires_at = 0"} {
		if _, err := s.db.DB().Exec(statement); err != nil {
			s.t.Fatal(err)
		}
	}
	live := s.start()
	s.takes++
	defer live.Stop(s.t)
	defer s.recorder.listen(s.backend, live.Conn)()
	_, err := moderatov1.NewChannelsServiceClient(live.Conn).UpdateInfo(live.As(s.t, servertest.Other).Context(),
		&moderatov1.UpdateInfoRequest{Title: fmt.Sprint("Take ", s.takes), Lang: "en"})
	if err != nil {
		s.t.Fatal(err)
	}
	var count int64
	if err := store.QueryRow(context.Background(), s.db.Read, "SELECT COUNT(*) FROM events", nil, &count); err != nil {
		s.t.Fatal(err)
	}
	waitUntil(s.t, what+": received", s.recorder.moved, s.recorder.reached, count)
	waitUntil(s.t, what+": arrived", s.box.moved, s.box.reached, count)
	s.waitUntilIdle()
	s.checkRules(what)
}

// waitUntilIdle waits until the webhook has nothing to send, so that its next turn is for
// the next event.
func (s *scene) waitUntilIdle() {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		var busy int
		if err := store.QueryRow(context.Background(), s.db.Read, "SELECT COUNT(*) FROM webhooks WHERE next_at IS NOT NULL", nil, &busy); err != nil {
			s.t.Fatal(err)
		}
		if busy == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the webhook does not get idle")
		}
	}
}

func (s *scene) checkRules(what string) {
	s.t.Helper()
	err := fsck.Run(context.Background(), s.db, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) {
		s.t.Errorf("%s: %s", what, f)
	})
	if err != nil {
		s.t.Error(err)
	}
}

// check checks the final state: the acknowledged bans exist, and the positions in the
// database are those that were received, each assigned once and none missing.
func (s *scene) check() {
	s.t.Helper()
	for _, user := range s.banned {
		if !s.isBanned(user) {
			s.t.Errorf("the ban of %s is gone", user)
		}
	}
	err := store.QueryEach(context.Background(), s.db.Read, "SELECT id, position FROM events", nil, func(scan func(...any) error) error {
		var id uid.ID
		var position int64
		err := scan(&id, &position)
		if s.recorder.ids[id.String()] != position {
			s.t.Errorf("event %s has position %d, and was received at %d", id, position, s.recorder.ids[id.String()])
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	if got := process.Run(s.t, nil, "", "fsck", process.DBFlag(s.url)); got.Code != 0 {
		s.t.Errorf("fsck: %s%s", got.Out, got.Err)
	}
}
