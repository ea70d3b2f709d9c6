package rules

import (
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules/match"
)

// compiled are the rules of a channel in the form in which they check posts.
type compiled struct {
	version chat.RulesVersion
	set     *match.Set
	rules   []rule // as set numbers them
	// hasMemory is true if a rule is about repetition.
	hasMemory bool

	mu sync.Mutex // guards the memories of rules
	// seededAt is the time of the latest stored message that the memories have: messages of other
	// servers that count are later. It does not change once posts use the rules.
	seededAt instant.Instant
}

// rule is an enabled rule of a channel, or of its shield. What it matches is in the set.
type rule struct {
	id, editor uid.ID
	ofShield   bool

	name, action, message string
	muteTime              time.Duration
	expiresAt             *instant.Instant // nil if it stays
	exemptRoles           []string
	exemptFollowTime      *time.Duration // nil if follows do not matter

	sameSender, senders int
	within              time.Duration // 0 unless it is about repetition
	memory              *match.Repeats
}

// severity orders the actions.
var severity = map[string]int{"flag": 0, "delete": 1, "hold": 2, "block": 3, "mute": 4}

// compileRules compiles the enabled ones of the rules of a channel and of its shield.
func compileRules(version chat.RulesVersion, channelID uid.ID, own []storedRule, ofShield []*moderatov1.ChatRule) (*compiled, error) {
	c := &compiled{version: version}
	var enabled []*moderatov1.ChatRule
	add := func(r *moderatov1.ChatRule, editor uid.ID, ofShield bool) error {
		if !r.GetEnabled() {
			return nil
		}
		id, err := uid.Parse(r.GetRuleId())
		if err != nil && r.GetRuleId() != "" { // a preview has rules without ids
			return fmt.Errorf("read the rule %q: %w", r.GetRuleId(), err)
		}
		enabled = append(enabled, r)
		c.rules = append(c.rules, newRule(r, id, editor, ofShield))
		return nil
	}
	for _, r := range own {
		if err := add(r.rule, r.editor, false); err != nil {
			return nil, err
		}
	}
	for _, r := range ofShield { // which only the owner changes
		if err := add(r, channelID, true); err != nil {
			return nil, err
		}
	}
	var err error
	if c.set, err = match.Compile(matchRules(enabled)); err != nil {
		return nil, fmt.Errorf("compile the rules of a chat: %w", err)
	}
	c.remember()
	return c, nil
}

func newRule(r *moderatov1.ChatRule, id, editor uid.ID, ofShield bool) rule {
	result := rule{
		id: id, editor: editor, ofShield: ofShield,
		name: r.GetName(), action: r.GetAction(), message: r.GetMessage(), exemptRoles: slices.Clone(r.GetExemptRoles()),
		muteTime:   time.Duration(r.GetMuteSeconds()) * time.Second,
		sameSender: int(r.GetSameSender()), senders: int(r.GetSenders()), within: time.Duration(r.GetWithinSeconds()) * time.Second,
	}
	if r.GetExpiresAt() != nil {
		result.expiresAt = new(instant.OfProto(r.GetExpiresAt()))
	}
	if r.ExemptFollowersOlderThanSeconds != nil {
		result.exemptFollowTime = new(time.Duration(r.GetExemptFollowersOlderThanSeconds()) * time.Second)
	}
	return result
}

// isIn reports whether the rule is in force at an instant, at which the shield may be up.
func (r *rule) isIn(now instant.Instant, isShieldUp bool) bool {
	return (r.expiresAt == nil || now < *r.expiresAt) && (!r.ofShield || isShieldUp)
}

// applies reports whether the rule is in force for a sender whose standing was read.
func (r *rule) applies(st *chat.Standing) bool {
	return r.isIn(st.Now, st.Settings.ShieldActive) && !r.exempts(st)
}

// exempts reports whether the rule does not apply to a sender.
func (r *rule) exempts(st *chat.Standing) bool {
	if r.exemptFollowTime != nil && st.FollowedAt != nil && st.Now >= st.FollowedAt.Add(*r.exemptFollowTime) {
		return true
	}
	return hasRole(st, r.exemptRoles)
}

// size returns about how many bytes of memory the rules have. The caller holds mu.
func (c *compiled) size() int {
	n := int(unsafe.Sizeof(*c)) + c.set.Size()
	for i := range c.rules {
		r := &c.rules[i]
		n += int(unsafe.Sizeof(*r)) + len(r.name) + len(r.message)
		if r.memory != nil {
			n += r.memory.Size()
		}
	}
	return n
}
