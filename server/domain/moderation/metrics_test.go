package moderation_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent/channelmetric"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const metricsPath = "/v1/moderation/metrics"

// writeMetrics writes what a server counted.
func writeMetrics(t testing.TB, s *store.Store) {
	t.Helper()
	if _, err := (&moderation.Service{Store: s}).MetricsJob().Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// metrics returns the intervals of the channel that a query selects, as the moderator reads them.
func (d *drive) metrics(query url.Values) []map[string]any {
	d.t.Helper()
	query.Set("channelId", servertest.Owner.String())
	page := d.find(d.creds[servertest.Moderator], metricsPath, query)
	if page.Code != "" {
		d.t.Fatalf("%s: got %s", query.Encode(), page.Code)
	}
	return page.Rows
}

// bucket returns an interval as REST shows it.
func bucket(at instant.Instant, counts map[string]any) map[string]any {
	row := map[string]any{
		"startedAt": at.String(), "messages": 0.0, "firstMessages": 0.0, "follows": 0.0, "bans": 0.0, "mutes": 0.0, "held": 0.0, "viewers": nil,
	}
	for name, n := range counts {
		row[name] = n
	}
	return row
}

// wantMetrics checks the latest n minutes of the channel, of which the last begins at an instant.
func (d *drive) wantMetrics(last instant.Instant, counts ...map[string]any) {
	d.t.Helper()
	writeMetrics(d.t, d.Store)
	var want []map[string]any
	first := last.Add(-time.Duration(len(counts)-1) * time.Minute)
	for i, n := range counts {
		want = append(want, bucket(first.Add(time.Duration(i)*time.Minute), n))
	}
	if diff := cmp.Diff(want, d.metrics(url.Values{"since": {first.String()}})); diff != "" {
		d.t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func (d *drive) must(_ any, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// A minute in which the tests of metrics count, long enough ago for nothing else to happen in it.
func metricsMinute(t *testing.T, s *store.Store) instant.Instant {
	t.Helper()
	now, err := s.Clock.Now(t.Context(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	return (now - now%60_000).Add(time.Hour)
}

// TestMetricsCountWhatHappened counts each thing in the way that it happens most often, and in the
// other ways.
func TestMetricsCountWhatHappened(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		users, minute := addUsers(t, d.Server, 12), metricsMinute(t, d.Store)
		channel := servertest.Owner.String()
		d.Store.Clock.Freeze(minute.Add(3 * time.Second))
		d.mustPost(users[0], "hello")
		d.mustPost(users[0], "again")
		d.mustPost(users[1], "hello")
		ban := d.mustBan(servertest.Moderator, users[2])
		d.must(d.Moderation.BanUser(d.creds[servertest.Moderator].Context(), &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: ban.GetBannedUserId()})) // in force already
		wantReason(t, d.post(users[2], "hello"), "USER_BANNED")
		d.Store.Clock.Freeze(minute.Add(59 * time.Second))
		d.banAll(servertest.Owner, users[3], users[4], users[2])
		d.mustMute(servertest.Moderator, users[1]) // deletes a message
		for range 2 {
			d.must(d.Audience.Follow(d.chat.Context(), &platformv1.FollowRequest{ChannelId: channel, UserId: users[5].String()}))
		}
		d.must(d.Streams.StartStream(d.chat.Context(), &platformv1.StartStreamRequest{ChannelId: channel}))
		for _, viewers := range []int64{300, 900, 500} {
			d.must(d.Streams.UpdateStream(d.chat.Context(), &platformv1.UpdateStreamRequest{ChannelId: channel, ViewerCount: &viewers}))
		}

		d.Store.Clock.Freeze(minute.Add(time.Minute))
		for _, user := range users[6:9] {
			d.mustPost(user, "free sub")
		}
		d.mustCommit(d.mustPreview().GetSweepToken(), glowing(60))
		wantReason(t, d.post(users[9], "free sub"), "USER_BANNED")
		d.Load(t, &platformv1.Record{Kind: &platformv1.Record_Ban{Ban: &platformv1.BanRecord{
			ChannelId: channel, UserId: users[10].String(), ModeratorId: channel, BannedAt: minute.Proto(),
		}}})
		d.wantMetrics(minute.Add(time.Minute),
			map[string]any{"messages": 3.0, "firstMessages": 2.0, "bans": 3.0, "mutes": 1.0, "follows": 1.0, "viewers": 900.0},
			map[string]any{"messages": 3.0, "firstMessages": 3.0, "bans": 4.0})

		d.Store.Clock.Freeze(minute.Add(29 * 24 * time.Hour))
		d.mustPost(users[0], "back")
		d.Store.Clock.Freeze(minute.Add(61 * 24 * time.Hour))
		d.mustPost(users[0], "back after a month")
		d.wantMetrics(minute.Add(61*24*time.Hour), map[string]any{"messages": 1.0, "firstMessages": 1.0})
	})
}

// TestMetricsSurviveLostCommits loses the connection in COMMIT, of changes and of the metrics. Each
// thing counts once.
func TestMetricsSurviveLostCommits(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d, minute := newDrive(t, s), metricsMinute(t, s.Store)
		s.Store.Clock.Freeze(minute)
		all := addUsers(t, d.Server, 12)
		for i, cuts := range [][]storetest.Cut{{storetest.BeforeCommit}, {storetest.AfterCommit}, {storetest.BeforeCommit, storetest.AfterCommit}} {
			users := all[4*i:]
			cutter.CutNext("server/change.", cuts...)
			d.mustBan(servertest.Owner, users[0])
			cutter.CutNext("server/change.", cuts...)
			d.banAll(servertest.Owner, users[1], users[2])
			cutter.CutNext("server/change.", cuts...)
			d.mustMute(servertest.Owner, users[3])
		}
		d.mustPost(servertest.Viewer, "hello")
		writing := (&moderation.Service{Store: s.Store}).MetricsJob()
		cutter.CutNext("moderation.replaceMetrics", storetest.AfterCommit, storetest.BeforeCommit)
		if _, err := writing.Run(t.Context()); err != nil || cutter.Made() != 2 {
			t.Errorf("the write got %v after %d cuts", err, cutter.Made())
		}
		d.mustPost(servertest.Viewer, "again")
		d.wantMetrics(minute, map[string]any{"messages": 2.0, "firstMessages": 1.0, "bans": 9.0, "mutes": 3.0})
	})
}

// TestMetricsOfSeveralServers reads what two servers counted. One of them writes when it stops.
func TestMetricsOfSeveralServers(t *testing.T) {
	storetest.EachServer(t, func(t *testing.T, url store.URL) {
		s := servertest.Start(t, servertest.Config(url))
		s.Load(t, servertest.World()...)
		other := newDrive(t, servertest.Start(t, servertest.Config(url)))
		d, minute := newDrive(t, s), metricsMinute(t, s.Store)
		s.Store.Clock.Freeze(minute)
		other.Store.Clock.Freeze(minute)
		d.mustPost(servertest.Viewer, "hello")
		other.mustPost(servertest.Viewer, "again")
		other.mustBan(servertest.Moderator, servertest.Raider)
		other.Stop(t)
		d.wantMetrics(minute, map[string]any{"messages": 2.0, "firstMessages": 1.0, "bans": 1.0})
	})
}

// TestStoppedServerWritesMetrics checks the metrics that a server has not written yet.
func TestStoppedServerWritesMetrics(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	s := servertest.Start(t, servertest.Config(url))
	s.Load(t, servertest.World()...)
	d, minute := newDrive(t, s), metricsMinute(t, s.Store)
	writeMetrics(t, s.Store)
	s.Store.Clock.Freeze(minute)
	d.mustPost(servertest.Viewer, "hello")
	s.Stop(t)
	after := servertest.Start(t, servertest.Config(url))
	n, err := after.Store.Read.ChannelMetric.Query().Where(channelmetric.StartedAt(minute), channelmetric.Messages(1)).Count(t.Context())
	if err != nil || n != 2 { // for 5 and for 60 seconds
		t.Errorf("there are %d rows (%v), want 2", n, err)
	}
}

// addMetrics stores counters of the channel for intervals of 5 and 60 seconds.
func addMetrics(t testing.TB, s *store.Store, from, to instant.Instant, servers int) {
	t.Helper()
	for _, seconds := range []int{5, 60} {
		query := fmt.Sprintf(`INSERT INTO channel_metrics (id, channel_id, seconds, started_at, messages, first_messages, follows, bans, mutes, held, viewers)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT %s, ?, %d, ? + i / %d * %d, %d, 0, 0, 0, 0, 0, i FROM n`,
			int64(servers)*(to.Sub(from).Milliseconds()/int64(seconds*1000))-1, randomID(s), seconds, servers, seconds*1000, seconds)
		if !storetest.IsSQLite(s) {
			query = strings.Replace(query, "i / ", "i DIV ", 1)
		}
		if _, err := s.DB().ExecContext(t.Context(), query, servertest.Owner, from); err != nil {
			t.Fatal(err)
		}
	}
}

func randomID(s *store.Store) string {
	if storetest.IsSQLite(s) {
		return "randomblob(16)"
	}
	return "UNHEX(REPLACE(UUID(), '-', ''))"
}

// TestMetricsOfLongTimes reads the intervals that a query selects.
func TestMetricsOfLongTimes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		minute := metricsMinute(t, d.Store)
		now := minute.Add(7 * time.Second)
		d.Store.Clock.Freeze(now)
		addMetrics(t, d.Store, minute.Add(-30*time.Minute), minute.Add(time.Minute), 2)
		for _, c := range []struct {
			since    string
			step     int
			first    instant.Instant
			rows     int
			messages float64 // of the first and the last row
			last     float64
		}{
			{"", 0, minute.Add(-59 * time.Minute), 60, 0, 120},
			{"", 5, minute.Add(-290 * time.Second), 60, 10, 10},
			{minute.Add(-time.Minute + time.Millisecond).String(), 60, minute.Add(-time.Minute), 2, 120, 120},
			{minute.Add(-time.Minute - time.Millisecond).String(), 60, minute.Add(-2 * time.Minute), 3, 120, 120},
			{minute.Add(-25 * time.Minute).String(), 5, minute.Add(-25 * time.Minute), 302, 10, 10},
			{minute.Add(-time.Hour).String(), 5, minute.Add(-time.Hour), 500, 0, 10}, // the oldest 500
			{now.Add(time.Hour).String(), 60, 0, 0, 0, 0},
			{"2001-02-03T04:05:06Z", 3600, minute - minute%3_600_000 - 191*3_600_000, 192, 0, -1},
			{"2001-02-03T04:05:06Z", 60, (now - now%60_000).Add(-8*24*time.Hour + time.Minute), 500, 0, 0},
		} {
			query := url.Values{}
			if c.since != "" {
				query.Set("since", c.since)
			}
			if c.step != 0 {
				query.Set("stepSeconds", fmt.Sprint(c.step))
			}
			rows := d.metrics(query)
			if len(rows) != c.rows {
				t.Errorf("%v: %d rows, want %d", query, len(rows), c.rows)
				continue
			}
			if len(rows) == 0 {
				continue
			}
			first, last := rows[0], rows[len(rows)-1]
			if first["startedAt"] != c.first.String() || first["messages"] != c.messages || c.last >= 0 && last["messages"] != c.last {
				t.Errorf("%v: from %v to %v, want from %s with %v and %v messages", query, first, last, c.first, c.messages, c.last)
			}
		}
	})
}

