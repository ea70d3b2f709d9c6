package channels_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/channels"
	"github.com/moderato-live/moderato/server/chat"
	"github.com/moderato-live/moderato/server/moderation"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/storetest"
	"github.com/moderato-live/moderato/server/uid"
)

// inTime returns a context with a deadline, as every call has.
type inTime struct{ context.Context }

func (inTime) Deadline() (time.Time, bool) { return time.Now().Add(time.Minute), true }

// shared is a read whose statement is coalesced with others.
type shared struct {
	name string
	of   string // text in its statement, and in no other statement of the read
	read func(ctx context.Context, s *channels.Service, of uid.ID) (any, error)
}

// some are channels of a crowd, each with its own category, and the first pages of their
// followers.
type some struct {
	ids        []uid.ID
	categories map[uid.ID]int64
	followers  map[uid.ID]*moderatov1.ListFollowersResponse
}

func sharedReads(c *some) []shared {
	type service = channels.Service
	return []shared{
		{"followers", "follows.followed_at DESC", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListFollowers(ctx, &moderatov1.ListFollowersRequest{ChannelId: of.String(), Cursor: c.followers[of].GetPagination().GetCursor()})
		}},
		{"one follower", "FROM channels c", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListFollowers(ctx, &moderatov1.ListFollowersRequest{ChannelId: of.String(), UserId: c.followers[of].GetRows()[0].GetId()})
		}},
		{"followed", "FROM follows", func(ctx context.Context, s *service, _ uid.ID) (any, error) {
			return s.ListFollowed(ctx, &moderatov1.ListFollowedRequest{})
		}},
		{"subscribers", "subscriptions.subscribed_at DESC", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListSubscribers(ctx, &moderatov1.ListSubscribersRequest{ChannelId: of.String()})
		}},
		{"banned users", "bans.banned_at DESC", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListBannedUsers(ctx, &moderatov1.ListBannedUsersRequest{ChannelId: of.String()})
		}},
		{"channels", "k.viewer_count DESC", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListChannels(ctx, &moderatov1.ListChannelsRequest{CategoryId: []int64{c.categories[of]}})
		}},
		{"the count of channels", "channel_counts", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListChannels(ctx, &moderatov1.ListChannelsRequest{CategoryId: []int64{c.categories[of]}})
		}},
		{"clips", "c.clip_url", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListClips(ctx, &moderatov1.ListClipsRequest{ChannelId: of.String()})
		}},
		{"VODs", "c.ended_at", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListVods(ctx, &moderatov1.ListVodsRequest{ChannelId: of.String()})
		}},
		{"activities", "FROM activities", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListActivities(ctx, &moderatov1.ListActivitiesRequest{ChannelId: of.String()})
		}},
		{"log", "e.payload", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return (&moderation.Service{Store: s.Store}).ListLog(ctx, &moderatov1.ListLogRequest{ChannelId: of.String(), Type: []string{"channel.ban", "channel.unban"}})
		}},
		{"stats", "c.viewer_count FROM channels", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.GetStats(ctx, &moderatov1.GetStatsRequest{ChannelId: of.String()})
		}},
		{"live stats", "c.live_started_at", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.GetLiveStats(ctx, &moderatov1.GetLiveStatsRequest{ChannelId: of.String()})
		}},
		{"moderators", "JOIN roles", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			return s.ListMods(ctx, &moderatov1.ListModsRequest{ChannelId: of.String()})
		}},
		{"sender", "message_generations", func(ctx context.Context, s *service, of uid.ID) (any, error) {
			standing, err := chat.ReadSender(ctx, s.Store, of, c.ids[2])
			if err == nil {
				standing.Now = 0
			}
			return standing, err
		}},
	}
}

