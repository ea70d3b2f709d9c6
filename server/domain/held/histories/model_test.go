package histories_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// maxPending is how many messages of a sender may wait.
const maxPending = 5

// step is the input of an operation.
type step struct {
	kind string
	user int    // index into history.users
	id   string // of a message
}

// result is the output of an operation.
type result struct {
	reason string
	text   string // what the response says
}

// ids is a set of ids that can be compared.
type ids string

func setOf(all ...string) ids {
	slices.Sort(all)
	return ids(strings.Join(all, " "))
}

func (s ids) all() []string          { return strings.Fields(string(s)) }
func (s ids) has(id string) bool     { return slices.Contains(s.all(), id) }
func (s ids) with(all ...string) ids { return setOf(append(s.all(), all...)...) }
func (s ids) without(id string) ids {
	return setOf(slices.DeleteFunc(s.all(), func(other string) bool { return other == id })...)
}

// person is the state of a user in the model.
type person struct {
	isBanned, isMuted, isKnown bool // isKnown: a message was approved
	visible                    ids
	pending                    ids
	ended                      ids // each with its status, such as 0b6f…:DENIED
}

// silence cancels and hides all messages of a person.
func (p *person) silence() {
	for _, id := range p.pending.all() {
		p.ended = p.ended.with(id + ":CANCELLED")
	}
	p.pending, p.visible = "", ""
}

func (p *person) mute() {
	if !p.isMuted {
		p.isMuted = true
		p.silence()
	}
}

// status returns the status of a message; empty if it is unknown.
func (p *person) status(id string) string {
	for _, e := range p.ended.all() {
		if status, isIt := strings.CutPrefix(e, id+":"); isIt {
			return status
		}
	}
	if p.pending.has(id) {
		return "PENDING"
	}
	return ""
}

func (p *person) end(id, status string) {
	p.pending, p.ended = p.pending.without(id), p.ended.with(id+":"+status)
}

// world is the state of the model.
type world struct{ people [usersOfHistory]person }

var model = porcupine.Model{
	Init: func() any { return world{} },
	Step: func(state, input, output any) (bool, any) {
		next, ok := state.(world).after(input.(step), output.(result))
		return ok, next
	},
	DescribeOperation: func(input, output any) string {
		s, r := input.(step), output.(result)
		return fmt.Sprintf("%s %d %.8s: %s %s", s.kind, s.user, s.id, r.reason, r.text)
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
			p.isBanned = true
			p.silence()
		}
	case "unban":
		ok = (r.reason == "OK") == p.isBanned
		p.isBanned = false
	case "unmute":
		ok = (r.reason == "OK") == p.isMuted
		p.isMuted = false
	case "clear":
		for i := range w.people {
			w.people[i].silence()
		}
	case "post":
		ok = p.post(s.id, r.reason)
	case "approve", "deny", "mute":
		ok = ok && r.text == p.decide(s)
	case "pending", "messages":
		var all []string
		for _, p := range w.people {
			if s.kind == "pending" {
				all = append(all, p.pending.all()...)
			} else {
				all = append(all, p.visible.all()...)
			}
		}
		ok = ok && r.text == string(setOf(all...))
	}
	return w, ok
}

// post reports whether a post can have a result, and posts or holds the message. A sender is a
// newcomer until a message is approved. Whether a message is held is decided before the
// transaction that holds it, so it may be held just after an approval.
func (p *person) post(id, reason string) bool {
	switch {
	case p.isBanned:
		return reason == "USER_BANNED"
	case p.isMuted:
		return reason == "USER_MUTED"
	case reason == "OK":
		p.visible = p.visible.with(id)
		return p.isKnown
	case reason == "MESSAGE_BLOCKED":
		return len(p.pending.all()) >= maxPending
	}
	full := len(p.pending.all()) >= maxPending
	p.pending = p.pending.with(id)
	return reason == "MESSAGE_HELD" && !full
}

// decide decides about a message, and returns the result with the status that follows.
func (p *person) decide(s step) string {
	before, canPost := p.status(s.id), !p.isBanned && !p.isMuted
	switch {
	case s.kind == "approve" && before == "PENDING" && canPost:
		p.end(s.id, "APPROVED")
		p.visible, p.isKnown = p.visible.with(s.id), true
		return "APPROVED APPROVED"
	case s.kind == "approve" && before == "CANCELLED" && !canPost:
		return "SENDER_REFUSED CANCELLED"
	case s.kind != "approve" && before == "PENDING":
		p.end(s.id, "DENIED")
		if s.kind == "mute" {
			p.mute()
		}
		return "DENIED DENIED"
	case before == "":
		return "NOT_FOUND "
	}
	return "ALREADY_DECIDED " + before
}
