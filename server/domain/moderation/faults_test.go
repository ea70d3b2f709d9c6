package moderation_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestConnectionLostInCommit loses the connection to the database in COMMIT, where the
// result is unknown. The caller must receive the response to its own change: not 409
// because of its own mute, nor 404 because of its own unban.
func TestConnectionLostInCommit(t *testing.T) {
	cuts := map[string][]storetest.Cut{
		"before it reached the server":                     {storetest.BeforeCommit},
		"before its answer came back":                      {storetest.AfterCommit},
		"twice before it reached the server":               {storetest.BeforeCommit, storetest.BeforeCommit},
		"first before it, then before its answer":          {storetest.BeforeCommit, storetest.AfterCommit},
		"before the answer of the retry that was not lost": {storetest.Nowhere},
	}
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		s := servertest.Start(t, servertest.Config(proxy.URL))
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		want := []string{}
		for name, cut := range cuts {
			steps := []struct {
				what   string
				do     func() error
				events []string
			}{
				{"ban", func() error { _, err := d.ban(servertest.Moderator, servertest.Raider); return err }, []string{"channel.ban", "channel.chat.clear_user_messages"}},
				{"unban", func() error { return d.unban(servertest.Moderator, servertest.Raider) }, []string{"channel.unban"}},
				{"mute", func() error { _, err := d.mute(servertest.Moderator, servertest.Raider); return err }, []string{"channel.mute", "channel.chat.clear_user_messages"}},
				{"add moderator", func() error { return d.setModerator(servertest.Viewer, true) }, []string{"channel.moderator.add"}},
				{"remove moderator", func() error { return d.setModerator(servertest.Viewer, false) }, []string{"channel.moderator.remove"}},
			}
			for _, step := range steps {
				proxy.CutNext(cut...)
				if err := step.do(); err != nil {
					t.Errorf("%s, cut %s: %v", step.what, name, err)
				}
				wantCuts := len(cut)
				if cut[0] == storetest.Nowhere {
					wantCuts = 0
				}
				if got := proxy.Made(); got != wantCuts {
					t.Errorf("%s, cut %s: %d cuts were made, want %d", step.what, name, got, wantCuts)
				}
				want = append(want, step.events...)
			}
			d.Store.Clock.Advance(10 * time.Minute) // ends the mute
			sweep(t, d)
			want = append(want, "channel.mute.expire")
		}
		d.wantEvents(want...)
	})
}

// TestDatabaseUnavailable calls a server that lost its database. The error is
// UNAVAILABLE, reveals nothing about the database, and ends when the database is back.
func TestDatabaseUnavailable(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		s := servertest.Start(t, servertest.Config(proxy.URL))
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.mustBan(servertest.Moderator, servertest.Raider)
		proxy.SetDown(true)
		for what, err := range map[string]error{
			"unban": d.unban(servertest.Moderator, servertest.Raider),
			"post":  d.post(servertest.Raider, "hello"),
		} {
			if status.Code(err) != codes.Unavailable || reason(err) != "UNAVAILABLE" {
				t.Errorf("%s: %v", what, err)
			}
			if got, want := status.Convert(err).Message(), "The service is unavailable at the moment. Try again shortly."; got != want {
				t.Errorf("%s says %q, want %q", what, got, want)
			}
		}
		if r := adminGet(t, s, "/readyz"); r.Status != 503 {
			t.Errorf("/readyz without a database: %d %s", r.Status, r.Body)
		}
		proxy.SetDown(false)
		wantReason(t, d.unban(servertest.Moderator, servertest.Raider), "OK")
		if r := adminGet(t, s, "/readyz"); r.Status != 200 {
			t.Errorf("/readyz with its database: %d %s", r.Status, r.Body)
		}
	})
}

func adminGet(t testing.TB, s *servertest.Server, path string) servertest.Response {
	t.Helper()
	r := s.Request(t, servertest.Credentials{}, "GET", "/", "")
	r.URL.Host, r.URL.Path = s.AdminAddr, path
	return s.Do(t, r)
}

func sweep(t *testing.T, d *drive) {
	t.Helper()
	if err := newExpirer(d).ExpireMutes(context.Background()); err != nil {
		t.Fatal(fmt.Errorf("sweep: %w", err))
	}
}

// TestConnectionLostInCommitOfQueuedBans bans users at the same time, so that the bans are made
// together. The COMMIT is lost before it happens, or after it happened, and so is that of each
// retry. Every ban happens once, and its caller receives its response.
func TestConnectionLostInCommitOfQueuedBans(t *testing.T) {
	const bans = 4
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		want := []string{}
		for users := range slices.Chunk(addUsers(t, s, 4*bans), bans) { // the order of the retries is random
			release := d.lockChannel(t)
			first := []storetest.Cut{storetest.BeforeCommit, storetest.AfterCommit}[len(want)/(2*bans)%2]
			cutter.CutNext("server/change.", append([]storetest.Cut{first}, slices.Repeat([]storetest.Cut{storetest.AfterCommit}, bans)...)...)
			var all sync.WaitGroup
			for i, user := range users {
				all.Go(func() {
					if _, err := d.ban(servertest.Moderator, user); err != nil {
						t.Errorf("ban %d: %v", i, err)
					}
				})
				d.waitForWaiting(t, i)
			}
			release()
			all.Wait()
			// What has happened is found by the first retry.
			if n := cutter.Made(); n == 0 || n == 1 && first == storetest.BeforeCommit {
				t.Errorf("%d cuts were made", n)
			}
			want = append(want, slices.Repeat([]string{"channel.ban", "channel.chat.clear_user_messages"}, bans)...)
		}
		d.wantEvents(want...)
	})
}
