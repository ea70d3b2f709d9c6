package platform

import (
	"context"
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// transactionWeight bounds a transaction, which keeps others from its channels,
	// on SQLite from the whole database, to a fraction of a second. Follows, which
	// go in bulk, take a tenth of the time of other records.
	transactionWeight = 10_000
	followWeight      = 1
	recordWeight      = 10
	// maxFollows is how many follows are put in order at once.
	maxFollows = 100_000
	// maxBytes bounds the lines of a batch.
	maxBytes = 16 << 20
)

// record is what one line says: a follow, another Record, or why it is neither.
type record struct {
	*platformv1.Record
	follow *newFollow
	err    error
	line   int
}

func newRecord(rec *platformv1.Record, line int) record {
	if rec.GetFollow() == nil {
		return record{Record: rec, line: line}
	}
	follow, err := parseFollow(rec.GetFollow(), line)
	if err != nil {
		return record{err: err, line: line}
	}
	return record{follow: &follow, line: line}
}

// batch is what a bad line undoes: records for one transaction, or else follows in
// a row, which may take several. A line that is bad by itself is its last, and told
// when those before it turned out good: the first bad line is the one that is named.
type batch struct {
	records       []record
	weight, bytes int
	isMixed       bool // has other records than follows
	isBroken      bool
}

// accepts tells whether a record may be put together with those before it.
func (b *batch) accepts(rec record) bool {
	return b.weight < transactionWeight || rec.follow != nil || rec.err != nil
}

// add puts a record of a line of this size at the end.
func (b *batch) add(rec record, bytes int) {
	b.records = append(b.records, rec)
	b.bytes += bytes
	switch {
	case rec.err != nil:
		b.isBroken = true
	case rec.follow != nil:
		b.weight += followWeight
	default:
		b.weight += recordWeight
		b.isMixed = true
	}
}

func (b *batch) isFull() bool {
	limit := maxFollows
	if b.isMixed {
		limit = transactionWeight
	}
	return b.weight >= limit || b.bytes >= maxBytes || b.isBroken
}

// clear empties the batch and keeps its memory.
func (b *batch) clear() {
	clear(b.records)
	*b = batch{records: b.records[:0]}
}

// parts are the records of each transaction. Those of more than one are checked
// first, and in the order of their keys: each transaction then changes another part
// of the indexes, which is much faster.
func (b *batch) parts(ctx context.Context, s *store.Store) ([][]record, error) {
	if len(b.records) > transactionWeight {
		follows := followsOf(b.records)
		if err := checkFollows(ctx, s.Read, follows); err != nil {
			return nil, s.Classify(err)
		}
		if last := b.records[len(b.records)-1]; last.err != nil {
			return nil, &LineError{last.line, last.err}
		}
		for _, n := range follows {
			n.isChecked = true
		}
		slices.SortStableFunc(b.records, func(a, b record) int { return a.follow.key().compare(b.follow.key()) })
	}
	return slices.Collect(slices.Chunk(b.records, transactionWeight)), nil
}

// followsOf are the follows that records begin with.
func followsOf(records []record) []*newFollow {
	var follows []*newFollow
	for _, rec := range records {
		if rec.follow == nil {
			break
		}
		follows = append(follows, rec.follow)
	}
	return follows
}
