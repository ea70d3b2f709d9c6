package held

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// The statuses of a message.
const (
	pending   = "PENDING"
	approved  = "APPROVED"
	denied    = "DENIED"
	expired   = "EXPIRED"
	cancelled = "CANCELLED"
)

// encodeDetails returns the column details of a message: a HeldMessage with the facts, the spans, the
// rules, and as its message what the sender is told.
func encodeDetails(st *chat.Standing, why Reason) string {
	text, _ := protojson.Marshal(&moderatov1.HeldMessage{Facts: factsOf(st), Spans: why.Spans, Rules: uid.Texts(why.Rules), Message: why.Message}) // never fails
	return string(text)
}

// decodeDetails reads the column details of a message.
func decodeDetails(id, text string) (*moderatov1.HeldMessage, error) {
	read := &moderatov1.HeldMessage{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(text), read); err != nil {
		return nil, fmt.Errorf("read the details of held message %s: %w", id, err)
	}
	return read, nil
}

// addDetails adds the column details to a message.
func addDetails(m *moderatov1.HeldMessage, text string) error {
	read, err := decodeDetails(m.GetMessageId(), text)
	if err == nil {
		m.Facts, m.Spans, m.Rules = read.GetFacts(), read.GetSpans(), read.GetRules()
	}
	return err
}

// refusalOf returns the error for a post of a message that waits.
func refusalOf(row *ent.HeldMessage) error {
	details, err := decodeDetails(row.ID.String(), row.Details)
	if err != nil {
		return err
	}
	return apierr.MessageHeld(row.ID, row.ExpiresAt, details.GetMessage())
}

// factsOf returns what is known about the sender of a message.
func factsOf(st *chat.Standing) *moderatov1.SenderFacts {
	facts := &moderatov1.SenderFacts{Roles: st.Roles(), IsSubscriber: st.IsSubscriber}
	if st.FollowedAt != nil {
		facts.FollowedAt = st.FollowedAt.Proto()
	}
	if st.AccountCreatedAt != nil {
		facts.AccountCreatedAt = st.AccountCreatedAt.Proto()
	}
	return facts
}

// messageOf returns the message that is posted when a held one is approved.
func messageOf(row *ent.HeldMessage) chat.Message {
	return chat.Message{ID: row.ID, ChannelID: row.ChannelID, UserID: row.UserID, Text: row.Text, ReplyTo: row.ReplyToMessageID, IsBot: row.IsBot}
}
