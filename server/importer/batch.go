package importer

import (
	"context"
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/audience"
	"github.com/moderato-live/moderato/server/feed"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// transactionWeight bounds a transaction to a fraction of a second, because it
	// blocks other changes of its channels, on SQLite of the whole database. Follows
	// are written in bulk, and take a tenth of the time of other records.
	transactionWeight = 10_000
	followWeight      = 1
	recordWeight      = 10
	// maxFollows is how many follows are sorted together.
	maxFollows = 100_000
	// maxBytes bounds the total size of the lines of a batch.
	maxBytes = 16 << 20
)

// record is the content of one line: a follow, another Record, or the error of an
// invalid line.
type record struct {
	*platformv1.Record
	follow *audience.NewFollow
	err    error
	line   int
}

func newRecord(rec *platformv1.Record, line int) record {
	if rec.GetFollow() == nil {
		return record{Record: rec, line: line}
	}
	follow, err := audience.ParseFollow(rec.GetFollow(), line)
	if err != nil {
		return record{err: err, line: line}
	}
	return record{follow: &follow, line: line}
}

// batch is the unit that a bad line undoes: records for one transaction, or else only
// follows, which may take several. A line that is invalid by itself is the last of
// its batch. Its error is returned after the lines before it turned out to be valid,
// so that the reported line is the first bad one.
type batch struct {
	records       []record
	weight, bytes int
	isMixed       bool // has records other than follows
	isBroken      bool
}

// accepts reports whether a record may be added to the records before it.
func (b *batch) accepts(rec record) bool {
	return b.weight < transactionWeight || rec.follow != nil || rec.err != nil
}

// add appends a record; bytes is the size of its line.
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

// parts returns the records of each transaction. If there are several transactions,
// it first checks the follows and sorts them by key: each transaction then changes a
// different part of the indexes, which is much faster.
func (b *batch) parts(ctx context.Context, s *store.Store) ([][]record, error) {
	if len(b.records) > transactionWeight {
		follows := followsOf(b.records)
		if err := audience.CheckFollows(ctx, s.Read, follows); err != nil {
			return nil, s.Classify(err)
		}
		if last := b.records[len(b.records)-1]; last.err != nil {
			return nil, &feed.LineError{Line: last.line, Err: last.err}
		}
		for _, n := range follows {
			n.MarkChecked()
		}
		slices.SortStableFunc(b.records, func(a, b record) int { return a.follow.Compare(b.follow) })
	}
	return slices.Collect(slices.Chunk(b.records, transactionWeight)), nil
}

// followsOf returns the follows at the start of records.
func followsOf(records []record) []*audience.NewFollow {
	var follows []*audience.NewFollow
	for _, rec := range records {
		if rec.follow == nil {
			break
		}
		follows = append(follows, rec.follow)
	}
	return follows
}
