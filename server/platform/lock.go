package platform

import (
	"bytes"
	"context"
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

// idsAtOnce is how many ids a statement looks for.
const idsAtOnce = 500

// lockChannels locks the channels of a batch before anything else, in the order
// of their ids: imports that touch the same ones wait in turn, where they would
// else deadlock again and again. Those that are not there yet are locked by their
// creation.
func (p putter) lockChannels(ctx context.Context, batch []record) error {
	for some := range slices.Chunk(channelIDs(batch), idsAtOnce) {
		err := store.QueryEach(ctx, p.Tx, "SELECT id FROM channels WHERE id IN ("+store.Placeholders(len(some))+") ORDER BY id"+p.ForUpdate(), values(some),
			func(func(...any) error) error { return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// channelIDs are the channels whose rows a batch may change, in order. An id that
// is none is told of later, with its line.
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

// channelID is the channel whose row a record that is no follow may change; empty
// if there is none.
func channelID(rec *platformv1.Record) string {
	switch kind := rec.GetKind().(type) {
	case *platformv1.Record_Channel:
		return kind.Channel.GetId()
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

// values are ids as arguments of a statement.
func values(ids []uid.ID) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return args
}
