package importer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// transactionSize is the number of follows in a transaction; longer runs are sorted
// first.
const transactionSize = 10_000

// userCount is the number of users who follow at random.
const userCount = 12

func numberedUser(i int) string { return fmt.Sprintf("0b6fdddd-0000-4000-8000-%012d", i+1) }

func followLine(channel, user uid.ID) string {
	return fmt.Sprintf(`{"follow": {"channelId": %q, "userId": %q, "followedAt": "2026-01-02T03:04:05Z"}}`+"\n", channel, user)
}

func importLines(s *servertest.Server, lines ...string) (records int, err error) {
	return (&importer.Importer{Store: s.Store}).ImportLines(context.Background(), strings.NewReader(strings.Join(lines, "")))
}

// followers returns the users who follow a channel, in order, according to the rows.
func followers(t *testing.T, s *servertest.Server, channel uid.ID) (all []string) {
	t.Helper()
	err := store.QueryEach(context.Background(), s.Store.Read,
		"SELECT user_id, followed_at, is_notification_enabled FROM follows WHERE channel_id = ? ORDER BY user_id", []any{channel},
		func(scan func(...any) error) error {
			var user uid.ID
			var at instant.Instant
			var wantsNotifications bool
			err := scan(&user, &at, &wantsNotifications)
			all = append(all, fmt.Sprint(user, at, wantsNotifications))
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportReportsFirstInvalidLine(t *testing.T) {
	bad := []struct{ line, want string }{
		{"{\n", "well-formed"},
		{"{}\n", "names no record"},
		{`{"follow": {"channelId": "x"}}` + "\n", `follow.channelId must be a UUID in its 36-character form, not "x"; follow.userId is required.`},
		{followLine(servertest.Owner, servertest.Owner), "The operation does not apply to the owner of the channel; name another user."},
		{followLine(servertest.Viewer, servertest.Owner), "There is no channel with this id; the id of a channel is the user id of its owner."},
		{followLine(servertest.Owner, servertest.Nobody), "There is no such user; check the id or the username."},
		{`{"category": {}}` + "\n", "id must be 1 to 4611686018427387903"},
	}
	good := followLine(servertest.Owner, servertest.Viewer)
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		for i, first := range bad {
			if !storetest.Takes(t, url, first.want) {
				continue
			}
			for j, second := range bad {
				before := 1
				if j == (i+1)%len(bad) {
					before = transactionSize + 1
				}
				if before > 1 && strings.Contains(first.line, "category") {
					continue // the line would begin another batch
				}
				records, err := importLines(s, strings.Repeat(good, before), first.line, second.line, good)
				var line *feed.LineError
				if !errors.As(err, &line) || line.Line != before+1 || !strings.Contains(err.Error(), first.want) || records != 0 {
					t.Errorf("%q and %q: %d records and %v, want line %d and %q", first.line, second.line, records, err, before+1, first.want)
				}
			}
		}
		if got := followers(t, s, servertest.Owner); len(got) != 0 {
			t.Errorf("stored are %v", got)
		}
	})
}

func TestInvalidFollowRollsBackOnlyItsBatch(t *testing.T) {
	const inOneBatch, rest = 100_000, transactionSize + 1
	earlier := strings.Repeat(followLine(servertest.Owner, servertest.Viewer), inOneBatch)
	later := strings.Repeat(followLine(servertest.Owner, servertest.Raider), rest)
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	var progress, want []int
	for n := transactionSize; n <= inOneBatch; n += transactionSize {
		want = append(want, n)
	}
	importer := importer.Importer{Store: s.Store, Progress: func(n int) { progress = append(progress, n) }}
	records, err := importer.ImportLines(context.Background(), strings.NewReader(earlier+later+followLine(servertest.Owner, servertest.Nobody)))
	var line *feed.LineError
	if !errors.As(err, &line) || line.Line != inOneBatch+rest+1 || records != inOneBatch {
		t.Errorf("got %d records and %v, want %d and line %d", records, err, inOneBatch, inOneBatch+rest+1)
	}
	if diff := cmp.Diff(want, progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if got := followers(t, s, servertest.Owner); len(got) != 1 || !strings.HasPrefix(got[0], servertest.Viewer.String()) {
		t.Errorf("stored are %v", got)
	}
	servertest.CheckCounters(t, s.Store, "after the import")
}

func TestCancelledImportStops(t *testing.T) {
	// Follows are stored in the order of their keys.
	lines := strings.Repeat(followLine(servertest.Owner, servertest.Raider), transactionSize) +
		strings.Repeat(followLine(servertest.Owner, servertest.Viewer), transactionSize)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, cancel := context.WithCancel(context.Background())
		importer := importer.Importer{Store: s.Store, Progress: func(int) { cancel() }}
		records, err := importer.ImportLines(ctx, strings.NewReader(lines))
		if !errors.Is(err, context.Canceled) || records != transactionSize {
			t.Errorf("got %d records and %v", records, err)
		}
		if got := followers(t, s, servertest.Owner); len(got) != 1 || !strings.HasPrefix(got[0], servertest.Viewer.String()) {
			t.Errorf("stored are %v", got)
		}
		servertest.CheckCounters(t, s.Store, "after the import")
	})
}

