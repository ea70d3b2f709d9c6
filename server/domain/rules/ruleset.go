package rules

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatrule"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
)

// The causes of changes of rules alone.
const (
	byRestore cause = "restore"
	byRevert  cause = "revert"
)

// rulesPerStatement is how many rules one statement writes: see eventsPerStatement of change.
const rulesPerStatement = 50

// ruleSet are the rules of a channel.
type ruleSet struct {
	*settings

	rules         []storedRule // in their order
	ofShield      []*moderatov1.ChatRule
	presetVersion int64

	places places // of the rules that a change puts
	// ahead is the draft of the change; nil if there is none.
	ahead *draft
}

// readRuleSet reads the rules of a channel, and those that its shield has at an instant.
func readRuleSet(ctx context.Context, q store.Queryer, channelID uid.ID, now instant.Instant) (*ruleSet, error) {
	s := &ruleSet{places: places{}}
	var err error
	if s.settings, err = readSettings(ctx, q, channelID); err != nil {
		return nil, fmt.Errorf("read the settings of a chat: %w", err)
	}
	if s.ofShield, s.presetVersion, err = presetRules(ctx, q, channelID, now); err != nil {
		return nil, err
	}
	s.rules, err = readRules(ctx, q, channelID)
	return s, err
}

// readPresent reads the rules of the channel of a change, and deletes those that have expired.
func readPresent(ctx context.Context, c *change.Change) (*ruleSet, error) {
	s, err := readRuleSet(ctx, c.Tx, c.ChannelID, c.Now)
	if err != nil {
		return nil, err
	}
	expired := changedRules{}
	for _, r := range s.rules {
		if isExpired(r.rule, c.Now) {
			expired[r.id] = nil
		}
	}
	c.ByNobody(func() { err = s.change(ctx, c, expired, byExpiry) })
	return s, err
}

// isExpired reports whether the time of a rule has come. Such a rule never matches.
func isExpired(r *moderatov1.ChatRule, now instant.Instant) bool {
	return r.GetExpiresAt() != nil && instant.OfProto(r.GetExpiresAt()) <= now
}

// changedRules are rules as they become; nil if they are deleted.
type changedRules map[uid.ID]*moderatov1.ChatRule

// ids are the ids of the rules of a version: those that it put and those that it deleted.
type ids struct {
	Put     []string `json:"put,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
}

// change changes rules, as one new version with an event, unless nothing changes. It checks the limits
// unless it is for a revert.
func (s *ruleSet) change(ctx context.Context, c *change.Change, want changedRules, why cause) error {
	after, ended, put := s.after(want, c.ActorID)
	if len(ended)+len(put) == 0 {
		return nil
	}
	s.rules = after
	if len(put) > 0 && why != byRevert {
		if err := s.ahead.check(s.version(), slices.Concat(protos(after), s.ofShield), s.places); err != nil {
			return err
		}
	}
	s.rulesVersion++
	s.identify()
	if err := s.write(ctx, c); err != nil {
		return err
	}
	if err := s.writeRows(ctx, c, ended, put); err != nil {
		return err
	}
	return s.announce(ctx, c, ended, put, why)
}

// after returns all rules as they are after a change by an editor, in their order, the ids of the
// rows that end, and the rules that begin.
func (s *ruleSet) after(want changedRules, editor uid.ID) (all []storedRule, ended []uid.ID, put []storedRule) {
	present := map[uid.ID]bool{}
	for _, r := range s.rules {
		present[r.id] = true
		rule, isNamed := want[r.id]
		switch {
		case !isNamed || proto.Equal(rule, r.rule):
			all = append(all, r)
		case rule == nil:
			ended = append(ended, r.id)
		default:
			ended, put = append(ended, r.id), append(put, storedRule{r.id, rule, editor})
		}
	}
	for id, rule := range want {
		if !present[id] && rule != nil {
			put = append(put, storedRule{id, rule, editor})
		}
	}
	inOrder(put)
	all = append(all, put...)
	inOrder(all)
	return all, ended, put
}

func inOrder(rules []storedRule) {
	slices.SortFunc(rules, func(a, b storedRule) int { return slices.Compare(a.id[:], b.id[:]) })
}

// identify tells posts of the version of the rules if there is a rule to check.
func (s *ruleSet) identify() {
	s.Rules = nil
	if len(s.ofShield) > 0 || slices.ContainsFunc(s.rules, func(r storedRule) bool { return r.rule.GetEnabled() }) {
		s.Rules = new(s.version())
	}
}

func (s *ruleSet) version() chat.RulesVersion {
	return chat.RulesVersion{Version: s.rulesVersion, Preset: s.presetVersion}
}

// writeRows ends and inserts rows of rules.
func (s *ruleSet) writeRows(ctx context.Context, c *change.Change, ended []uid.ID, put []storedRule) error {
	if len(ended) > 0 {
		err := c.Tx.ChatRule.Update().Where(chatrule.ChannelID(c.ChannelID), chatrule.UntilVersionIsNil(), chatrule.RuleIDIn(ended...)).
			SetUntilVersion(s.rulesVersion).SetEndedAt(c.Now).ClearExpiresAt().Exec(ctx)
		if err != nil {
			return fmt.Errorf("end rules of a chat: %w", err)
		}
	}
	for some := range slices.Chunk(put, rulesPerStatement) {
		var rows []*ent.ChatRuleCreate
		for _, r := range some {
			row := c.Tx.ChatRule.Create().SetID(uid.New()).SetChannelID(c.ChannelID).SetRuleID(r.id).
				SetSinceVersion(s.rulesVersion).SetRule(encodeRule(r.rule)).SetEditorID(r.editor)
			if at := r.rule.GetExpiresAt(); at != nil {
				row.SetExpiresAt(instant.OfProto(at))
			}
			rows = append(rows, row)
		}
		if err := c.Tx.ChatRule.CreateBulk(rows...).Exec(ctx); err != nil {
			return fmt.Errorf("store rules of a chat: %w", err)
		}
	}
	return nil
}

// announce stores the version that a change made, and emits its event.
func (s *ruleSet) announce(ctx context.Context, c *change.Change, ended []uid.ID, put []storedRule, why cause) error {
	e := &moderatov1.ChatRulesEvent{ChannelId: c.ChannelID.String(), ModeratorId: c.ModeratorID(), ClientId: c.ClientID, Version: s.rulesVersion, Cause: string(why)}
	for _, r := range put {
		e.Put = append(e.Put, r.id.String())
	}
	for _, id := range ended {
		if !slices.ContainsFunc(put, func(r storedRule) bool { return r.id == id }) {
			e.Deleted = append(e.Deleted, id.String())
		}
	}
	row := c.Tx.ChatRuleVersion.Create().SetID(uid.New()).SetChannelID(c.ChannelID).SetVersion(s.rulesVersion).
		SetClientID(c.ClientID).SetCause(string(why)).SetChangedAt(c.Now).SetChanges(string(encode(ids{e.GetPut(), e.GetDeleted()})))
	if !c.ActorID.IsZero() {
		row.SetModeratorID(c.ActorID)
	}
	if err := row.Exec(ctx); err != nil {
		return fmt.Errorf("store the version of the rules of a chat: %w", err)
	}
	c.Emit("channel.chat.rules", uid.ID{}, e)
	return nil
}
