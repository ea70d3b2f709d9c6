package abuse_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCatchUpReadsOnlyOwnEvents has listeners catch up behind many events of another
// channel. They must not read those events, and the latency of other callers must hardly
// change.
func TestCatchUpReadsOnlyOwnEvents(t *testing.T) {
	listeners, foreign := scaled(4, 40), scaled(2000, 600_000)
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		channel := servertest.AddChannels(t, db, 1)[0]
		insert(t, db, "events (id, channel_id, sequence, position, type, operation_id, client_id, request_id, occurred_at, payload)", foreign,
			func(i int) []any {
				return []any{uid.New(), channel, i + 1, i + 1, "channel.update", uid.New(), "", "", time.Now().UnixMilli(), "{}"}
			})
		execute(t, db, "UPDATE event_sequencers SET last_position = last_position + ?", foreign)
		execute(t, db, "UPDATE channels SET event_sequence = ? WHERE id = ?", foreign, channel)
		start := servertest.EventCursor(t, db, 0)
		s := &target{process.Serve(t, url), db}
		owner := s.as(t, servertest.Owner)
		s.request(t, owner, "POST", "/v1/channels/info", `{"title":"the own event","lang":"en"}`)
		c, moderator := s.as(t, servertest.Other), s.as(t, servertest.Moderator)
		idle := s.probe(t, c, scaled(time.Second, 5*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		var slowest atomic.Int64
		var group sync.WaitGroup
		for i := range listeners {
			group.Go(func() {
				caller := []servertest.Credentials{owner, moderator}[i%2]
				if first := s.firstEvent(ctx, caller, "/v1/events?cursor="+start); !strings.Contains(first, "the own event") {
					t.Errorf("heard %.200s, want the event of the own channel", first)
				}
				for took := int64(time.Since(began)); ; {
					if latest := slowest.Load(); took <= latest || slowest.CompareAndSwap(latest, took) {
						return
					}
				}
			})
		}
		busy := s.probe(t, c, scaled(time.Second, 5*time.Second))
		group.Wait()
		t.Logf("%d listeners behind %d foreign events: caught up in %s; other reads: p99 %s idle, %s busy",
			listeners, foreign, time.Duration(slowest.Load()), process.Percentile(idle, .99), process.Percentile(busy, .99))
		if isSoak() && process.Percentile(busy, .99) > 10*process.Percentile(idle, .99) {
			t.Errorf("other reads took %s, idle %s", process.Percentile(busy, .99), process.Percentile(idle, .99))
		}
	})
}

// firstEvent listens until the first event, and returns its data.
func (s *target) firstEvent(ctx context.Context, c servertest.Credentials, path string) string {
	response, err := s.listen(ctx, c, path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if data, isData := strings.CutPrefix(lines.Text(), "data:"); isData || response.StatusCode != http.StatusOK {
			return data + lines.Text()
		}
	}
	return "the stream ended"
}

func (s *target) listen(ctx context.Context, c servertest.Credentials, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.REST+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("client-id", c.ClientID)
	return http.DefaultClient.Do(r)
}

// TestListenerWithManyRolesEndsOnRevocation has a user moderate very many channels and
// listen without naming one. When the tokens of other listeners are revoked, their
// streams still end in time.
func TestListenerWithManyRolesEndsOnRevocation(t *testing.T) {
	roles := scaled(1200, 800_000)
	const inTime = 3 * time.Second // 2 s, and a margin for a busy machine
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		db := prepare(t, url)
		user := servertest.AddUsers(t, db, 1)[0]
		channels := make([]uid.ID, roles)
		for i := range channels {
			channels[i] = uid.New()
		}
		insert(t, db, "users (id, username, slug, display_name, avatar_url, created_at)", roles, func(i int) []any {
			name := "c" + strings.ReplaceAll(channels[i].String(), "-", "")
			return []any{channels[i], name, name, name, "", 1}
		})
		insert(t, db, "channels (id, title, bio, lang, created_at)", roles, func(i int) []any { return []any{channels[i], "x", "", "en", 1} })
		insert(t, db, "roles (id, channel_id, user_id, role, created_at)", roles, func(i int) []any {
			return []any{uid.New(), channels[i], user, "moderator", 1}
		})
		s := &target{process.Serve(t, url, "--max-listener-channels=1000"), db}
		c := s.as(t, user)
		for range 5 {
			if status, text := s.request(t, c, "GET", "/v1/events", ""); status != http.StatusBadRequest || !strings.Contains(text, "channelId") {
				t.Errorf("got %d, %.200s, want an error that asks for a channel", status, text)
			}
		}
		named, err := s.listen(t.Context(), c, "/v1/events?channelId="+channels[0].String())
		if err != nil || named.StatusCode != http.StatusOK {
			t.Fatalf("with a name: got %v, %v", named, err)
		}
		defer func() { _ = named.Body.Close() }()
		other := s.as(t, servertest.Owner)
		stream, err := s.listen(t.Context(), other, "/v1/events")
		if err != nil || stream.StatusCode != http.StatusOK {
			t.Fatalf("got %v, %v", stream, err)
		}
		defer func() { _ = stream.Body.Close() }()
		if _, err := authn.Revoke(t.Context(), db, other.Token, nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		}
		t.Logf("%d roles: the stream of a revoked token ended after %s", roles, time.Since(began))
		if took := time.Since(began); took > inTime {
			t.Errorf("the stream of a revoked token ended after %s", took)
		}
	})
}

// insert inserts n rows into a table with its columns.
func insert(t *testing.T, db *store.Store, into string, n int, row func(i int) []any) {
	t.Helper()
	const rowsPerStatement = 500
	for from := 0; from < n; from += rowsPerStatement {
		var args []any
		var values []string
		for i := from; i < min(from+rowsPerStatement, n); i++ {
			values = append(values, "("+store.Placeholders(len(row(i)))+")")
			args = append(args, row(i)...)
		}
		execute(t, db, "INSERT INTO "+into+" VALUES "+strings.Join(values, ", "), args...)
	}
}

func execute(t *testing.T, db *store.Store, query string, args ...any) {
	t.Helper()
	err := db.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
