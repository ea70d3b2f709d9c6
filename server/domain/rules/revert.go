package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/store"
)

// RevertRules makes the rules that a moderator put or deleted since a point in time what they were
// before, in the channel of a change. It leaves out what somebody else has put since, and what the
// channel has no room for. It compiles nothing, and never fails because of a limit: the bans of the
// moderator are lifted in the same transaction.
func RevertRules(ctx context.Context, c *change.Change, moderatorID uid.ID, since instant.Instant) error {
	before, err := versionsBefore(ctx, c, moderatorID, since)
	if err != nil {
		return fmt.Errorf("find the rules that a moderator changed: %w", err)
	}
	if len(before) == 0 {
		return nil
	}
	rules, err := readPresent(ctx, c)
	if err != nil {
		return err
	}
	former, err := readFormer(ctx, c, before)
	if err != nil {
		return err
	}
	want := changedRules{}
	for id := range before {
		want[id] = nil
	}
	inOrder(former)
	for _, r := range former {
		want.putBack([]storedRule{r}, c.Now)
		if after, _, _ := rules.after(want, c.ActorID); rules.checkCounts(after) != nil {
			want[r.id] = nil
			break
		}
	}
	return rules.change(ctx, c, want, byRevert)
}

// checkCounts checks the limits of rules and of those of the shield that need no compilation.
func (s *ruleSet) checkCounts(own []storedRule) error {
	return match.CheckCounts(matchRules(slices.Concat(protos(own), s.ofShield)))
}

// versionsBefore returns the rules that a moderator changed since a point in time, each with the
// version before the first change that nobody else has replaced.
func versionsBefore(ctx context.Context, c *change.Change, moderatorID uid.ID, since instant.Instant) (map[uid.ID]int64, error) {
	var first *int64
	err := store.QueryRow(ctx, c.Tx, "SELECT MIN(version) FROM chat_rule_versions"+c.Store.ByIndex("chatruleversion_moderator_id_channel_id")+
		" WHERE moderator_id = ? AND channel_id = ? AND changed_at >= ?",
		[]any{moderatorID, c.ChannelID, since}, &first)
	if err != nil || first == nil {
		return nil, err
	}
	before := map[uid.ID]int64{}
	err = store.QueryEach(ctx, c.Tx, "SELECT version, moderator_id, changes FROM chat_rule_versions WHERE channel_id = ? AND version >= ? ORDER BY version",
		[]any{c.ChannelID, *first}, func(scan func(...any) error) error {
			var version int64
			var by *uid.ID
			var text string
			var changed ids
			if err := scan(&version, &by, &text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), &changed); err != nil {
				return err
			}
			if by == nil || *by != moderatorID {
				for _, id := range changed.Put {
					delete(before, uid.MustParse(id))
				}
				return nil
			}
			for _, id := range slices.Concat(changed.Put, changed.Deleted) {
				if id := uid.MustParse(id); before[id] == 0 {
					before[id] = version
				}
			}
			return nil
		})
	for id := range before {
		before[id]--
	}
	return before, err
}

// readFormer reads the rules of the channel of a change as each was in a version.
func readFormer(ctx context.Context, c *change.Change, versions map[uid.ID]int64) (former []storedRule, err error) {
	earliest := slices.Min(slices.Collect(maps.Values(versions)))
	var rows []uid.ID
	const columns = "SELECT id, rule_id, since_version, until_version FROM chat_rules WHERE channel_id = ? AND "
	err = store.QueryEach(ctx, c.Tx, columns+"until_version IS NULL UNION ALL "+columns+"until_version > ?", []any{c.ChannelID, c.ChannelID, earliest},
		func(scan func(...any) error) error {
			var row, id uid.ID
			var from int64
			var until *int64
			err := scan(&row, &id, &from, &until)
			if at, isNamed := versions[id]; isNamed && from <= at && (until == nil || at < *until) {
				rows = append(rows, row)
			}
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("find former rules of a chat: %w", err)
	}
	for some := range slices.Chunk(rows, rulesPerStatement) {
		read, err := scanRules(ctx, c.Tx, selectRules+"id IN ("+store.Placeholders(len(some))+")", append([]any{c.ChannelID}, store.Args(some)...)...)
		if err != nil {
			return nil, err
		}
		former = append(former, read...)
	}
	return former, nil
}
