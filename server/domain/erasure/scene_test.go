package erasure_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// person is a user to delete. The texts of the user contain the word.
type person struct {
	id                                                uid.ID
	oldName, name, displayName, avatar, address, word string
}

var (
	vera = person{
		uid.MustParse("0b6fbeef-cafe-4abc-8def-a123456789ab"),
		"Vera_Old.1", "Vera.New-77", "Véra Ünïque", "https://img.example.com/vera-avatar.png", "198.51.100.77", "quokka",
	}
	// walter does the same as vera, and remains.
	walter = person{
		uid.MustParse("0b6fdead-face-4cba-9fed-b123456789ba"),
		"Walter_Old.1", "Walter.New-78", "Wälter Ällein", "https://img.example.com/walter-avatar.png", "203.0.113.78", "wombat",
	}
)

// traces returns the bytes that identify a person, in lower case.
func (p person) traces() map[string][]byte {
	return map[string][]byte{
		"the id":                 lower(p.id[:]),
		"the id in hex":          []byte(hex.EncodeToString(p.id[:])),
		"the id as text":         []byte(p.id.String()),
		"the username":           lower([]byte(p.name)),
		"the username of before": lower([]byte(p.oldName)),
		"the display name":       lower([]byte(p.displayName)),
		"the picture's address":  lower([]byte(p.avatar)),
		"the address of a vote":  lower([]byte(p.address)),
		"texts and names":        []byte(p.word),
	}
}

