package live

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
)

// errDamaged is the error of a batch that cannot be decoded.
var errDamaged = errors.New("the batch is damaged")

// appendMessage appends a message to the encoding of a batch: the ids of its channel and
// of the message, the length of the event, and the event.
func appendMessage(b []byte, m Message) ([]byte, error) {
	b = append(append(b, m.ChannelID[:]...), m.ID[:]...)
	b = binary.AppendUvarint(b, uint64(proto.Size(m.Event)))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, m.Event)
}

// decodeMessages decodes the messages of a batch in the channels that are wanted.
func decodeMessages(b []byte, isWanted func(uid.ID) bool) ([]Message, error) {
	var all []Message
	for len(b) > 0 {
		var m Message
		if len(b) < len(m.ChannelID)+len(m.ID) {
			return all, errDamaged
		}
		b = b[copy(m.ChannelID[:], b):]
		b = b[copy(m.ID[:], b):]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return all, errDamaged
		}
		event := b[n : n+int(size)] //nolint:gosec // at most the length of b
		b = b[n+int(size):]         //nolint:gosec // as above
		if !isWanted(m.ChannelID) {
			continue
		}
		m.Event = &moderatov1.Event{}
		if err := proto.Unmarshal(event, m.Event); err != nil {
			return all, fmt.Errorf("%w: %w", errDamaged, err)
		}
		all = append(all, m)
	}
	return all, nil
}
