package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

// compiledOf compiles rules.
func compiledOf(t *testing.T, all ...*moderatov1.ChatRule) *compiled {
	t.Helper()
	var own []storedRule
	for _, r := range all {
		r.RuleId, r.Enabled = uid.New().String(), new(true)
		own = append(own, storedRule{rule: r})
	}
	c, err := compileRules(chat.RulesVersion{Version: 1}, uid.New(), own, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompiledRulesHaveBudget puts the rules of more channels than fit, and has one of them grow.
func TestCompiledRulesHaveBudget(t *testing.T) {
	terms := func() *compiled { return compiledOf(t, &moderatov1.ChatRule{Kind: "terms", Terms: []string{"spam"}}) }
	one := terms().sizeNow()
	c := newCache(nil, nil, 4*one)
	ids := []uid.ID{uid.New(), uid.New(), uid.New(), uid.New(), uid.New()}
	for i, id := range ids {
		if i == 4 {
			c.find(ids[0]) // the least recent is ids[1]
		}
		c.put(id, terms())
	}
	kept := func() (some string) {
		for i, id := range ids {
			if c.channels.Contains(id) {
				some += fmt.Sprint(i)
			}
		}
		return some
	}
	if got := kept(); got != "0234" || c.size != 4*one {
		t.Errorf("the channels %s have %d bytes", got, c.size)
	}
	growing := compiledOf(t, &moderatov1.ChatRule{Kind: "repetition", SameSender: new(int32(2)), WithinSeconds: new(int32(60))})
	c.put(ids[4], growing)
	for i := range 100 {
		growing.repeated(fmt.Sprint(i), uid.New(), 1, func(*rule) bool { return true })
	}
	c.resize(ids[4], growing)
	if got := kept(); got != "4" {
		t.Errorf("then the channels are %s, with %d bytes", got, c.size)
	}
}

// storeRules stores a version of the rules of a channel.
func storeRules(t *testing.T, s *store.Store, channelID uid.ID, version int64, all ...*moderatov1.ChatRule) {
	t.Helper()
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		settings := string(encode(chat.StoredSettings{Rules: &chat.RulesVersion{Version: version}}))
		_, err := tx.ExecContext(ctx, "INSERT INTO chat_settings (channel_id, version, settings, rules_version, has_checks, changed_at) VALUES (?, 1, ?, ?, TRUE, 1)"+
			s.Upsert("channel_id")+"settings = ?", channelID, settings, version, settings)
		for _, r := range all {
			r.Enabled = new(true)
			if err == nil {
				err = tx.ChatRule.Create().SetID(uid.New()).SetChannelID(channelID).SetRuleID(uid.New()).SetSinceVersion(version).
					SetRule(encodeRule(r)).SetEditorID(channelID).Exec(ctx)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func repetition() *moderatov1.ChatRule {
	return &moderatov1.ChatRule{Kind: "repetition", SameSender: new(int32(2)), WithinSeconds: new(int32(60))}
}

// TestNothingIsReadInTurn compiles rules, and counts the statements of the turn.
func TestNothingIsReadInTurn(t *testing.T) {
	s, sent := storetest.OpenRecorded(t, storetest.SQLite(t))
	before, turns := 0, 0
	c := newCache(s, func(context.Context, uid.ID) (func(), error) {
		before = len(sent.Sent())
		turns++
		return func() {
			if n := len(sent.Sent()) - before; n > 0 {
				t.Errorf("%d statements are sent in the turn", n)
			}
		}, nil
	}, compiledBudget)
	channelID := uid.New()
	storeRules(t, s, channelID, 1, repetition())
	if rules, err := c.get(t.Context(), channelID, chat.RulesVersion{Version: 1}); err != nil || len(rules.rules) != 1 || turns != 1 {
		t.Errorf("got %+v in %d turns, %v", rules, turns, err)
	}
}

// TestOldPostKeepsRules has a post that read an earlier version find the rules of the present one.
func TestOldPostKeepsRules(t *testing.T) {
	s, _ := storetest.OpenRecorded(t, storetest.SQLite(t))
	turns := 0
	c := newCache(s, func(context.Context, uid.ID) (func(), error) { turns++; return func() {}, nil }, compiledBudget)
	channelID := uid.New()
	storeRules(t, s, channelID, 2, repetition())
	present := storetest.Must(c.get(t.Context(), channelID, chat.RulesVersion{Version: 2}))
	if got := storetest.Must(c.get(t.Context(), channelID, chat.RulesVersion{Version: 1})); got != present || turns != 1 {
		t.Errorf("the rules of version %d are compiled in %d turns", got.version.Version, turns)
	}
	storeRules(t, s, channelID, 1) // of a backup, say
	if got := storetest.Must(c.get(t.Context(), channelID, chat.RulesVersion{Version: 1})); got == present {
		t.Error("the rules of an earlier version are not read")
	}
}

// TestStoredRulesHaveNoLimits checks posts with stored rules that exceed the limits, as after an upgrade.
func TestStoredRulesHaveNoLimits(t *testing.T) {
	s, _ := storetest.OpenRecorded(t, storetest.SQLite(t))
	c := newCache(s, func(context.Context, uid.ID) (func(), error) { return func() {}, nil }, compiledBudget)
	channelID := uid.New()
	all := []*moderatov1.ChatRule{{Kind: "pattern", Patterns: slices.Repeat([]string{strings.Repeat("[ab]", 99)}, 9)}}
	for range match.MaxRules {
		all = append(all, repetition())
	}
	storeRules(t, s, channelID, 1, all...)
	rules, err := c.get(t.Context(), channelID, chat.RulesVersion{Version: 1})
	if err != nil || len(rules.rules) != len(all) || c.find(channelID) != rules {
		t.Errorf("got %+v, %v", rules, err)
	}
}

// TestMessagesOnTheirWayCountOnce counts a message that was stored before the rules were compiled,
// and which arrives from another server after that.
func TestMessagesOnTheirWayCountOnce(t *testing.T) {
	c := compiledOf(t, &moderatov1.ChatRule{Kind: "repetition", SameSender: new(int32(3)), WithinSeconds: new(int32(60))})
	sender, at := uid.New(), instant.Instant(1000)
	count := func() int { return len(c.repeated("gg", sender, at, func(*rule) bool { return true })) }
	count() // as stored
	c.seededAt = at
	c.countEvent(&moderatov1.ChatMessageEvent{Message: "gg", CreatedAt: at.Proto(), Sender: &moderatov1.ChatSender{Id: sender.String()}})
	if count() != 0 {
		t.Error("the message counts twice")
	}
	c.countEvent(&moderatov1.ChatMessageEvent{Message: "gg", CreatedAt: (at + 1).Proto(), Sender: &moderatov1.ChatSender{Id: sender.String(), IsModerator: true}})
	c.countEvent(&moderatov1.ChatMessageEvent{Message: "GG", CreatedAt: (at + 1).Proto(), Sender: &moderatov1.ChatSender{Id: sender.String()}})
	if count() != 1 {
		t.Error("a later message of another server does not count")
	}
}
