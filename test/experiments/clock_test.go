package experiments_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// TestClocks moves the clock of the database by an hour, forwards and backwards, relative to
// the clocks of the servers. The order of events, bans, mutes and tokens follow the
// database's clock alone. After each jump, the server that gives events their order is
// killed: another one takes over as usual.
//
// The database runs with libfaketime. The clock of a Go process cannot be moved in this way,
// but only the difference between the clocks can matter.
func TestClocks(t *testing.T) {
	t.Parallel()
	clock := newClock(t)
	s := clockSite(t, clock)
	subscribers := subscribe(t, s)
	l := startLoad(t, s, 100)
	for range scaled(1, 5) {
		for _, jump := range []time.Duration{time.Hour, 0, -time.Hour, 0} {
			l.untilAcknowledged(10)
			clock.set(jump)
			s.killSequencer()
			l.untilAcknowledged(10)
		}
	}
	ended := s.checkEnds(clock)
	l.end()
	s.check(l, subscribers)
	for _, user := range ended {
		if n := s.endEvents(user); n != 1 {
			t.Errorf("after the load, %d events say that the mute or ban of a user ended, want 1", n)
		}
	}
}

func clockSite(t *testing.T, clock *clock) *site {
	t.Helper()
	db := startInstance(t, testdb.MariaDB, clock.env()...)
	url, err := store.ParseURL(db.URL() + "moderato")
	if err != nil {
		t.Fatal(err)
	}
	createDatabase(t, url)
	return newSite(t, url, options{servers: 2, channels: 20})
}

// killSequencer kills the server that gives events their order, and starts it again when
// another one has taken over.
func (s *site) killSequencer() {
	s.t.Helper()
	var holder *node
	if !eventually(patience, func() bool { holder = s.sequencer(nil); return holder != nil }) {
		s.t.Fatal("no server gives events their order")
	}
	for i, n := range s.servers {
		if n != holder {
			continue
		}
		n.Kill()
		began := time.Now()
		if !eventually(within(leaseTime), func() bool { return s.sequencer(n) != nil }) {
			s.t.Error("no server took over from a sequencer that was killed after the clock had moved")
		}
		s.t.Logf("another server took over after %s", time.Since(began).Round(time.Millisecond))
		s.restart(i)
	}
}

// checkEnds checks that a mute, a timed ban and a token end by the clock of the database. It
// returns the users whose mute and ban have ended.
func (s *site) checkEnds(clock *clock) []uid.ID {
	s.t.Helper()
	owner, half := s.channels[0], 30*time.Minute
	users := servertest.AddUsers(s.t, s.store, 3)
	muted, banned, forever := users[0], users[1], users[2]
	for _, c := range []struct {
		path, field string
		user        uid.ID
		more        string
	}{
		{"mute", "mutedUserId", muted, `,"durationSeconds":1800`},
		{"ban", "banUserId", banned, `,"durationSeconds":1800`},
		{"ban", "banUserId", forever, ""},
	} {
		body := fmt.Sprintf(`{"channelId":%q,%q:%q%s}`, owner, c.field, c.user, c.more)
		if status, text, _ := s.request(owner, http.MethodPost, "/v1/moderation/"+c.path, body); status != http.StatusOK {
			s.t.Fatalf("%s: %d %s", c.path, status, text)
		}
	}
	short := s.token(authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: owner, Scopes: authn.Scopes(), Lifetime: half})
	e := &ends{site: s, channel: owner, muted: muted, banned: banned, forever: forever, short: short, long: s.owners[owner]}
	active := limits{Short: http.StatusOK, Long: http.StatusOK}
	e.want("half an hour before the end", active)
	clock.set(-time.Hour)
	e.wantStill("after the clock was set back", active)
	clock.set(time.Hour)
	e.want("half an hour after the end", limits{
		MutedPosts: true, BannedPosts: true, Short: http.StatusUnauthorized, Long: http.StatusOK, MuteEnds: 1, BanEnds: 1,
	})
	return []uid.ID{muted, banned}
}

