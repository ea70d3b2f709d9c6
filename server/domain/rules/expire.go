package rules

import (
	"context"

	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/tables"
)

// ofChannelWithRules is ofExistingChannel for rules.
const ofChannelWithRules = "EXISTS (SELECT 1 FROM channels c WHERE c.id = chat_rules.channel_id)"

// The rules that fsck checks of present rules.
var (
	expiredAreDeleted = tables.Check{
		Name: "rules that have expired are deleted",
		Query: `SELECT ` + tables.Hex("rule_id") + `, CONCAT('is a rule that expired at ', expires_at) FROM chat_rules
			WHERE expires_at < ? AND ` + ofChannelWithRules,
		Args: tables.AMinuteAgo,
	}
	// The row of the settings has the version, and enabled rules in a form that posts read. No text
	// of a rule has a quotation mark as it stands here.
	postsSeeRules = tables.Check{
		Name: "posts see the present rules",
		Query: `SELECT ` + tables.Hex("r.rule_id") + `, CONCAT('is a rule of the version ', r.since_version, ', which posts do not see')
			FROM chat_rules r LEFT JOIN chat_settings s ON s.channel_id = r.channel_id
			WHERE r.until_version IS NULL AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.id = r.channel_id)
				AND (s.channel_id IS NULL OR r.since_version > s.rules_version OR r.rule LIKE '%"enabled":true%'
					AND (NOT s.has_checks OR s.settings NOT LIKE CONCAT('%"rules":{"version":', s.rules_version, ',%')))`,
	}
)

// DeleteRules handles every channel with rules that have expired. Whether a rule applies never
// depends on it.
func (e *Expirer) DeleteRules(ctx context.Context) error {
	return e.eachLapsed(ctx, "chat_rules", "expires_at", ofChannelWithRules, func(ctx context.Context, c *change.Change) error {
		_, err := readPresent(ctx, c) // deletes them
		return err
	})
}