// TestMetricsAreForModerators checks who may read the metrics, and the bounds of a step.
func TestMetricsAreForModerators(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		narrow := d.Token(t, authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}})
		for _, c := range []struct {
			as      servertest.Credentials
			channel uid.ID
			step    string
			want    string
		}{
			{d.creds[servertest.Owner], servertest.Owner, "5", ""},
			{d.creds[servertest.Moderator], servertest.Owner, "3600", ""},
			{d.chat, servertest.Owner, "60", ""},
			{d.creds[servertest.Viewer], servertest.Owner, "60", "NOT_CHANNEL_MODERATOR"},
			{d.AsApp(t), servertest.Owner, "60", "TOKEN_KIND_NOT_ACCEPTED"},
			{narrow, servertest.Owner, "60", "SCOPE_MISSING"},
			{d.chat, servertest.Nobody, "60", "CHANNEL_NOT_FOUND"},
			{d.creds[servertest.Owner], servertest.Owner, "4", "INVALID_ARGUMENT"},
			{d.creds[servertest.Owner], servertest.Owner, "3601", "INVALID_ARGUMENT"},
		} {
			got := d.find(c.as, metricsPath, url.Values{"channelId": {c.channel.String()}, "stepSeconds": {c.step}})
			if got.Code != c.want {
				t.Errorf("channel %s, step %s: got %q, want %q", c.channel, c.step, got.Code, c.want)
			}
		}
	})
}

