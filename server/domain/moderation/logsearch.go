package moderation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/banbatch"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// maxEntries is how many entries of a log a search examines for a page.
	maxEntries = 2000
	// disorder is how far the times of entries may be out of order. An entry with a higher
	// sequence has an earlier time only if the clock of the database was set back.
	disorder = time.Minute
)

// logFilter holds the conditions of a search in a log that no index answers. The zero
// logFilter, with until set, has no condition.
type logFilter struct {
	since, until    instant.Instant
	names           users.Names
	batchID, ruleID uid.ID
	causes          []string
}

func parseLogFilter(f *validate.Fields, req *moderatov1.ListLogRequest) logFilter {
	l := logFilter{
		until: math.MaxInt64, names: users.ParseNames(f, req.GetQuery()),
		batchID: f.OptionalUUID("batchId", req.GetBatchId()), ruleID: f.OptionalUUID("ruleId", req.GetRuleId()),
	}
	if since, isGiven := f.Time("since", req.GetSince()); isGiven {
		l.since = since
	}
	if until, isGiven := f.Time("until", req.GetUntil()); isGiven {
		l.until = until
	}
	if f.AtMost("cause", len(req.GetCause())) {
		for _, cause := range req.GetCause() {
			l.causes = append(l.causes, f.Choice("cause", cause))
		}
	}
	return l
}

// readsPayload reports whether a condition is about the payloads.
func (l *logFilter) readsPayload() bool {
	return !l.batchID.IsZero() || !l.ruleID.IsZero() || len(l.causes) > 0
}

func (l *logFilter) isEmpty() bool {
	return l.since == 0 && l.until == math.MaxInt64 && l.names == "" && !l.readsPayload()
}

// logKey is what a search reads of an entry.
type logKey struct {
	sequence int64
	at       instant.Instant
	payload  string // empty unless the filter reads it
	names    [2]struct{ slug, displayName string }
}

func (l *logFilter) matches(k logKey) bool {
	isNamed := l.names.Match(k.names[0].slug, k.names[0].displayName) || l.names.Match(k.names[1].slug, k.names[1].displayName)
	return k.at >= l.since && k.at < l.until && isNamed && (!l.readsPayload() || l.matchesPayload(k.payload))
}

func (l *logFilter) matchesPayload(payload string) bool {
	var p struct {
		BatchID string `json:"batchId"`
		RuleID  string `json:"ruleId"`
		Cause   string `json:"cause"`
		// The rules of channel.chat.rules. Other types may have these fields with other values.
		Put     json.RawMessage `json:"put"`
		Deleted json.RawMessage `json:"deleted"`
	}
	if err := json.Unmarshal([]byte(payload), &p); err != nil {
		return false // another type has a field of this name that is no text
	}
	rule := l.ruleID.String()
	namesRule := p.RuleID == rule || strings.Contains(string(p.Put), rule) || strings.Contains(string(p.Deleted), rule)
	return (l.batchID.IsZero() || p.BatchID == l.batchID.String()) && (l.ruleID.IsZero() || namesRule) &&
		(len(l.causes) == 0 || slices.Contains(l.causes, p.Cause))
}

