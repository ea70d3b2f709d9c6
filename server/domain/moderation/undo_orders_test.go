package moderation_test

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/erasure"
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

// actions are what happens to some chatters, in the servers and in the model.
var actions = map[string]func(o *orders, some []*chatter){
	"post": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			o.posts++
			text := fmt.Sprintf("%05d", o.posts)
			d := o.next()
			r, err := moderatov1.NewChatServiceClient(d.Conn).PostMessage(d.chat.Context(), &moderatov1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), SenderId: c.id.String(), Message: text,
			})
			if (err == nil) == (c.banned != nil || c.muted != nil) {
				o.t.Errorf("banned: %t, muted: %t; the post returns %v", c.banned != nil, c.muted != nil, err)
			}
			if err == nil {
				c.texts[text], c.ids[text] = nil, r.GetMessageId()
			}
		}
	},
	"delete": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			visible := c.visible()
			if len(visible) == 0 {
				continue
			}
			d, text := o.next(), visible[len(visible)-1]
			_, err := moderatov1.NewChatServiceClient(d.Conn).DeleteMessage(d.creds[servertest.Owner].Context(),
				&moderatov1.DeleteMessageRequest{ChannelId: servertest.Owner.String(), MessageId: c.ids[text]})
			wantReason(o.t, err, "OK")
			delete(c.texts, text)
		}
	},
	"ban":        func(o *orders, some []*chatter) { o.ban(servertest.Owner, some) },
	"rogue ban":  func(o *orders, some []*chatter) { o.ban(servertest.Moderator, some) },
	"mute":       func(o *orders, some []*chatter) { o.mute(servertest.Owner, some) },
	"rogue mute": func(o *orders, some []*chatter) { o.mute(servertest.Moderator, some) },
	"unban": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			want := "NOT_BANNED"
			if c.banned != nil {
				want = "OK"
			}
			wantReason(o.t, o.next().unban(servertest.Owner, c.id), want)
			c.end(c.banned)
			c.banned = nil
		}
	},
	"unmute": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			want := "NOT_MUTED"
			if c.muted != nil {
				want = "OK"
			}
			wantReason(o.t, o.next().unmute(servertest.Owner, c.id), want)
			c.end(c.muted)
			c.muted = nil
		}
	},
	"clear": func(o *orders, _ []*chatter) {
		d := o.next()
		_, err := moderatov1.NewChatServiceClient(d.Conn).ClearChat(d.creds[servertest.Owner].Context(),
			&moderatov1.ClearChatRequest{ChannelId: servertest.Owner.String()})
		wantReason(o.t, err, "OK")
		for _, c := range o.chatters {
			c.forget()
		}
	},
	"batch":       func(o *orders, some []*chatter) { o.batch(servertest.Owner, some) },
	"rogue batch": func(o *orders, some []*chatter) { o.batch(servertest.Moderator, some) },
	"undo": func(o *orders, some []*chatter) {
		// The undo of a batch is about all its users.
		batches := map[string]bool{}
		for _, c := range some {
			batches[c.batch] = true
		}
		for batch := range batches {
			if batch == "" {
				continue
			}
			r := o.next().undo(batch, true)
			for _, row := range r.GetResults() {
				at := slices.IndexFunc(o.chatters, func(c *chatter) bool { return c.id.String() == row.GetUserId() })
				c := o.chatters[at]
				if c.isErased {
					o.t.Errorf("the undo returns %s for a user who is erased", row.GetStatus())
					continue
				}
				want := "NOT_BANNED"
				switch {
				case c.banned != nil && c.batch == batch:
					want = "UNBANNED"
				case c.banned != nil:
					want = "CHANGED"
				}
				if row.GetStatus() != want {
					o.t.Errorf("the undo returns %s, want %s", row.GetStatus(), want)
				}
				if want != "UNBANNED" {
					continue
				}
				c.restore(c.banned)
				c.banned = nil
			}
		}
	},
	"revert": func(o *orders, _ []*chatter) { o.revert() },
	"erase": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			d := o.next()
			_, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: c.id.String()})
			wantReason(o.t, err, "OK")
			c.isErased, c.banned, c.muted = true, nil, nil
		}
	},
	"purge": func(o *orders, _ []*chatter) {
		for _, d := range o.servers {
			d.Store.Clock.Advance(3 * time.Minute)
		}
		for _, d := range o.servers {
			drain(o.t, d.Store)
			if err := erasure.NewEraser(d.Store, slog.New(slog.DiscardHandler), domains.Tables()).Erase(o.t.Context()); err != nil {
				o.t.Error(err)
			}
		}
		for _, c := range o.chatters {
			if c.isErased {
				c.forget()
			}
		}
	},
}

// present returns those of some chatters who are not erased.
func present(some []*chatter) []*chatter {
	return slices.DeleteFunc(slices.Clone(some), func(c *chatter) bool { return c.isErased })
}

func (o *orders) ban(as uid.ID, some []*chatter) {
	o.t.Helper()
	for _, c := range present(some) {
		o.next().mustBan(as, c.id)
		if c.banned == nil {
			c.banned, c.batch = c.delete(as, ""), ""
		}
	}
}

func (o *orders) mute(as uid.ID, some []*chatter) {
	o.t.Helper()
	for _, c := range present(some) {
		d := o.next()
		_, err := d.Moderation.MuteUser(d.creds[as].Context(), &moderatov1.MuteUserRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: c.id.String(), DurationSeconds: new(int64(1209600)),
		})
		if c.muted != nil {
			wantReason(o.t, err, "MUTE_ACTIVE")
			continue
		}
		wantReason(o.t, err, "OK")
		c.muted = c.delete(as, "")
	}
}

func (o *orders) batch(as uid.ID, some []*chatter) {
	o.t.Helper()
	some = present(some)
	if len(some) == 0 {
		return
	}
	r := o.next().banAll(as, idsOf(some)...)
	for i, c := range some {
		want := "BANNED"
		if c.banned != nil {
			want = "ALREADY_BANNED"
		}
		if got := r.GetResults()[i].GetStatus(); got != want {
			o.t.Errorf("the batch returns %s, want %s", got, want)
		}
		if c.banned == nil {
			c.banned, c.batch = c.delete(as, r.GetBatchId()), r.GetBatchId()
		}
	}
}

// revert reverts what the Moderator did.
func (o *orders) revert() {
	o.t.Helper()
	r := o.next().revert(servertest.Moderator, 0, false)
	var want, got []string
	for _, row := range r.GetResults() {
		got = append(got, row.GetUserId()+" "+row.GetStatus())
	}
	for _, c := range o.chatters {
		if c.banned != nil && c.banned.by == servertest.Moderator {
			want = append(want, c.id.String()+" UNBANNED")
			c.restore(c.banned)
			c.banned = nil
		}
		if c.muted != nil && c.muted.by == servertest.Moderator {
			want = append(want, c.id.String()+" UNMUTED")
			c.restore(c.muted)
			c.muted = nil
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		o.t.Errorf("the revert (-want +got):\n%s", diff)
	}
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
