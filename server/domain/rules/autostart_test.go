package rules_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/changequeue"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// count stores what a server counted in a channel, in the interval of an instant.
func (r *room) count(channel uid.ID, at instant.Instant, n buckets.Counts) {
	r.t.Helper()
	err := r.Store.Write(r.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		return tx.ChannelMetric.Create().SetID(uid.New()).SetChannelID(channel).SetSeconds(5).SetStartedAt(at - at%5000).
			SetMessages(n.Messages).SetFirstMessages(n.FirstMessages).SetFollows(n.Follows).SetBans(0).SetMutes(0).SetHeld(n.Held).Exec(ctx)
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// look looks once for shields to raise, and reports whether that of the owner is up.
func (r *room) look() bool {
	r.t.Helper()
	if err := (&rules.Expirer{Store: r.Store}).RaiseShields(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return r.getShield().Data.Active
}

// TestShieldIsRaisedByItself reaches each of the numbers, with the counts of two servers.
func TestShieldIsRaisedByItself(t *testing.T) {
	for number, counts := range map[string]buckets.Counts{
		"followsPerMinute":       {Follows: 50},
		"firstMessagesPerMinute": {Messages: 60, FirstMessages: 50},
		"heldPerMinute":          {Held: 50},
	} {
		t.Run(number, func(t *testing.T) {
			each(t, func(r *room, now instant.Instant) {
				r.preset(fmt.Sprintf(`"settings":{"subscribersOnly":true},"autoStart":{%q:100}`, number))
				r.count(servertest.Owner, now.Add(-61*time.Second), buckets.Counts{Follows: 100, FirstMessages: 100, Held: 100}) // too old
				r.count(servertest.Owner, now.Add(-30*time.Second), counts)
				r.count(servertest.Owner, now, buckets.Counts{Messages: 1000, FirstMessages: 49, Follows: 49, Held: 49})
				r.count(servertest.Other, now, buckets.Counts{Follows: 100, FirstMessages: 100, Held: 100})
				if r.look() {
					t.Error("the shield is up before the number is reached")
				}
				r.count(servertest.Owner, now, buckets.Counts{Follows: 1, FirstMessages: 1, Held: 1})
				for range 2 { // the second look finds it up
					if !r.look() {
						t.Fatal("the shield is down")
					}
				}
				d := r.getShield().Data
				if d.StartedBy != nil || *d.Cause != "automatic" || d.EndsAt != now.Add(15*time.Minute).String() {
					t.Errorf("got %+v", d)
				}
				r.want("a viewer", r.post(servertest.Viewer, "one"), "subscribers", new(now.Add(15*time.Minute)))
				r.wantShieldEvents("shield.preset settings,autoStart", "shield.begin automatic by itself", "chat.settings shield by itself")
			})
		})
	}
}

// TestLoweredShieldRests lowers a shield that was raised by itself, while its number is reached.
func TestLoweredShieldRests(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.preset(`"settings":{},"autoStart":{"followsPerMinute":10}`)
		reach := func(after time.Duration) bool {
			r.Store.Clock.Freeze(now.Add(after))
			r.count(servertest.Owner, now.Add(after), buckets.Counts{Follows: 10})
			return r.look()
		}
		if !reach(0) {
			t.Fatal("the shield is down")
		}
		r.raise(`"active":false`)
		if r.look() || reach(15*time.Minute-1) {
			t.Error("the shield is raised again at once")
		}
		if !reach(15 * time.Minute) {
			t.Error("the shield is down after its rest")
		}
		r.Store.Clock.Freeze(now.Add(30 * time.Minute))
		if err := (&rules.Expirer{Store: r.Store}).EndSettings(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !reach(30*time.Minute) || r.getShield().Data.StartedAt != now.Add(30*time.Minute).String() {
			t.Error("the shield is not raised again after its end")
		}
	})
}

// TestShieldsOfDeletedChannels has counts and a preset of a channel that no longer exists.
func TestShieldsOfDeletedChannels(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.preset(`"settings":{},"autoStart":{"followsPerMinute":10}`)
		gone := uid.New()
		row := storetest.Must(r.Store.Read.Shield.Get(t.Context(), servertest.Owner))
		err := r.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Shield.Create().SetID(gone).SetPreset(row.Preset).SetStartsItself(true).SetNillableFollowsPerMinute(row.FollowsPerMinute).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.count(gone, now, buckets.Counts{Follows: 10})
		r.look()
		if got := storetest.Must(r.Store.Read.Shield.Get(t.Context(), gone)); got.EndsAt != nil {
			t.Errorf("got %+v", got)
		}
	})
}

