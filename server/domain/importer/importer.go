// Package importer stores records in bulk, from JSON Lines or from a stream of
// ImportService: state only, without events.
package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/moderato-live/moderato/ent"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/audience"
	"github.com/moderato-live/moderato/server/store"
)

const (
	maxImportLine = 1 << 20
)

// Importer stores records: state only, without events. A record replaces the one with
// the same key, so an import can be repeated.
type Importer struct {
	// Store is the database.
	Store *store.Store
	// Admit, if not nil, is called in each transaction. Its error stops the import.
	Admit func(context.Context, *ent.Tx) error
	// Progress, if not nil, is called with the number of records that are stored so
	// far.
	Progress func(records int)
	// Skip, if not nil, is called with each bad line. If it returns true, the import goes on
	// without the line. Otherwise, and without Skip, the line ends the import.
	Skip func(*feed.LineError) bool

	// Pace, if not nil, keeps transactions short. Otherwise they have a fixed size.
	Pace *Pace
}

// byteOrderMark is what some editors write at the start of a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

// ImportLines imports records from JSON Lines, and returns how many it stored. It
// skips empty lines, and a byte order mark before the first line.
func (im Importer) ImportLines(ctx context.Context, r io.Reader) (records int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxImportLine)
	b := batch{limit: im.weight()}
	line := 0
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		next := parse(text, line)
		if err := im.take(ctx, &b, next, len(text), &records); err != nil {
			return records, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		tooLong := fmt.Errorf("is longer than %d bytes", maxImportLine)
		im.Skip = nil // the rest cannot be read
		return records, im.take(ctx, &b, record{line: line + 1, err: tooLong}, 0, &records)
	}
	if lines.Err() != nil {
		return records, fmt.Errorf("read: %w", lines.Err())
	}
	return records, im.put(ctx, &b, &records)
}

// ImportRecords imports records that are already parsed. Their lines are counted from
// 1.
func (im *Importer) ImportRecords(ctx context.Context, all []*platformv1.Record) error {
	records := 0
	b := batch{limit: im.weight()}
	for i, rec := range all {
		if err := im.take(ctx, &b, newRecord(rec, i+1), 0, &records); err != nil {
			return err
		}
	}
	return im.put(ctx, &b, &records)
}

// parse returns the record of a line.
func parse(text []byte, line int) record {
	rec, err := ParseRecord(text)
	if err != nil {
		return record{line: line, err: err, text: bytes.Clone(text)}
	}
	return newRecord(rec, line)
}

// ParseRecord parses one line of an import.
func ParseRecord(text []byte) (*platformv1.Record, error) {
	rec := &platformv1.Record{}
	if err := jsonapi.Unmarshal(text, rec, jsonapi.Options{RejectUnknown: true}); err != nil {
		return nil, err
	}
	if rec.GetKind() == nil {
		return nil, fmt.Errorf("names no record; its only key must be one of %s", strings.Join(recordKinds(), ", "))
	}
	return rec, nil
}

// recordKinds returns the kinds of record, in the order of the .proto.
func recordKinds() []string {
	fields := tables.Kinds()
	kinds := make([]string, fields.Len())
	for i := range kinds {
		kinds[i] = fields.Get(i).JSONName()
	}
	return kinds
}

// take adds a record to a batch, and stores the batch when it is full.
func (im *Importer) take(ctx context.Context, b *batch, rec record, bytes int, records *int) error {
	if !b.accepts(rec) {
		if err := im.put(ctx, b, records); err != nil {
			return err
		}
	}
	b.add(rec, bytes)
	if b.isFull() {
		return im.put(ctx, b, records)
	}
	return nil
}

// put stores a batch and empties it. It leaves out bad lines that Skip accepts.
func (im *Importer) put(ctx context.Context, b *batch, records *int) error {
	for len(b.records) > 0 {
		err := im.putParts(ctx, b, records)
		var bad *feed.LineError
		if !errors.As(err, &bad) {
			if err != nil {
				return err
			}
			continue
		}
		bad.Record = b.json(bad.Line)
		if im.Skip == nil || !im.Skip(bad) {
			return err
		}
		b.remove(bad.Line)
	}
	b.clear(im.weight())
	return nil
}

// weight returns the weight of the next transaction.
func (im *Importer) weight() int {
	if im.Pace == nil {
		return transactionWeight
	}
	return im.Pace.weight()
}

// putParts stores the records of a batch in transactions, and removes those that are stored.
func (im *Importer) putParts(ctx context.Context, b *batch, records *int) error {
	if err := b.prepare(ctx, im.Store); err != nil {
		return err
	}
	for len(b.records) > 0 {
		part := b.part(im.weight())
		err := im.Pace.during(ctx, part, func() error { return im.putPart(ctx, part) })
		if err != nil {
			return err
		}
		*records += len(part)
		b.records = b.records[len(part):]
		if im.Progress != nil {
			im.Progress(*records)
		}
	}
	return nil
}

// putPart stores records in one transaction.
func (im *Importer) putPart(ctx context.Context, part []record) error {
	return feed.RetryOnDuplicate(im.Store, func() error { return im.putOnce(ctx, part) })
}

func (im *Importer) putOnce(ctx context.Context, batch []record) error {
	return im.Store.Write(ctx, func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		if im.Admit != nil {
			if err := im.Admit(ctx, tx); err != nil {
				return err
			}
		}
		if err := lockChannels(ctx, im.Store, tx, batch); err != nil {
			return err
		}
		now, err := im.Store.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		records := feed.NewBatch(im.Store, tx, now)
		if err := putBatch(ctx, records, batch); err != nil {
			return err
		}
		return records.Finish(ctx)
	})
}

// putBatch stores records in their order, and runs of follows in bulk.
func putBatch(ctx context.Context, tx feed.Tx, batch []record) error {
	for len(batch) > 0 {
		if run := followsOf(batch); len(run) > 0 {
			if err := audience.PutFollows(ctx, tx, run); err != nil {
				return err
			}
			batch = batch[len(run):]
			continue
		}
		err := batch[0].err
		if err == nil {
			err = put(ctx, tx, batch[0].Record)
		}
		if err != nil {
			return &feed.LineError{Line: batch[0].line, Err: err}
		}
		batch = batch[1:]
	}
	return nil
}
