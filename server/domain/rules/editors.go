package rules

import (
	"context"
	"fmt"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/store"
)

// PassRules makes the owner the editor of the present rules whose editor is a user who has lost the
// right to the channel of a change. What the rules do is done by their editor.
func PassRules(ctx context.Context, c *change.Change, userID uid.ID) error {
	_, err := c.Tx.ExecContext(ctx, "UPDATE chat_rules SET editor_id = channel_id WHERE editor_id = ? AND channel_id = ? AND until_version IS NULL", userID, c.ChannelID)
	if err != nil {
		return fmt.Errorf("pass rules of a chat to the owner: %w", err)
	}
	return nil
}

// passRulesOf is PassRules for a deleted user, in all channels. It also removes the user from rules
// that no longer are those of a channel.
func passRulesOf(ctx context.Context, s *store.Store, tx *ent.Tx, userID uid.ID) (int, error) {
	return tables.Exec(ctx, tx, "UPDATE chat_rules SET editor_id = channel_id"+s.Some("chat_rules", "editor_id = ? AND channel_id <> ?", tables.EraseBatch), userID, userID)
}