// TestLookForShieldsReadsByIndex explains the look, with more channels than it may read.
func TestLookForShieldsReadsByIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		recorder := &storetest.Recorder{}
		config := servertest.Config(url)
		config.DBLayer = recorder.Layer()
		r := open(t, config)
		r.preset(`"settings":{},"autoStart":{"followsPerMinute":10}`)
		r.count(servertest.Owner, r.freeze(), buckets.Counts{Follows: 1})
		r.look()
		for _, q := range recorder.Sent() {
			if !strings.HasPrefix(q.Text, "SELECT s.channel_id FROM shields") {
				continue
			}
			plan := storetest.Explain(t, r.Store, q)
			if !strings.Contains(plan, "shield_starts_itself_channel_id") || !strings.Contains(plan, "channelmetric_channel_id_seconds_started_at") {
				t.Errorf("the plan is %s", plan)
			}
			return
		}
		t.Error("no look was recorded")
	})
}

// TestOneServerLooksForShields has two servers run: one of them looks for shields to raise.
func TestOneServerLooksForShields(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		var both [2]*storetest.Recorder
		for i := range both {
			both[i] = &storetest.Recorder{}
			config := servertest.Config(url)
			config.DBLayer = both[i].Layer()
			servertest.Start(t, config)
		}
		looks := func(r *storetest.Recorder) (all, forShields int) {
			for _, q := range r.Sent() {
				if strings.HasPrefix(q.Text, "SELECT EXISTS (") {
					all++
				}
				if strings.Contains(q.Text, "FROM shields") {
					forShields++
				}
			}
			return all, forShields
		}
		const enough = 10 // of which a look for shields would be one
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			firstLooks, first := looks(both[0])
			secondLooks, second := looks(both[1])
			switch {
			case first > 0 && second > 0:
				t.Fatal("both servers look for shields")
			case first+second > 0 && firstLooks >= enough && secondLooks >= enough:
				return
			case time.Now().After(deadline):
				t.Fatalf("the servers made %d and %d looks, %d and %d for shields", firstLooks, secondLooks, first, second)
			}
		}
	})
}

// TestServersRaiseOneShield has two servers look at the same moment, and then end the shield.
func TestServersRaiseOneShield(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		r := open(t, servertest.Config(url))
		both := []*servertest.Server{r.Server, servertest.Start(t, servertest.Config(url))}
		atOnce := func(becomeDue func(), do func(*rules.Expirer) error) {
			var group sync.WaitGroup
			var turns []*changequeue.Turn
			for _, s := range both {
				turns = append(turns, storetest.Must(s.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner)))
			}
			becomeDue()
			for _, s := range slices.Concat(both, both) {
				group.Go(func() {
					if err := do(&rules.Expirer{Store: s.Store}); err != nil {
						t.Error(err)
					}
				})
			}
			deadline := time.Now().Add(servertest.Slack)
			for _, s := range both { // until all have found the shield, and wait for their turn
				for regexp.MustCompile("moderato_changes_waiting [01]\n").MatchString(s.Metrics(t)) && time.Now().Before(deadline) {
					time.Sleep(time.Millisecond)
				}
			}
			for _, turn := range turns {
				turn.End()
			}
			group.Wait()
		}
		r.preset(`"settings":{},"autoStart":{"followsPerMinute":10}`)
		atOnce(func() {
			r.count(servertest.Owner, storetest.Must(r.Store.Clock.Now(t.Context(), r.Store.Read)), buckets.Counts{Follows: 10})
		}, func(e *rules.Expirer) error { return e.RaiseShields(t.Context()) })
		r.preset(`"settings":{}`) // or a server whose clock is not advanced yet raises it again
		atOnce(func() {
			for _, s := range both {
				s.Store.Clock.Advance(16 * time.Minute)
			}
		}, func(e *rules.Expirer) error { return e.EndSettings(t.Context()) })
		r.wantShieldEvents("shield.preset autoStart", "shield.begin automatic by itself", "shield.preset autoStart", "shield.end expired by itself")
	})
}
