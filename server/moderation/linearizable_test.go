package moderation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

const (
	// historiesVariable is the environment variable with the number of histories; by
	// default there are fewHistories.
	historiesVariable = "MODERATO_TEST_HISTORIES"
	fewHistories      = 12

	clientsOfHistory = 8
	stepsOfClient    = 8
	usersOfHistory   = 2

	overloaded = "OVERLOADED" // nothing was changed
)

// TestHistoriesAreLinearizable has clients of two servers ban, mute, batch, undo, post and
// read the same users at the same time. In some histories COMMITs are lost. Every history
// must be one that a single server could have produced that makes one change after the
// other.
func TestHistoriesAreLinearizable(t *testing.T) {
	n := fewHistories
	if text := os.Getenv(historiesVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", historiesVariable, err)
		}
	}
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		first := servertest.Start(t, config)
		first.Load(t, servertest.World()...)
		a := newDrive(t, first)
		b := &drive{Server: servertest.Start(t, servertest.Config(url)), t: t, creds: a.creds, chat: a.chat}
		users := addUsers(t, a.Server, n*usersOfHistory)
		for i := range n {
			h := &history{drives: []*drive{a, b}, users: users[i*usersOfHistory : (i+1)*usersOfHistory], start: time.Now()}
			if i%3 == 2 {
				cutter.CutNext("server/change.apply", storetest.BeforeCommit, storetest.Nowhere, storetest.AfterCommit, storetest.Nowhere, storetest.LateCommit)
			}
			operations := h.run(t)
			cutter.CutNext("")
			result, info := porcupine.CheckOperationsVerbose(historyModel, operations, time.Minute)
			if result == porcupine.Ok {
				continue
			}
			path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("history-%d.html", i))
			if err := porcupine.VisualizePath(historyModel, info, path); err != nil {
				t.Error(err)
			}
			t.Errorf("history %d is not linearizable (%s): see %s, with -artifacts", i, result, path)
		}
	})
}

// history is the work of several clients with the same few users.
type history struct {
	drives []*drive
	users  []uid.ID
	start  time.Time

	mu         sync.Mutex
	operations []porcupine.Operation
	batches    []string
}

// step is the input of an operation.
type step struct {
	kind  string
	user  int    // index into history.users
	batch string // the id of the batch to undo
}

// result is the output of an operation.
type result struct {
	reason string
	text   string // what the response says
}

func (h *history) run(t *testing.T) []porcupine.Operation {
	t.Helper()
	var all sync.WaitGroup
	for client := range clientsOfHistory {
		d := h.drives[client%len(h.drives)]
		all.Go(func() {
			for range stepsOfClient {
				h.do(t, d, client)
			}
		})
	}
	all.Wait()
	return h.operations
}

func (h *history) do(t *testing.T, d *drive, client int) {
	t.Helper()
	in := h.choose()
	called := time.Since(h.start)
	out := h.perform(d, in)
	ended := time.Since(h.start)
	if !slices.Contains([]string{"OK", "NOT_BANNED", "MUTE_ACTIVE", "NOT_MUTED", "USER_BANNED", "USER_MUTED", overloaded}, out.reason) {
		t.Errorf("%s: %s", in.kind, out.reason)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: called.Nanoseconds(), Return: ended.Nanoseconds(),
	})
}

func (h *history) choose() step {
	kinds := []string{"ban", "ban", "unban", "unban", "mute", "unmute", "post", "post", "standing", "messages", "batch", "undo"}
	s := step{kind: kinds[rand.IntN(len(kinds))], user: rand.IntN(len(h.users))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.kind == "undo" {
		if len(h.batches) == 0 {
			s.kind = "batch"
			return s
		}
		s.batch = h.batches[rand.IntN(len(h.batches))]
	}
	return s
}

// perform makes the call of a step.
func (h *history) perform(d *drive, s step) result {
	user, channel := h.users[s.user], servertest.Owner.String()
	ctx := d.creds[servertest.Owner].Context()
	switch s.kind {
	case "ban":
		_, err := d.ban(servertest.Owner, user)
		return result{reason: reason(err)}
	case "unban":
		return result{reason: reason(d.unban(servertest.Moderator, user))}
	case "mute":
		_, err := d.mute(servertest.Moderator, user)
		return result{reason: reason(err)}
	case "unmute":
		_, err := d.Moderation.RemoveMute(ctx, &moderatov1.RemoveMuteRequest{ChannelId: channel, MutedUserId: user.String()})
		return result{reason: reason(err)}
	case "post":
		r, err := d.Chat.PostMessage(d.chat.Context(), &platformv1.PostMessageRequest{ChannelId: channel, UserId: user.String(), Text: "hello"})
		return result{reason(err), r.GetMessage().GetId()}
	case "standing":
		r, err := d.Chat.GetStanding(d.chat.Context(), &platformv1.GetStandingRequest{ChannelId: channel, UserId: user.String()})
		return result{reason(err), fmt.Sprint(r.GetIsBanned(), r.GetMuteExpiresAt() != nil)}
	case "messages":
		return h.messages(d)
	case "batch":
		return h.batch(ctx, d)
	}
	r, err := d.Moderation.UndoBanBatch(ctx, &moderatov1.UndoBanBatchRequest{ChannelId: channel, BatchId: s.batch, RestoreMessages: true})
	return result{reason(err), statuses(r.GetResults())}
}

// messages returns the ids of the visible messages of the history's users.
func (h *history) messages(d *drive) result {
	limit := int32(100)
	r, err := d.Chat.ListMessages(d.chat.Context(), &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String(), Limit: &limit})
	var ids []string
	for _, m := range r.GetMessages() {
		if slices.ContainsFunc(h.users, func(u uid.ID) bool { return u.String() == m.GetUserId() }) {
			ids = append(ids, m.GetId())
		}
	}
	return result{reason(err), set(ids...)}
}