// searchLog returns a page of the entries that match the filter of q.
func (s *Service) searchLog(ctx context.Context, q *logQuery, cursor string) ([]*moderatov1.LogEntry, *moderatov1.Pagination, error) {
	first, err := s.firstOfBatch(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	start := q.before
	if cursor == "" && q.filter.until != math.MaxInt64 {
		if start, err = s.sequenceAfter(ctx, q.channelID, q.filter.until.Add(disorder)); err != nil {
			return nil, nil, err
		}
	}
	keys, pagination, err := paging.Search[logKey, int64]{
		Store: s.Store, Name: q.list, Max: maxEntries,
		Read: func(ctx context.Context, before int64, limit int) ([]logKey, error) {
			part := *q
			part.before, part.limit = before, limit-1
			keys, err := s.readLogKeys(ctx, &part)
			// What is earlier cannot match, so the search ends there.
			isEarlier := func(k logKey) bool { return k.sequence < first || k.at.Add(disorder) < q.filter.since }
			if n := slices.IndexFunc(keys, isEarlier); n >= 0 {
				keys = keys[:n]
			}
			return keys, err
		},
		Place:   func(k logKey) int64 { return k.sequence },
		Matches: q.filter.matches,
	}.Page(ctx, cursor, start, q.limit)
	if err != nil || len(keys) == 0 {
		return nil, pagination, err
	}
	q.only = make([]any, len(keys))
	for i, k := range keys {
		q.only[i] = k.sequence
	}
	rows, err := readLog(ctx, s.Store, q)
	return rows, pagination, s.Store.Classify(err)
}

// firstOfBatch returns the sequence of the first entry that can have the batch of q; 0 if it
// is not known.
func (s *Service) firstOfBatch(ctx context.Context, q *logQuery) (int64, error) {
	if q.filter.batchID.IsZero() {
		return 0, nil
	}
	batch, err := s.Store.Read.BanBatch.Query().Where(banbatch.ID(q.filter.batchID), banbatch.ChannelID(q.channelID)).Only(ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, s.Store.Classify(err)
	}
	return batch.FirstSequence, nil
}

// sequenceAfter returns a sequence from which on every entry of a channel is later than an
// instant. It looks up about 20 entries, because the times of entries rise with their
// sequences.
func (s *Service) sequenceAfter(ctx context.Context, channelID uid.ID, at instant.Instant) (int64, error) {
	channel, err := listing.GetChannel(ctx, s.Store, channelID)
	if err != nil {
		return 0, err
	}
	var failure error
	found := sort.Search(int(channel.EventSequence)+1, func(sequence int) bool {
		isLater := true // also if retention has removed the entry and those that follow
		err := entryAt.One(ctx, s.Store, entryQuery{channelID, int64(sequence)}, func(r *store.Row) { isLater = r.Instant() > at })
		if err != nil && !errors.Is(err, store.ErrNoRows) {
			failure = err
		}
		return isLater || failure != nil
	})
	return int64(found), s.Store.Classify(failure)
}

type entryQuery struct {
	channelID uid.ID
	sequence  int64
}

// entryAt selects the time of the first entry with at least a sequence.
var entryAt = store.Declare(func(d *store.Dialect, q entryQuery) (string, []any) {
	return "SELECT e.occurred_at FROM events e" + d.ByIndex("event_channel_id_sequence") +
		" WHERE e.channel_id = ? AND e.sequence >= ? ORDER BY e.sequence" + store.Limit(1), []any{q.channelID, q.sequence}
})

// logKeys selects what a search reads of a part of a log, newest first.
var logKeys = store.Declare(func(d *store.Dialect, q *logQuery) (string, []any) {
	payload, names, joins := "''", "'', '', '', ''", ""
	if q.filter.readsPayload() {
		payload = "e.payload"
	}
	if q.filter.names != "" {
		names = "COALESCE(a.slug, ''), COALESCE(a.display_name, ''), COALESCE(u.slug, ''), COALESCE(u.display_name, '')"
		joins = " LEFT JOIN users a ON a.id = e.actor_id LEFT JOIN users u ON u.id = e.target_id"
	}
	keys, args := q.keys(d)
	return "SELECT e.sequence, e.occurred_at, " + payload + ", " + names + `
		FROM (SELECT id FROM (` + keys + `) AS k ORDER BY sequence DESC` + store.Limit(q.limit+1) + `) AS p` +
		d.OrderedJoin() + "events e" + d.ByPrimaryKey("events") + " ON e.id = p.id" + joins, args
})

func (s *Service) readLogKeys(ctx context.Context, q *logQuery) (keys []logKey, err error) {
	err = logKeys.Each(ctx, s.Store, q, func(r *store.Row) error {
		k := logKey{sequence: r.Int(), at: r.Instant(), payload: r.Text()}
		for i := range k.names {
			k.names[i].slug, k.names[i].displayName = r.Text(), r.Text()
		}
		keys = append(keys, k)
		return nil
	})
	slices.SortFunc(keys, func(a, b logKey) int { return cmp.Compare(b.sequence, a.sequence) })
	return keys, err
}
