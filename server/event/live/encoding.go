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

// numbered is the first byte of a batch of messages with numbers. No batch of messages alone
// begins with it: the first byte of an id is a part of a time.
const numbered = 0xff

// appendNumbered appends a message with its number to the encoding of a batch of numbered
// messages, which begins with the server.
func appendNumbered(b []byte, server uid.ID, m posted) ([]byte, error) {
	if len(b) == 0 {
		b = append(append(b, numbered), server[:]...)
	}
	b = binary.AppendUvarint(b, m.first)
	b = binary.AppendUvarint(b, m.value)
	return appendMessage(b, m.Message)
}

// decodeMessages decodes the messages of a batch in the channels that are wanted. Of those with
// numbers, it decodes those that isNext accepts.
func decodeMessages(b []byte, isWanted func(uid.ID) bool, isNext func(server, channelID uid.ID, n number) bool) ([]Message, error) {
	var all []Message
	var server uid.ID
	isNumbered := len(b) > len(server) && b[0] == numbered
	if isNumbered {
		b = b[1+copy(server[:], b[1:]):]
	}
	for len(b) > 0 {
		var n number
		if isNumbered {
			var err error
			if n, b, err = cutNumber(b); err != nil {
				return all, err
			}
		}
		m, event, rest, err := cutMessage(b)
		if err != nil {
			return all, err
		}
		b = rest
		if !isWanted(m.ChannelID) || isNumbered && !isNext(server, m.ChannelID, n) {
			continue
		}
		m.Event, m.isForeign = &moderatov1.Event{}, true
		if err := proto.Unmarshal(event, m.Event); err != nil {
			return all, fmt.Errorf("%w: %w", errDamaged, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// cutMessage returns the first message of a batch without its event, the event, and the rest.
func cutMessage(b []byte) (m Message, event, rest []byte, err error) {
	if len(b) < len(m.ChannelID)+len(m.ID) {
		return m, nil, nil, errDamaged
	}
	b = b[copy(m.ChannelID[:], b):]
	b = b[copy(m.ID[:], b):]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return m, nil, nil, errDamaged
	}
	b = b[n:]
	return m, b[:size], b[size:], nil
}

func cutNumber(b []byte) (n number, rest []byte, err error) {
	for _, into := range []*uint64{&n.first, &n.value} {
		value, size := binary.Uvarint(b)
		if size <= 0 {
			return n, nil, errDamaged
		}
		*into, b = value, b[size:]
	}
	return n, b, nil
}
