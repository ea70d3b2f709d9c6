package cli_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

const (
	writeInterval = 10 * time.Millisecond // 100 writes a second
	writeTimeout  = 20 * time.Second
	burstSize     = 80
	burstTime     = 30 * time.Millisecond
)

// loadChannels is the number of channels. It is large enough that few writes wait for
// another write of their channel.
const loadChannels = 10

// write is a ban or mute of a user, and what became of it. No user gets a second one.
type write struct {
	user    uid.ID
	channel uid.ID
	isMute  bool
	sentAt  time.Time

	at           time.Time // of the response
	acknowledged bool
	err          error
}

// failoverLoad writes through several servers, and keeps a journal.
type failoverLoad struct {
	moderation []moderatov1.ModerationServiceClient
	chat       []platformv1.ChatServiceClient
	service    context.Context
	users      []uid.ID
	channels   []uid.ID
	owners     []context.Context // of the channels

	mu      sync.Mutex
	journal []*write
	stale   []string // reads that lacked an acknowledged write
	reads   int
	calls   sync.WaitGroup
}

func newFailoverLoad(t *testing.T, db *store.Store, servers []*process.Server, users int) *failoverLoad {
	t.Helper()
	l := &failoverLoad{users: servertest.AddUsers(t, db, users), channels: servertest.AddChannels(t, db, loadChannels)}
	for _, id := range l.channels {
		l.owners = append(l.owners, contextOf(t, db, authn.NewToken{
			Kind: authn.User, ClientID: servertest.Dashboard, UserID: id, Scopes: authn.Scopes(),
		}))
	}
	l.service = contextOf(t, db, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
	for _, p := range servers {
		conn := p.Dial(t)
		l.moderation = append(l.moderation, moderatov1.NewModerationServiceClient(conn))
		l.chat = append(l.chat, platformv1.NewChatServiceClient(conn))
	}
	return l
}

// contextOf returns the context of calls with a new token.
func contextOf(t *testing.T, db *store.Store, token authn.NewToken) context.Context {
	t.Helper()
	issued, err := authn.Issue(t.Context(), db, token)
	if err != nil {
		t.Fatal(err)
	}
	return metadata.AppendToOutgoingContext(context.Background(), authn.AuthorizationKey, "Bearer "+issued.Text, authn.ClientIDKey, token.ClientID)
}

// run writes 100 times a second until ctx ends, and waits for the responses.
func (l *failoverLoad) run(ctx context.Context) {
	tick := time.NewTicker(writeInterval)
	defer tick.Stop()
	for ctx.Err() == nil && l.send() {
		<-tick.C
	}
	l.calls.Wait()
}

// send sends the next write. It returns false when no user is left.
func (l *failoverLoad) send() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.journal)
	if i == len(l.users) {
		return false
	}
	w := &write{user: l.users[i], channel: l.channels[i/4%loadChannels], isMute: i%2 == 1, sentAt: time.Now()}
	l.journal = append(l.journal, w)
	l.calls.Go(func() { l.call(w, i) })
	return true
}

// burst sends many writes at once, so that a fault soon after finds some in their COMMIT.
func (l *failoverLoad) burst() {
	for range burstSize {
		l.send()
	}
	time.Sleep(burstTime)
}

// serverOf returns the server of a write: each kind of write goes through each server.
func (l *failoverLoad) serverOf(i int) int { return i / 2 % len(l.moderation) }

func (l *failoverLoad) call(w *write, i int) {
	ctx, cancel := context.WithTimeout(l.owners[i/4%loadChannels], writeTimeout)
	defer cancel()
	var err error
	at := l.serverOf(i)
	if w.isMute {
		_, err = l.moderation[at].MuteUser(ctx, &moderatov1.MuteUserRequest{
			ChannelId: w.channel.String(), MutedUserId: w.user.String(), DurationSeconds: new(int64(1_000_000)),
		})
	} else {
		_, err = l.moderation[at].BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: w.channel.String(), BanUserId: w.user.String()})
	}
	l.mu.Lock()
	w.at, w.err, w.acknowledged = time.Now(), err, err == nil
	l.mu.Unlock()
	if err == nil {
		l.readBack(w, (at+1)%len(l.chat))
	}
}

