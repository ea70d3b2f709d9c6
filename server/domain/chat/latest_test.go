package chat_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestLatestReadsFewRows reads the latest messages of users of whom some have thousands. The
// statements use the index of the messages, and read few rows.
func TestLatestReadsFewRows(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s, recorder := storetest.OpenRecorded(t, url)
		servertest.Import(t, s, servertest.World()...)
		users := servertest.AddUsers(t, s, 150)
		for i, id := range users {
			n := 3
			if i < 2 {
				n = 3000
			}
			fillMessages(t, s, id, n)
		}
		// Two of three messages were deleted alone: the latest ones are of all kinds.
		if _, err := s.DB().Exec("UPDATE messages SET generation = -(sent_at % 3)"); err != nil {
			t.Fatal(err)
		}
		if !storetest.IsSQLite(s) {
			err := store.QueryEach(t.Context(), s.Read, "ANALYZE TABLE messages", nil, func(func(...any) error) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			users  []uid.ID
			posted int
		}{{users, 150}, {users[:2], 2}, {users[:1], 1}} {
			before := len(recorder.Sent())
			var found map[uid.ID][]chat.Message
			err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) (err error) {
				found, err = chat.Latest(ctx, tx, s.Dialect, servertest.Owner, c.users, 10)
				return err
			})
			latest := found[users[0]]
			if err != nil || len(found) != c.posted || len(latest) != 10 || latest[0].Text != "2999" || latest[1].Text != "2998" {
				t.Fatalf("%d users: got those of %d, %v of the first, %v", len(c.users), len(found), latest, err)
			}
			for _, q := range recorder.Sent()[before:] {
				if strings.Contains(q.Text, "messages m") {
					wantFewRows(t, s, q, 70*len(c.users))
				}
			}
		}
	})
}

// fillMessages stores messages of a user, all of them visible.
func fillMessages(t *testing.T, s *store.Store, user uid.ID, n int) {
	t.Helper()
	for at := 0; at < n; at += 500 {
		var rows []string
		var args []any
		for i := at; i < min(n, at+500); i++ {
			rows = append(rows, "(?, ?, ?, 0, ?, ?)")
			args = append(args, uid.New(), servertest.Owner, user, fmt.Sprint(i), i)
		}
		if _, err := s.DB().Exec("INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at) VALUES "+strings.Join(rows, ", "), args...); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFewRows fails if a statement reads more rows than that on a database server, or reads
// messages in another way than by their index on SQLite.
func wantFewRows(t *testing.T, s *store.Store, q storetest.Statement, most int) {
	t.Helper()
	conn, err := s.DB().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	each := func(text string, args []any, columns int, row func(values []any)) {
		t.Helper()
		rows, err := conn.QueryContext(t.Context(), text, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			values, targets := make([]any, columns), make([]any, columns)
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				t.Fatal(err)
			}
			row(values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if storetest.IsSQLite(s) {
		each("EXPLAIN QUERY PLAN "+q.Text, q.Args, 4, func(values []any) {
			step := fmt.Sprint(values[3])
			isOfMessages := strings.HasPrefix(step, "SEARCH m ") || strings.HasPrefix(step, "SCAN m ")
			if isOfMessages && !strings.Contains(step, "(user_id=? AND channel_id=? AND generation=?)") {
				t.Errorf("%.100s: %s", q.Text, step)
			}
		})
		return
	}
	read := func() (sum int) {
		each("SHOW SESSION STATUS LIKE 'Handler_read%'", nil, 2, func(values []any) {
			var n int
			if _, err := fmt.Sscan(string(values[1].([]byte)), &n); err != nil {
				t.Fatal(err)
			}
			sum += n
		})
		return sum
	}
	before := read()
	rows, err := conn.QueryContext(t.Context(), q.Text, q.Args...)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		continue // the statement runs while its rows are read
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	_ = rows.Close()
	if got := read() - before; got > most {
		t.Errorf("%.100s: reads %d rows, want at most %d", q.Text, got, most)
	}
}
