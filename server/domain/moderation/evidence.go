package moderation

import (
	"context"
	"encoding/json"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
)

// evidenceSize is how many messages of a user the log keeps with a ban or mute.
const evidenceSize = 10

// evidenceMessage is a message as the column evidence of an event has it.
type evidenceMessage struct {
	MessageID uid.ID          `json:"messageId"`
	Text      string          `json:"text"`
	SentAt    instant.Instant `json:"sentAt"` // in milliseconds
}

// readEvidence returns the latest messages of users, also deleted ones, as the events of their bans
// or mutes keep them; nothing for users without messages. It must be called before the
// messages are deleted.
func readEvidence(ctx context.Context, c *change.Change, ids ...uid.ID) (map[uid.ID]string, error) {
	latest, err := chat.Latest(ctx, c.Tx, c.Store.Dialect, c.ChannelID, ids, evidenceSize)
	if err != nil {
		return nil, err
	}
	evidence := make(map[uid.ID]string, len(latest))
	for from, messages := range latest {
		if evidence[from], err = encodeEvidence(messages); err != nil {
			return nil, err
		}
	}
	return evidence, nil
}

// readEvidenceWith is readEvidence of one user, after messages of the user that were refused.
func readEvidenceWith(ctx context.Context, c *change.Change, id uid.ID, refused []chat.Message) (string, error) {
	latest, err := chat.Latest(ctx, c.Tx, c.Store.Dialect, c.ChannelID, []uid.ID{id}, evidenceSize-len(refused))
	if err != nil {
		return "", err
	}
	return encodeEvidence(slices.Concat(refused, latest[id]))
}

// encodeEvidence returns messages as an event keeps them; nothing for none.
func encodeEvidence(messages []chat.Message) (string, error) {
	if len(messages) == 0 {
		return "", nil
	}
	kept := make([]evidenceMessage, len(messages))
	for i, m := range messages {
		kept[i] = evidenceMessage{m.ID, m.Text, m.SentAt}
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// parseEvidence reads the column evidence of an event; an empty text has no messages.
func parseEvidence(text string) ([]*moderatov1.EvidenceMessage, error) {
	if text == "" {
		return nil, nil
	}
	var kept []evidenceMessage
	err := json.Unmarshal([]byte(text), &kept)
	messages := make([]*moderatov1.EvidenceMessage, len(kept))
	for i, m := range kept {
		messages[i] = &moderatov1.EvidenceMessage{MessageId: m.MessageID.String(), Text: m.Text, SentAt: m.SentAt.Proto()}
	}
	return messages, err
}