// TestMetricsAreReadByIndex checks that a read sorts nothing and reads only the index.
func TestMetricsAreReadByIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		d.metrics(map[string][]string{})
		found := false
		for _, q := range recorder.Sent() {
			if !strings.Contains(q.Text, "SUM(messages)") {
				continue
			}
			found = true
			plan := storetest.Explain(t, d.Store, q)
			if !strings.Contains(plan, "channelmetric_channel_id_seconds_started_at") || strings.Contains(plan, "TEMP B-TREE") ||
				strings.Contains(plan, "filesort") || strings.Contains(plan, "temporary") ||
				!strings.Contains(plan, "COVERING INDEX") && !strings.Contains(plan, "Using index") {
				t.Errorf("the plan is\n%s", plan)
			}
		}
		if !found {
			t.Error("no statement reads the metrics")
		}
	})
}

// TestOldMetricsAreRemoved runs the job that removes metrics after 8 days.
func TestOldMetricsAreRemoved(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	now := metricsMinute(t, s.Store)
	s.Store.Clock.Freeze(now)
	old := now.Add(-8 * 24 * time.Hour)
	addMetrics(t, s.Store, old.Add(-time.Minute), old.Add(time.Minute), 1)
	for _, table := range moderation.Tables {
		if table.Name == "channel_metrics" {
			if _, err := table.Expire(tables.Env{Store: s.Store}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept, err := s.Store.Read.ChannelMetric.Query().Count(t.Context())
	first, firstErr := s.Store.Read.ChannelMetric.Query().Order(channelmetric.ByStartedAt()).First(t.Context())
	if err != nil || firstErr != nil || kept != 13 || first.StartedAt != old {
		t.Errorf("%d rows are kept (%v, %v), the first at %v; want 13 from %s on", kept, err, firstErr, first, old)
	}
}

// BenchmarkMetrics reads as many intervals as possible of 8 days, in which three servers counted.
func BenchmarkMetrics(b *testing.B) {
	storetest.EachBench(b, func(b *testing.B, url store.URL) {
		s := servertest.Start(b, servertest.Config(url))
		s.Load(b, servertest.World()...)
		now := instant.Instant(time.Now().UnixMilli() / 60_000 * 60_000)
		addMetrics(b, s.Store, now.Add(-8*24*time.Hour), now, 3)
		ctx, channel := s.As(b, servertest.Owner).Context(), servertest.Owner.String()
		for _, step := range []int64{5, 60, 900, 1380, 3600, 1385} {
			b.Run(fmt.Sprint(step), func(b *testing.B) {
				since := max(now.Add(-8*24*time.Hour), now.Add(-time.Duration(500*step)*time.Second))
				for b.Loop() {
					_, err := s.Moderation.GetMetrics(ctx, &moderatov1.GetMetricsRequest{ChannelId: channel, Since: since.Proto(), StepSeconds: &step})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
