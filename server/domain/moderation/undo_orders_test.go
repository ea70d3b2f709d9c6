package moderation_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// orders drives chatters through two servers.
type orders struct {
	t        *testing.T
	servers  [2]*drive
	chatters []*chatter
	turn     int
	posts    int
}

func newOrders(t *testing.T, url store.URL) *orders {
	t.Helper()
	o := &orders{t: t}
	for i := range o.servers {
		s := servertest.Start(t, servertest.Config(url))
		if i == 0 {
			s.Load(t, servertest.World()...)
		}
		o.servers[i] = newDrive(t, s)
	}
	return o
}

func (o *orders) newChatters(n int) []*chatter {
	o.t.Helper()
	var added []*chatter
	for _, id := range servertest.AddUsers(o.t, o.servers[0].Store, n) {
		added = append(added, &chatter{id: id, texts: map[string][]*deed{}, ids: map[string]string{}})
	}
	o.chatters = append(o.chatters, added...)
	return added
}

// next returns the server for the next call.
func (o *orders) next() *drive {
	o.turn++
	return o.servers[o.turn%2]
}

// drain removes the rows of hidden messages for which it is time.
func drain(t *testing.T, s *store.Store) {
	t.Helper()
	users, channels := chat.Purger{Store: s}, chat.ChannelPurger{Store: s}
	for more := true; more; {
		a, err := users.Purge(t.Context())
		b, failed := channels.Purge(t.Context())
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		more = a || b
	}
}

func idsOf(some []*chatter) []uid.ID {
	ids := make([]uid.ID, len(some))
	for i, c := range some {
		ids[i] = c.id
	}
	return ids
}

// check compares the visible messages with the model. Those that were visible when their user
// was deleted may be there until the eraser has run.
func (o *orders) check(what any) {
	o.t.Helper()
	want, leaving := []string{}, []string{}
	for _, c := range o.chatters {
		if c.isErased {
			leaving = append(leaving, c.visible()...)
		} else {
			want = append(want, c.visible()...)
		}
	}
	got := slices.DeleteFunc(o.next().visible(), func(text string) bool { return slices.Contains(leaving, text) })
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		o.t.Fatalf("%v: visible messages (-want +got):\n%s", what, diff)
	}
}

// banAll bans users as a batch.
func (d *drive) banAll(as uid.ID, users ...uid.ID) *moderatov1.BanUsersResponse {
	d.t.Helper()
	req := &moderatov1.BanUsersRequest{ChannelId: servertest.Owner.String()}
	for _, id := range users {
		req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id.String()})
	}
	r, err := d.Moderation.BanUsers(d.creds[as].Context(), req)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// undo undoes a batch.
func (d *drive) undo(batch string, restore bool) *moderatov1.UndoBanBatchResponse {
	d.t.Helper()
	r, err := d.Moderation.UndoBanBatch(d.creds[servertest.Owner].Context(), &moderatov1.UndoBanBatchRequest{
		ChannelId: servertest.Owner.String(), BatchId: batch, RestoreMessages: restore,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// steps returns the names of the actions, and a function that runs some for a new chatter.
func (o *orders) steps() (names []string, run func(steps ...string)) {
	return slices.Sorted(maps.Keys(actions)), func(steps ...string) {
		o.t.Helper()
		c := o.newChatters(1)
		for i, step := range steps {
			actions[step](o, c)
			o.check(steps[:i+1])
		}
		actions["clear"](o, nil)
		actions["revert"](o, nil)
		o.chatters = nil // a finished user's messages would slow the others down
	}
}

// TestUndoRestoresOnlyWhatTheBatchDeleted runs every pair of actions between a batch and its
// undo, through two servers, and compares the visible messages with a model. The stores share
// the pairs.
func TestUndoRestoresOnlyWhatTheBatchDeleted(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		names, run := newOrders(t, url).steps()
		names = slices.DeleteFunc(names, func(name string) bool { return name == "revert" || strings.HasPrefix(name, "rogue") })
		for _, first := range names {
			if !storetest.Takes(t, url, first) {
				continue
			}
			for _, second := range names {
				run("post", "post", "batch", first, second, "undo", "post", "purge")
			}
			// A purge of an earlier deletion is due when the batch comes.
			run("mute", "unmute", "post", "batch", first, "purge", "undo", "purge")
			run("post", "post", "delete", "batch", "purge", first, "undo", "purge")
			run("post", "batch", "undo", "batch", first, "undo", "purge", "ban")
		}
	})
}

// TestRevertRestoresOnlyWhatTheModeratorDeleted is the same for the bans and mutes of a
// moderator. All pairs take long, so a run takes a third of them, with each action in each
// place; TestUndoInRandomOrders runs others. SQLite runs the pairs, and the stores share the
// other orders.
func TestRevertRestoresOnlyWhatTheModeratorDeleted(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		o := newOrders(t, url)
		names, run := o.steps()
		pairs := names
		if !storetest.IsSQLite(o.servers[0].Store) {
			pairs = nil
		}
		for i, first := range names {
			for j, second := range pairs {
				if (i+j)%3 != 0 {
					continue
				}
				run("post", "post", "rogue ban", first, second, "revert", "post", "purge")
				run("post", "post", "rogue mute", first, second, "revert", "undo", "purge")
			}
			if !storetest.Takes(t, url, first) {
				continue
			}
			// A purge of an earlier deletion is due after them.
			run("post", "post", "delete", "rogue mute", first, "rogue ban", "purge", "revert")
			run("post", "rogue batch", first, "revert", "purge", "post", "revert")
			run("post", "mute", "rogue ban", "unmute", first, "revert", "purge")
			run("post", "rogue mute", "batch", "revert", first, "undo", "purge")
			run("post", "batch", "rogue mute", first, "undo", "purge", "revert", "purge")
			run("post", "rogue ban", "rogue mute", "revert", first, "revert", "purge", "post")
		}
	})
}

// TestUndoInRandomOrders has many users go through random actions.
func TestUndoInRandomOrders(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		o := newOrders(t, url)
		o.newChatters(12)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		often := []string{
			"post", "post", "post", "batch", "batch", "undo", "undo", "ban", "unban", "mute", "unmute", "delete",
			"rogue batch", "rogue ban", "rogue mute", "revert",
		}
		for round := range 60 {
			step := often[random.IntN(len(often))]
			switch random.IntN(12) {
			case 0:
				step = "clear"
			case 1, 2:
				step = "purge"
			}
			o.newChatters(12 - len(present(o.chatters)))
			some := slices.Clone(o.chatters)
			random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			actions[step](o, some[:1+random.IntN(len(some))])
			if random.IntN(12) == 0 {
				actions["erase"](o, some[:1])
			}
			o.check(fmt.Sprintf("round %d, %s", round, step))
		}
	})
}