func TestBufferedFollowsAreStoredBeforeNextRecord(t *testing.T) {
	good := followLine(servertest.Owner, servertest.Viewer)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		records, err := importLines(s, strings.Repeat(good, transactionSize+1), `{"category": {}}`)
		var line *feed.LineError
		if !errors.As(err, &line) || line.Line != transactionSize+2 || records != transactionSize+1 {
			t.Errorf("got %d records and %v", records, err)
		}
	})
}

// TestBulkFollowsMatchSequentialFollows imports the same random lines into three
// channels: one by one, in one transaction, and in several transactions.
func TestBulkFollowsMatchSequentialFollows(t *testing.T) {
	oneByOne, concurrently, inOrder := servertest.Owner, servertest.Other, servertest.Moderator
	channels := []uid.ID{oneByOne, concurrently, inOrder}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		now := instant.Of(time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC))
		s.Store.Clock.Freeze(now)
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Channel{Channel: &platformv1.ChannelRecord{Id: inOrder.String(), Title: "x"}}})
		var users []*platformv1.Record
		for i := range userCount {
			users = append(users, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: numberedUser(i), Username: fmt.Sprintf("counted%d", i)}}})
		}
		s.Load(t, users...)
		for _, channel := range channels {
			s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Stream{Stream: &platformv1.StreamRecord{
				ChannelId: channel.String(), StartedAt: now.Add(-time.Hour).Proto(), Title: "x",
			}}})
		}
		r := rand.New(rand.NewPCG(3, 5))
		for round := range storetest.Share(t, 8) {
			lines := map[uid.ID][]string{}
			for range 5 * (round + 1) {
				user, date := numberedUser(r.IntN(userCount)), ""
				if r.IntN(3) > 0 {
					date = fmt.Sprintf(`, "followedAt": %q`, now.Add(-time.Duration(r.IntN(120))*time.Minute))
				}
				if r.IntN(2) == 0 {
					user = strings.ToUpper(user)
				}
				wantsNotifications := r.IntN(2) == 0
				for _, channel := range channels {
					lines[channel] = append(lines[channel], fmt.Sprintf(
						`{"follow": {"channelId": %q, "userId": %q, "isNotificationEnabled": %t%s}}`+"\n", channel, user, wantsNotifications, date))
				}
			}
			lines[inOrder] = append(slices.Repeat(lines[inOrder][:1], transactionSize), lines[inOrder]...)
			for repeated := range 2 {
				for _, line := range lines[oneByOne] {
					if _, err := importLines(s, line); err != nil {
						t.Fatal(err)
					}
				}
				for _, channel := range []uid.ID{concurrently, inOrder} {
					if _, err := importLines(s, lines[channel]...); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(followers(t, s, oneByOne), followers(t, s, channel)); diff != "" {
						t.Errorf("round %d, time %d, %s (-one by one +in bulk):\n%s", round, repeated, channel, diff)
					}
				}
				servertest.CheckCounters(t, s.Store, fmt.Sprintf("in round %d", round))
			}
			now = now.Add(time.Minute)
			s.Store.Clock.Freeze(now)
		}
	})
}

func TestFollowsOfManyChannelsSpanStatements(t *testing.T) {
	const channels = 510
	var people, follows []string
	for i := range channels {
		people = append(people,
			fmt.Sprintf(`{"user": {"id": %q, "username": "user%d"}}`+"\n", benchUser(i), i),
			fmt.Sprintf(`{"channel": {"id": %q, "title": "x"}}`+"\n", benchUser(i)))
		follows = append(follows, followLine(uid.MustParse(benchUser(i)), servertest.Viewer))
		if i%2 == 0 {
			follows = append(follows, followLine(uid.MustParse(benchUser(i)), servertest.Raider))
		}
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, lines := range [][]string{people, follows, follows} {
			if _, err := importLines(s, lines...); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Store.Read.Follow.Query().Count(context.Background()); err != nil || n != channels*3/2 {
			t.Errorf("%d follows are stored (%v), want %d", n, err, channels*3/2)
		}
		servertest.CheckCounters(t, s.Store, "after the imports")
	})
}
