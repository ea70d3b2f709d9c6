package importer

import (
	"cmp"
	"context"
	"slices"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// transactionWeight bounds a transaction that no Pace bounds to a fraction of a second,
	// because it blocks other changes of its channels. Follows are written in bulk, and take
	// a tenth of the time of other records.
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
	text   []byte // of a line that cannot be read
}

func newRecord(rec *platformv1.Record, line int) record {
	if rec.GetFollow() == nil {
		return record{Record: rec, line: line}
	}
	follow, err := audience.ParseFollow(rec.GetFollow(), line)
	if err != nil {
		return record{Record: rec, err: err, line: line}
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
	limit         int  // of the weight of a transaction
	isMixed       bool // has records other than follows
	isBroken      bool
}

// accepts reports whether a record may be added to the records before it.
func (b *batch) accepts(rec record) bool {
	return b.weight < b.bound() || rec.follow != nil || rec.err != nil
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
		limit = b.bound()
	}
	return b.weight >= limit || b.bytes >= maxBytes || b.isBroken
}

// bound returns the weight of a transaction.
func (b *batch) bound() int { return cmp.Or(b.limit, transactionWeight) }

// clear empties the batch and sets the weight of its next transaction.
func (b *batch) clear(limit int) { *b = batch{limit: limit} }

// remove removes the record of a line.
func (b *batch) remove(line int) {
	b.records = slices.DeleteFunc(b.records, func(rec record) bool { return rec.line == line })
}

// json returns the record of a line as JSON; nil if it has none.
func (b *batch) json(line int) []byte {
	i := slices.IndexFunc(b.records, func(rec record) bool { return rec.line == line })
	switch {
	case i < 0:
		return nil
	case b.records[i].follow != nil:
		return b.records[i].follow.JSON()
	case b.records[i].Record != nil:
		return jsonapi.Marshal(b.records[i].Record)
	}
	return b.records[i].text
}

// prepare checks and sorts follows that take several transactions: each transaction then
// changes a different part of the indexes, which is much faster.
func (b *batch) prepare(ctx context.Context, s *store.Store) error {
	follows := followsOf(b.records)
	if len(follows) <= b.bound() || follows[0].IsChecked() {
		return nil
	}
	if err := audience.CheckFollows(ctx, s.Read, follows); err != nil {
		return s.Classify(err)
	}
	if last := b.records[len(b.records)-1]; last.err != nil {
		return &feed.LineError{Line: last.line, Err: last.err}
	}
	for _, n := range follows {
		n.MarkChecked()
	}
	slices.SortStableFunc(b.records, func(a, b record) int { return a.follow.Compare(b.follow) })
	return nil
}

// part returns the first records, up to a weight.
func (b *batch) part(limit int) []record {
	weight := 0
	for i, rec := range b.records {
		if weight += weightOf(rec); weight > limit && i > 0 {
			return b.records[:i]
		}
	}
	return b.records
}

func weightOf(rec record) int {
	if rec.follow != nil {
		return followWeight
	}
	return recordWeight
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