// TestCoalescedReadsMatchSeparateReads coalesces eight different reads of a
// declared statement. Each must return the same rows in the same order as alone.
func TestCoalescedReadsMatchSeparateReads(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s, gate, c := openShared(t, url)
		for _, r := range sharedReads(c) {
			var alone [free + full]string
			for n, id := range c.ids {
				alone[n] = answered(t, r, s, id)
			}
			if alone[0] == alone[free] {
				t.Fatalf("%s: all answers are %s", r.name, alone[0])
			}
			started := time.Now()
			for inOne := 0; inOne < 2; { // unprepared, and prepared
				if time.Since(started) > time.Minute {
					t.Fatalf("%s: eight never went in one statement", r.name)
				}
				together, most := readTogether(t, s, gate, c, r)
				if together != alone {
					t.Fatalf("%s: got together\n%s\nwant, as alone,\n%s", r.name, strings.Join(together[:], "\n"), strings.Join(alone[:], "\n"))
				}
				if most == full { // the reads started in time to share a statement
					inOne++
				}
			}
		}
	})
}

// As in package coalesce: free is the number of executions in flight before reads wait,
// full the maximum number of batches of a statement.
const free, full = 4, 8

// readTogether starts reads while others are in flight. It returns their results, and
// the maximum number of reads that one statement served.
func readTogether(t *testing.T, s *channels.Service, gate *storetest.Gate, c *some, r shared) (answers [free + full]string, most int) {
	t.Helper()
	held := gate.Shut(r.of)
	var under sync.WaitGroup
	sent := 0
	for n, id := range c.ids {
		under.Go(func() { answers[n] = answered(t, r, s, id) })
		if n < free {
			<-held
			sent++
		}
	}
	for sent < len(answers) {
		parts := 1
		for q := (<-held).Text; strings.Contains(q, fmt.Sprintf("(SELECT %d, ", parts)); {
			parts++
		}
		sent, most = sent+parts, max(most, parts)
	}
	gate.Open()
	under.Wait()
	return answers, most
}

// openShared opens a store with a crowd, and reads the first pages of some channels.
func openShared(t *testing.T, url store.URL) (s *channels.Service, gate *storetest.Gate, c *some) {
	t.Helper()
	filled, _ := openRecorded(t, url)
	servertest.Import(t, filled, servertest.World()...)
	fillCrowd(t, filled)
	exec(t, filled, `INSERT IGNORE INTO roles (id, channel_id, user_id, role, created_at)
		SELECT CAST(LEFT(SHA2(CONCAT(c.id, u.id), 256), 16) AS BINARY(16)), c.id, u.id, 'moderator', u.created_at
		FROM channels c JOIN channels u ON u.id < c.id`)
	gate = &storetest.Gate{}
	opened, err := store.OpenWith(t.Context(), url, store.Options{Layer: gate.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	s = newService(opened)
	c = &some{categories: map[uid.ID]int64{}, followers: map[uid.ID]*moderatov1.ListFollowersResponse{}}
	err = store.QueryEach(t.Context(), opened.Read, fmt.Sprintf("SELECT channel_id FROM follows GROUP BY channel_id HAVING COUNT(*) > 50 ORDER BY channel_id LIMIT %d", free+full), nil,
		func(scan func(...any) error) error {
			var id uid.ID
			defer func() { c.ids = append(c.ids, id) }()
			return scan(&id)
		})
	if err != nil {
		t.Fatal(err)
	}
	for n, id := range c.ids {
		category := int64(n + 10)
		exec(t, filled, "UPDATE channels SET category_id = ?, follower_count = ?, is_live = 1, live_started_at = ? WHERE id = ?", category, n, n, id)
		exec(t, filled, "INSERT INTO channel_counts (id, count) VALUES (?, ?)", 2*category, n+1)
		c.categories[id] = category
		if c.followers[id], err = s.ListFollowers(as(id), &moderatov1.ListFollowersRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	fillLogs(t, filled, c.ids, someUsers(t, filled, 50))
	return s, gate, c
}

// answered returns the result of a read in one line.
func answered(t *testing.T, r shared, s *channels.Service, of uid.ID) string {
	answer, err := r.read(inTime{as(of)}, s, of)
	if err != nil {
		t.Errorf("%s: %v", r.name, err)
		return ""
	}
	line, err := json.Marshal(answer)
	if m, ok := answer.(proto.Message); ok {
		return protojson.Format(m)
	}
	if err != nil {
		t.Errorf("%s: %v", r.name, err)
	}
	return string(line)
}
