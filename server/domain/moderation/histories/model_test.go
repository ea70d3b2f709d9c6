package histories_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// overloaded is the reason of a refusal that changed nothing.
const overloaded = "OVERLOADED"

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