// lower returns b with ASCII letters in lower case.
func lower(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// traceIn returns the name of the trace of a person in a row, or "".
func (p person) traceIn(r servertest.Row) string {
	for _, value := range r.Values {
		value = lower(value)
		for name, trace := range p.traces() {
			if bytes.Contains(value, trace) {
				return name
			}
		}
	}
	return ""
}

// wantNoTrace searches the whole database.
func wantNoTrace(t *testing.T, s *store.Store, p person) {
	t.Helper()
	for _, r := range servertest.Rows(t, s) {
		if trace := p.traceIn(r); trace != "" {
			t.Errorf("%s is in %s", trace, r)
		}
	}
}

// scene is a running server with clients for all backend services.
type scene struct {
	*servertest.Server
	t        *testing.T
	url      store.URL
	service  servertest.Credentials
	ctx      context.Context
	channels moderatov1.ChannelsServiceClient
	chats    moderatov1.ChatServiceClient
	audience platformv1.AudienceServiceClient
	streams  platformv1.StreamServiceClient
	content  platformv1.ContentServiceClient
}

func eachScene(t *testing.T, test func(t *testing.T, s *scene)) {
	t.Helper()
	storetest.EachKind(t, func(t *testing.T, url store.URL) { test(t, newScene(t, url)) })
}

func newScene(t *testing.T, url store.URL) *scene {
	t.Helper()
	s := servertest.Start(t, servertest.Config(url))
	s.Load(t, servertest.World()...)
	service := s.AsService(t)
	return &scene{
		Server: s, t: t, url: url, service: service, ctx: service.Context(),
		channels: moderatov1.NewChannelsServiceClient(s.Conn),
		chats:    moderatov1.NewChatServiceClient(s.Conn),
		audience: platformv1.NewAudienceServiceClient(s.Conn),
		streams:  platformv1.NewStreamServiceClient(s.Conn),
		content:  platformv1.NewContentServiceClient(s.Conn),
	}
}

// must fails the test for an error.
func (s *scene) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func wantReason(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := servertest.OutcomeOf(err).Reason; got != want {
		t.Errorf("%s: got %s (%v), want %s", what, got, err, want)
	}
}

func (s *scene) deleteUser(p person) *platformv1.DeleteUserResponse {
	s.t.Helper()
	r, err := s.Directory.DeleteUser(s.ctx, &platformv1.DeleteUserRequest{UserId: strings.ToUpper(p.id.String())})
	s.must(r, err)
	return r
}

func (s *scene) deleteChannel(p person) {
	s.t.Helper()
	s.must(s.Directory.DeleteChannel(s.ctx, &platformv1.DeleteChannelRequest{ChannelId: strings.ToUpper(p.id.String())}))
}

func (s *scene) putChannel(id uid.ID, title string) error {
	_, err := s.Directory.PutChannel(s.ctx, &platformv1.PutChannelRequest{Channel: &platformv1.ChannelRecord{Id: id.String(), Title: title}})
	return err
}

func (s *scene) putUser(id uid.ID, name string) error {
	_, err := s.Directory.PutUser(s.ctx, &platformv1.PutUserRequest{User: &platformv1.UserRecord{Id: id.String(), Username: name}})
	return err
}

func newEraser(s *store.Store) *erasure.Eraser {
	return erasure.NewEraser(s, slog.New(slog.DiscardHandler), domains.Tables())
}

// erase erases until nothing is pending, and advances the clock: the server's own eraser
// may also run, and holds a claim for a while.
func erase(t *testing.T, s *store.Store) {
	t.Helper()
	for range 100 {
		s.Clock.Advance(31 * time.Second)
		if err := newEraser(s).Erase(context.Background()); err != nil {
			t.Fatal(err)
		}
		if storetest.Must(s.Read.Erasure.Query().Count(context.Background())) == 0 {
			return
		}
	}
	t.Fatal("the eraser comes to no end")
}

// hold blocks every eraser until release is called: each of its transactions begins with
// a change of the erasure's row.
func hold(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	storetest.NeedTriggers(t, s)
	body := "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'held'"
	if storetest.IsSQLite(s) {
		body = "BEGIN SELECT RAISE(ABORT, 'held'); END"
	}
	exec(t, s, "CREATE TRIGGER hold BEFORE UPDATE ON erasures FOR EACH ROW "+body)
	return func() { exec(t, s, "DROP TRIGGER hold") }
}

func exec(t *testing.T, s *store.Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.DB().ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// wantExactCounters compares every counter with the rows that it counts, and checks the
// sequences of events for gaps.
func wantExactCounters(t *testing.T, s *store.Store) {
	t.Helper()
	for counter, count := range map[string]string{
		"follower_count":       "SELECT COUNT(*) FROM follows f WHERE f.channel_id = c.id",
		"subscriber_count":     "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active",
		"clip_count":           "SELECT COUNT(*) FROM clips x WHERE x.channel_id = c.id",
		"vod_count":            "SELECT COUNT(*) FROM vods v WHERE v.channel_id = c.id",
		"new_follower_count":   "SELECT COUNT(*) FROM follows f WHERE f.channel_id = c.id AND f.followed_at >= c.live_started_at",
		"new_subscriber_count": "SELECT COUNT(*) FROM subscriptions s WHERE s.channel_id = c.id AND s.is_active AND s.subscribed_at >= c.live_started_at",
		"event_sequence":       "SELECT COUNT(*) FROM events e WHERE e.channel_id = c.id",
		// The last sequence is that of the last event, which with the number of events
		// rules out a gap.
		"event_sequence + 0": "SELECT COALESCE(MAX(sequence), 0) FROM events e WHERE e.channel_id = c.id",
	} {
		err := store.QueryEach(context.Background(), s.Read, "SELECT c.id, c."+counter+", ("+count+") FROM channels c", nil,
			func(scan func(...any) error) error {
				var id uid.ID
				var kept, counted int64
				err := scan(&id, &kept, &counted)
				if kept != counted {
					t.Errorf("%s of %s is %d, and there are %d", counter, id, kept, counted)
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, bucket := range []string{"0", "1"} { // category 0: not live, live
		var kept, counted int64
		err := store.QueryRow(context.Background(), s.Read, `SELECT
			(SELECT COALESCE(SUM(count), 0) FROM channel_counts WHERE id = `+bucket+`) + (SELECT COALESCE(SUM(delta), 0) FROM channel_count_deltas WHERE count_id = `+bucket+`),
			(SELECT COUNT(*) FROM channels WHERE is_live = `+bucket+`)`, nil, &kept, &counted)
		if err != nil || kept != counted {
			t.Errorf("%d channels are counted in bucket %s (%v), and there are %d", kept, bucket, err, counted)
		}
	}
}

// text returns the n-th text of p, which contains the word of p.
func (p person) text(n int) string { return fmt.Sprintf("%s says %s %d", p.name, p.word, n) }
