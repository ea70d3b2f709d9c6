package platform

import (
	"bytes"
	"context"
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/uid"
)

// idsAtOnce is the maximum number of ids in one statement.
const idsAtOnce = 500

// lockChannels locks the channels of a batch before anything else, in the order of
// their ids. Imports of the same channels therefore wait for each other, where they
// would otherwise deadlock again and again. A channel that does not exist yet is
// locked when it is created.
func (p putter) lockChannels(ctx context.Context, batch []record) error {
	_, err := change.Lock(ctx, p.Store, p.Tx, channelIDs(batch)...)
	return err
}

// channelIDs returns the channels that a batch may change, sorted. It skips an
// invalid id, which is reported later, with its line.
func channelIDs(batch []record) []uid.ID {
	ids := make([]uid.ID, 0, len(batch))
	for _, rec := range batch {
		if rec.follow != nil {
			ids = append(ids, rec.follow.channelID)
		} else if id, err := uid.Parse(channelID(rec.Record)); err == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uid.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// channelID returns the channel that a record other than a follow may change, so that it
// must hold the channel's lock; empty if there is none.
func channelID(rec *platformv1.Record) string {
	switch kind := rec.GetKind().(type) {
	case *platformv1.Record_Channel:
		return kind.Channel.GetId()
	case *platformv1.Record_Role:
		return kind.Role.GetChannelId()
	case *platformv1.Record_Subscription:
		return kind.Subscription.GetChannelId()
	case *platformv1.Record_Stream:
		return kind.Stream.GetChannelId()
	case *platformv1.Record_Clip:
		return kind.Clip.GetChannelId()
	case *platformv1.Record_Vod:
		return kind.Vod.GetChannelId()
	case *platformv1.Record_Activity:
		return kind.Activity.GetChannelId()
	}
	return ""
}

// values returns ids as arguments of a statement.
func values(ids []uid.ID) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return args
}