// readBack asks another server for what was just acknowledged.
func (l *failoverLoad) readBack(w *write, at int) {
	ctx, cancel := context.WithTimeout(l.service, writeTimeout)
	defer cancel()
	standing, err := l.chat[at].GetStanding(ctx, &platformv1.GetStandingRequest{ChannelId: w.channel.String(), UserId: w.user.String()})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if seen := standing.GetIsBanned(); !w.isMute && !seen || w.isMute && standing.GetMuteExpiresAt() == nil {
		l.stale = append(l.stale, fmt.Sprintf("%s, acknowledged at %s", w.user, w.at.Format(time.StampMilli)))
	}
}

// resumedAfter waits until each server has acknowledged a write that was sent after a fault,
// and returns how long after the fault the last server did so.
func (l *failoverLoad) resumedAfter(t *testing.T, fault time.Time, limit time.Duration) time.Duration {
	t.Helper()
	for deadline := fault.Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if d, ok := l.resumed(fault); ok {
			return d
		}
	}
	t.Fatalf("no write is acknowledged %v after the fault; the last ones: %v", limit, l.lastErrors())
	return 0
}

func (l *failoverLoad) resumed(fault time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := make([]time.Time, len(l.moderation))
	for i, w := range l.journal {
		at := &first[l.serverOf(i)]
		if w.acknowledged && w.sentAt.After(fault) && (at.IsZero() || w.at.Before(*at)) {
			*at = w.at
		}
	}
	last := slices.MaxFunc(first, time.Time.Compare)
	return last.Sub(fault), !slices.ContainsFunc(first, time.Time.IsZero)
}

func (l *failoverLoad) lastErrors() (errs []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range slices.Backward(l.journal) {
		if w.err != nil && len(errs) < 3 {
			errs = append(errs, w.err)
		}
	}
	return errs
}

// check compares the database with the journal. It runs after the load.
func (l *failoverLoad) check(t *testing.T, db *store.Store) {
	t.Helper()
	banned, muted := rowsOf(t, db, "SELECT user_id FROM bans"), rowsOf(t, db, "SELECT user_id FROM mutes")
	events := map[string]map[uid.ID]int{
		"channel.ban":  rowsOf(t, db, "SELECT target_id FROM events WHERE type = 'channel.ban'"),
		"channel.mute": rowsOf(t, db, "SELECT target_id FROM events WHERE type = 'channel.mute'"),
	}
	acknowledged, lost, partial, refused, unchanged, unknown := 0, 0, 0, 0, 0, 0
	for _, w := range l.journal {
		kind, rows := "channel.ban", banned
		if w.isMute {
			kind, rows = "channel.mute", muted
		}
		has, emitted := rows[w.user], events[kind][w.user]
		switch {
		case w.acknowledged:
			if acknowledged++; has != 1 {
				lost++
				t.Errorf("%s of %s was acknowledged at %s, and is lost", kind, w.user, w.at.Format(time.StampMilli))
			}
		case strings.Contains(w.err.Error(), "Nothing was changed"):
			if unchanged++; has != 0 {
				t.Errorf("%s of %s was refused with %v, and happened", kind, w.user, w.err)
			}
		case isUnsure(w.err):
			unknown++
		default:
			// Each user is banned or muted once, so that nothing can stand against it.
			refused++
			t.Errorf("%s of %s was refused: %v", kind, w.user, w.err)
		}
		if has != emitted {
			partial++
			t.Errorf("%s of %s: %d rows and %d events", kind, w.user, has, emitted)
		}
	}
	for _, s := range l.stale {
		t.Errorf("a read through another server lacked the sanction of %s", s)
	}
	t.Logf("%d writes: %d acknowledged, %d lost, %d partial, %d refused, %d OVERLOADED, %d without a known outcome; %d reads, %d stale",
		len(l.journal), acknowledged, lost, partial, refused, unchanged, unknown, l.reads, len(l.stale))
	if acknowledged == 0 || l.reads == 0 {
		t.Error("nothing was acknowledged, so that nothing was tested")
	}
}

// isUnsure reports whether a call with this error may have happened or not.
func isUnsure(err error) bool {
	return slices.Contains([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.ResourceExhausted}, grpcstatus.Code(err))
}

// rowsOf returns how often each user is in the result of a query.
func rowsOf(t *testing.T, db *store.Store, query string) map[uid.ID]int {
	t.Helper()
	users := map[uid.ID]int{}
	err := store.QueryEach(t.Context(), db.Read, query, nil, func(scan func(...any) error) error {
		var user uid.ID
		defer func() { users[user]++ }()
		return scan(&user)
	})
	if err != nil {
		t.Fatal(err)
	}
	return users
}