// ends holds a muted and a banned user and a token that end after half an hour, and those that
// do not end within the experiment.
type ends struct {
	*site

	channel, muted, banned, forever uid.ID
	short, long                     servertest.Credentials
}

// limits is what holds for them.
type limits struct {
	MutedPosts, BannedPosts, ForeverPosts bool // whether the user may post
	Short, Long                           int  // the status of a request with the token
	MuteEnds, BanEnds                     int  // events
}

func (e *ends) now() limits {
	e.t.Helper()
	return limits{
		e.canPost(e.channel, e.muted), e.canPost(e.channel, e.banned), e.canPost(e.channel, e.forever),
		e.statusWith(e.short), e.statusWith(e.long), e.endEvents(e.muted), e.endEvents(e.banned),
	}
}

// want waits until the limits are these. What has no end must hold all the time.
func (e *ends) want(when string, want limits) {
	e.t.Helper()
	var got limits
	isReached := func() bool {
		got = e.now()
		if got.ForeverPosts || got.Long != http.StatusOK {
			e.t.Errorf("%s: a ban without an end or the token of a day does not hold: %+v", when, got)
			return true
		}
		return got == want
	}
	if !eventually(patience, isReached) {
		e.t.Errorf("%s: got %+v, want %+v", when, got, want)
	}
}

// wantStill checks that the limits are these for longer than a server remembers a token.
func (e *ends) wantStill(when string, want limits) {
	e.t.Helper()
	const lasts = 2500 * time.Millisecond
	for began := time.Now(); time.Since(began) < lasts; time.Sleep(50 * time.Millisecond) {
		if got := e.now(); got != want {
			e.t.Errorf("%s, after %s: got %+v, want %+v", when, time.Since(began).Round(time.Millisecond), got, want)
			return
		}
	}
}

// canPost reports whether a user may post, as a chat server asks.
func (s *site) canPost(channel, user uid.ID) bool {
	s.t.Helper()
	r, err := s.standing(channel, user)
	s.must(err)
	return r.GetCanPost()
}

// statusWith returns the status of a request with a token.
func (s *site) statusWith(c servertest.Credentials) int {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.REST+"/v1/tokens/self", http.NoBody)
	s.must(err)
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	response, err := http.DefaultClient.Do(r)
	s.must(err)
	_ = response.Body.Close()
	return response.StatusCode
}

// endEvents returns how many events say that a user's mute or ban ended.
func (s *site) endEvents(user uid.ID) (n int) {
	s.t.Helper()
	s.must(s.eachRow("SELECT COUNT(*) FROM events WHERE target_id = ? AND type IN ('channel.mute.expire', 'channel.unban')", []any{user},
		func(scan func(...any) error) error { return scan(&n) }))
	return n
}

// clock is the clock of a database that runs with libfaketime.
type clock struct {
	t             *testing.T
	library, file string
}

func newClock(t *testing.T) *clock {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if len(found) == 0 {
		err := &skipError{"libfaketime is missing; make test installs it"}
		if testdb.IsRequired() {
			t.Fatal(err)
		}
		storetest.Announce(err)
		t.Skip(err)
	}
	c := &clock{t, found[0], filepath.Join(t.TempDir(), "offset")}
	c.set(0)
	return c
}

// env returns the environment that makes a process use the clock. Waiting is not affected.
func (c *clock) env() []string {
	return []string{"LD_PRELOAD=" + c.library, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

// set moves the clock to an offset from the true time.
func (c *clock) set(offset time.Duration) {
	c.t.Helper()
	if err := os.WriteFile(c.file+".new", fmt.Appendf(nil, "%+d", int(offset.Seconds())), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(c.file+".new", c.file); err != nil {
		c.t.Fatal(err)
	}
}
