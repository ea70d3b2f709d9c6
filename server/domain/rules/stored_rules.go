package rules

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
)

// storedRule is a rule of a channel.
type storedRule struct {
	id     uid.ID
	rule   *moderatov1.ChatRule // with its id
	editor uid.ID
}

// readRules reads the present rules of a channel, in their order.
func readRules(ctx context.Context, q store.Queryer, channelID uid.ID) ([]storedRule, error) {
	return scanRules(ctx, q, selectRules+"until_version IS NULL", channelID)
}

// readRulesAt reads the rules that a channel had in a version, in their order.
func readRulesAt(ctx context.Context, q store.Queryer, channelID uid.ID, version int64) ([]storedRule, error) {
	// Two ranges of the index, which begin at the version. No database reads the earlier rows.
	return scanRules(ctx, q, selectRules+"until_version IS NULL AND since_version <= ? UNION ALL "+selectRules+"until_version > ? AND since_version <= ?",
		channelID, version, channelID, version, version)
}

const selectRules = "SELECT rule_id, rule, editor_id FROM chat_rules WHERE channel_id = ? AND "

func scanRules(ctx context.Context, q store.Queryer, query string, args ...any) (all []storedRule, err error) {
	err = store.QueryEach(ctx, q, query, args, func(scan func(...any) error) error {
		r, text := storedRule{rule: &moderatov1.ChatRule{}}, ""
		if err := scan(&r.id, &text, &r.editor); err != nil {
			return err
		}
		if err := jsonapi.Unmarshal([]byte(text), r.rule, jsonapi.Options{}); err != nil {
			return fmt.Errorf("read the rule %s: %w", r.id, err)
		}
		r.rule.RuleId = r.id.String()
		all = append(all, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the rules of a chat: %w", err)
	}
	inOrder(all)
	return all, nil
}

// encodeRule returns a rule as it is stored: as JSON, without its id.
func encodeRule(r *moderatov1.ChatRule) string {
	r = proto.CloneOf(r)
	r.RuleId = ""
	return string(jsonapi.Marshal(r))
}

// protos returns rules as the contract has them.
func protos(all []storedRule) []*moderatov1.ChatRule {
	rules := make([]*moderatov1.ChatRule, len(all))
	for i, r := range all {
		rules[i] = r.rule
	}
	return rules
}

// presetRules reads the rules that the preset of a channel's shield has at an instant, and their version.
func presetRules(ctx context.Context, q store.Queryer, channelID uid.ID, now instant.Instant) (rules []*moderatov1.ChatRule, version int64, err error) {
	preset := &moderatov1.ShieldPreset{}
	err = store.QueryEach(ctx, q, "SELECT preset, preset_version FROM shields WHERE channel_id = ?", []any{channelID}, func(scan func(...any) error) error {
		text := ""
		if err := scan(&text, &version); err != nil {
			return err
		}
		return jsonapi.Unmarshal([]byte(text), preset, jsonapi.Options{})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the preset of a shield: %w", err)
	}
	return unexpired(preset.GetRules(), now), version, nil
}

// unexpired returns those rules of a preset that it has at an instant. The next change of the preset
// removes the others.
func unexpired(rules []*moderatov1.ChatRule, now instant.Instant) []*moderatov1.ChatRule {
	return slices.DeleteFunc(rules, func(r *moderatov1.ChatRule) bool { return isExpired(r, now) })
}