// batch bans all users of the history.
func (h *history) batch(ctx context.Context, d *drive) result {
	req := &moderatov1.BanUsersRequest{ChannelId: servertest.Owner.String()}
	for _, u := range h.users {
		req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: u.String()})
	}
	r, err := d.Moderation.BanUsers(ctx, req)
	if id := r.GetBatchId(); id != "" {
		h.mu.Lock()
		h.batches = append(h.batches, id)
		h.mu.Unlock()
	}
	return result{reason(err), r.GetBatchId() + " " + statuses(r.GetResults())}
}

// statuses joins the statuses of users.
func statuses(results []*moderatov1.BatchResult) string {
	var all []string
	for _, r := range results {
		all = append(all, r.GetStatus())
	}
	return strings.Join(all, " ")
}

// set returns a text that is the same for equal sets.
func set(ids ...string) string {
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// person is the state of a user in the model.
type person struct {
	isBanned, isMuted bool
	batch             string // the batch whose ban is in force
	visible           string // the set of messages
	hidden            string // the set of messages that undoing the batch restores
}

// clear hides the messages of a person, for good.
func (p *person) clear() { p.visible, p.hidden = "", "" }

// world is the state of the model.
type world struct {
	people  [usersOfHistory]person
	batches string // the batches, each with the users whom it banned
}

var historyModel = porcupine.Model{
	Init: func() any { return world{} },
	Step: func(state, input, output any) (bool, any) {
		next, ok := state.(world).after(input.(step), output.(result))
		return ok, next
	},
	DescribeOperation: func(input, output any) string {
		s, r := input.(step), output.(result)
		return fmt.Sprintf("%s %d %.8s: %s %s", s.kind, s.user, s.batch, r.reason, r.text)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
}

// after returns the state after a step, if the step can have this result.
func (w world) after(s step, r result) (world, bool) {
	if r.reason == overloaded {
		return w, true
	}
	p := &w.people[s.user]
	ok := r.reason == "OK"
	switch s.kind {
	case "ban":
		if !p.isBanned {
			p.isBanned, p.batch = true, ""
			p.clear()
		}
	case "unban":
		ok = (r.reason == "OK") == p.isBanned
		p.isBanned = false
	case "mute":
		ok = (r.reason == "OK") == !p.isMuted
		if !p.isMuted {
			p.isMuted = true
			p.clear()
		}
	case "unmute":
		ok = (r.reason == "OK") == p.isMuted
		p.isMuted = false
	case "post":
		switch {
		case p.isBanned:
			ok = r.reason == "USER_BANNED"
		case p.isMuted:
			ok = r.reason == "USER_MUTED"
		}
		if ok && r.text != "" {
			p.visible = set(append(strings.Fields(p.visible), r.text)...)
		}
	case "standing":
		ok = ok && r.text == fmt.Sprint(p.isBanned, p.isMuted)
	case "messages":
		var all []string
		for _, p := range w.people {
			all = append(all, strings.Fields(p.visible)...)
		}
		ok = ok && r.text == set(all...)
	case "batch":
		ok = ok && w.batch(r.text)
	case "undo":
		ok = ok && w.undo(s.batch, r.text)
	}
	return w, ok
}

// batch bans everybody, and reports whether that can have the result.
func (w *world) batch(text string) bool {
	id, _, _ := strings.Cut(text, " ")
	want, banned := []string{}, ""
	for i := range w.people {
		p := &w.people[i]
		if p.isBanned {
			want = append(want, "ALREADY_BANNED")
			continue
		}
		want = append(want, "BANNED")
		p.isBanned, p.batch, p.hidden, p.visible = true, id, p.visible, ""
		banned += strconv.Itoa(i)
	}
	w.batches = set(append(strings.Fields(w.batches), id+":"+banned)...)
	return text == id+" "+strings.Join(want, " ")
}

// undo undoes a batch, and reports whether that can have the result.
func (w *world) undo(id, text string) bool {
	want := []string{}
	for _, b := range strings.Fields(w.batches) {
		of, banned, _ := strings.Cut(b, ":")
		if of != id {
			continue
		}
		for _, digit := range banned {
			p := &w.people[digit-'0']
			switch {
			case !p.isBanned:
				want = append(want, "NOT_BANNED")
			case p.batch != id:
				want = append(want, "CHANGED")
			default:
				want = append(want, "UNBANNED")
				p.isBanned, p.visible, p.hidden = false, p.hidden, ""
			}
		}
	}
	return text == strings.Join(want, " ")
}
