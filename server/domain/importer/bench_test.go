package importer_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	benchChannels = 50
	benchUsers    = 20_000
	benchFollows  = 200_000
)

// BenchmarkImportFollows imports interleaved follows of many users in some channels into
// an empty table, on SQLite and on the servers that are configured for the tests.
func BenchmarkImportFollows(b *testing.B) {
	lines := benchLines()
	benchmarkFollows(b, func(ctx context.Context, b *testing.B, s *store.Store) {
		importer := importer.Importer{Store: s}
		if _, err := importer.ImportLines(ctx, strings.NewReader(lines)); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkInsertFollows inserts the rows of BenchmarkImportFollows with prepared INSERTs
// in the same order and transactions, and does nothing else: the upper bound for the
// speed of an import.
func BenchmarkInsertFollows(b *testing.B) {
	const inOrder, perTransaction, perStatement = 100_000, 10_000, 200
	rows := benchRows(b)
	for some := range slices.Chunk(rows, inOrder) {
		slices.SortFunc(some, func(a, b []any) int {
			return cmp.Or(bytes.Compare(a[0].([]byte), b[0].([]byte)), bytes.Compare(a[1].([]byte), b[1].([]byte)))
		})
	}
	statement := "INSERT INTO follows (channel_id, user_id, followed_at, is_notification_enabled) VALUES " +
		strings.TrimSuffix(strings.Repeat("(?,?,?,?),", perStatement), ",")
	put := func(ctx context.Context, s *store.Store, rows [][]any) error {
		tx, err := s.DB().BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		insert, err := tx.PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }()
		for some := range slices.Chunk(rows, perStatement) {
			if _, err := insert.ExecContext(ctx, slices.Concat(some...)...); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	benchmarkFollows(b, func(ctx context.Context, b *testing.B, s *store.Store) {
		for some := range slices.Chunk(rows, perTransaction) {
			if err := put(ctx, s, some); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchmarkFollows measures put on each kind of store.
func benchmarkFollows(b *testing.B, put func(context.Context, *testing.B, *store.Store)) {
	ctx := context.Background()
	storetest.EachBenchNew(b, func(b *testing.B, database func(testing.TB) store.URL) {
		benchmarkFollowsOn(ctx, b, database, put)
	})
}

func benchmarkFollowsOn(ctx context.Context, b *testing.B, database func(testing.TB) store.URL, put func(context.Context, *testing.B, *store.Store)) {
	for b.Loop() {
		b.StopTimer()
		url := database(b)
		storetest.Migrate(b, url)
		s, err := store.OpenForImport(ctx, url)
		if err != nil {
			b.Fatal(err)
		}
		importer := importer.Importer{Store: s}
		if _, err := importer.ImportLines(ctx, benchPeople()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		put(ctx, b, s)
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
	b.ReportMetric(benchFollows*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func benchUser(i int) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i+1)
}

// benchPeople returns the records of the users and channels to which the follows refer.
func benchPeople() io.Reader {
	var lines strings.Builder
	for i := range benchUsers {
		fmt.Fprintf(&lines, `{"user": {"id": %q, "username": "user%d"}}`+"\n", benchUser(i), i)
	}
	for i := range benchChannels {
		fmt.Fprintf(&lines, `{"channel": {"id": %q, "title": "Channel %d"}}`+"\n", benchUser(i), i)
	}
	return strings.NewReader(lines.String())
}

func benchLines() string {
	var lines strings.Builder
	for i := range benchFollows {
		user := benchChannels + i*7919%(benchUsers-benchChannels)
		fmt.Fprintf(&lines, `{"follow": {"channelId": %q, "userId": %q, "followedAt": "2026-01-02T03:04:05.%03dZ", "isNotificationEnabled": %t}}`+"\n",
			benchUser((i+i/(benchUsers-benchChannels))%benchChannels), benchUser(user), i%1000, i%3 == 0)
	}
	return lines.String()
}

// benchRows returns the column values of benchLines.
func benchRows(b *testing.B) [][]any {
	b.Helper()
	rows := make([][]any, 0, benchFollows)
	for line := range strings.Lines(benchLines()) {
		rec, err := importer.ParseRecord([]byte(line))
		if err != nil {
			b.Fatal(err)
		}
		f := rec.GetFollow()
		channel, user := uid.MustParse(f.GetChannelId()), uid.MustParse(f.GetUserId())
		rows = append(rows, []any{channel[:], user[:], f.GetFollowedAt().AsTime().UnixMilli(), f.GetIsNotificationEnabled()})
	}
	return rows
}
