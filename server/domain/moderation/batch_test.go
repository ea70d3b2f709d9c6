package moderation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const bansPath = "/v1/moderation/bans"

// targets returns the field users of a batch.
func targets(users ...uid.ID) string {
	list := make([]string, len(users))
	for i, id := range users {
		list[i] = `{"userId":"` + id.String() + `"}`
	}
	return `"users":[` + strings.Join(list, ",") + `]`
}

// data decodes the data of a response over REST.
func data(t *testing.T, r servertest.Response) map[string]any {
	t.Helper()
	var body struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Status != 200 {
		t.Fatalf("%d %s (%v)", r.Status, r.Body, err)
	}
	return body.Data
}

// TestBatchReturnsAStatusForEachUser bans users of every kind over REST, first in a dry run.
func TestBatchReturnsAStatusForEachUser(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		banned := d.newUser()
		d.mustBan(servertest.Owner, banned)
		lapsed := d.newUser()
		d.banFor(servertest.Owner, lapsed, 1, "")
		d.Store.Clock.Freeze(start.Add(time.Second))
		before := len(d.events())
		users := fmt.Sprintf(`"users":[{"username":"AMARA.okafor"},{"userId":%q},{"username":"lootgoblin77"},{"userId":%q},{"userId":%q},{"username":"@tomasz_wrona"},`+
			`{"userId":%q},{"username":"nobody"},{"userId":%q},{"userId":%q},{"userId":%q},{"userId":"x"},{"username":"nämé"},{"username":"nämé"}]`,
			banned, servertest.Raider, servertest.Owner, servertest.Nobody, strings.ToUpper(servertest.Viewer.String()), lapsed, servertest.Owner)
		result := func(id, username any, status string) any {
			return map[string]any{"userId": id, "username": username, "status": status}
		}
		name := func(id uid.ID) string { return "u" + strings.ReplaceAll(id.String(), "-", "") }
		want := map[string]any{
			"batchId": nil,
			"counts":  map[string]any{"banned": 4.0, "alreadyBanned": 1.0, "userNotFound": 2.0, "targetIsChannel": 1.0, "duplicate": 3.0, "extended": 0.0, "invalid": 3.0},
			"results": []any{
				result(servertest.Viewer.String(), "amara.okafor", "BANNED"), result(banned.String(), name(banned), "ALREADY_BANNED"),
				result(servertest.Raider.String(), "LootGoblin77", "BANNED"), result(servertest.Raider.String(), "LootGoblin77", "DUPLICATE"),
				result(servertest.Owner.String(), "Ines", "TARGET_IS_CHANNEL"), result(servertest.Moderator.String(), "tomasz_wrona", "BANNED"),
				result(servertest.Nobody.String(), nil, "USER_NOT_FOUND"), result(nil, "nobody", "USER_NOT_FOUND"),
				result(servertest.Viewer.String(), "amara.okafor", "DUPLICATE"), result(lapsed.String(), name(lapsed), "BANNED"),
				result(servertest.Owner.String(), "Ines", "DUPLICATE"),
				result(nil, nil, "INVALID"), result(nil, nil, "INVALID"), result(nil, nil, "INVALID"),
			},
		}
		body := users + `,"reason":"raid","durationSeconds":3600`
		got := data(t, d.REST(t, d.creds[servertest.Moderator], "POST", bansPath, channelBody(body+`,"dryRun":true`)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dry run (-want +got):\n%s", diff)
		}
		for _, e := range d.events()[before:] {
			if e.Type != "channel.unban" { // the expirer may announce the lapse meanwhile
				t.Errorf("the dry run emitted %s", e.Type)
			}
		}
		got = data(t, d.REST(t, d.creds[servertest.Moderator], "POST", bansPath, channelBody(body)))
		batch, _ := got["batchId"].(string)
		want["batchId"] = batch
		if diff := cmp.Diff(want, got); diff != "" || uid.MustParse(batch).IsZero() {
			t.Errorf("batch (-want +got):\n%s", diff)
		}
		end := start.Add(time.Hour + time.Second).String()
		var order []uid.ID
		for _, e := range d.events()[before:] {
			if e.Type == "channel.unban" {
				continue
			}
			fields := payload(t, e)
			if e.Type == "channel.ban" {
				order = append(order, *e.TargetID)
				if fields["cause"] != "batch" || fields["batchId"] != batch || fields["reason"] != "raid" || fields["expiresAt"] != end {
					t.Errorf("the event is %v", fields)
				}
			} else if *e.TargetID != order[len(order)-1] || e.Type != "channel.chat.clear_user_messages" {
				t.Errorf("%s of %s follows the ban of %s", e.Type, e.TargetID, order[len(order)-1])
			}
		}
		if diff := cmp.Diff([]uid.ID{servertest.Viewer, servertest.Raider, servertest.Moderator, lapsed}, order); diff != "" {
			t.Errorf("order of the events (-want +got):\n%s", diff)
		}
		_, err := d.ban(servertest.Moderator, d.newUser())
		wantReason(t, err, "NOT_CHANNEL_MODERATOR") // the batch banned its own moderator
	})
}

// TestInvalidBatches sends batches and undos that are refused and change nothing.
func TestInvalidBatches(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		some := servertest.AddUsers(t, d.Store, 3)
		ours := d.banAll(servertest.Owner, some[0]).GetBatchId()
		before := len(d.events())
		many := make([]uid.ID, 1001)
		for i := range many {
			many[i] = uid.New()
		}
		user := `"userId":"` + some[1].String() + `"`
		for _, c := range []struct{ method, fields, want string }{
			{"POST", `"users":[]`, `"field":"users"`},
			{"POST", `"reason":"x"`, `"field":"users"`},
			{"POST", targets(many...), `"field":"users"`},
			{"POST", `"users":[{}]`, `"field":"users[0]","description":"must be an object with userId or username"`},
			{"POST", `"users":[{` + user + `},{` + user + `,"username":"x"}]`, `"field":"users[1].userId"`},
			{"POST", targets(some[1]) + `,"reason":"` + strings.Repeat("x", 501) + `"`, `"field":"reason"`},
			{"POST", targets(some[1]) + `,"durationSeconds":0`, `"field":"durationSeconds"`},
			{"POST", targets(some[1]) + `,"durationSeconds":1209601`, `"field":"durationSeconds"`},
			{"DELETE", `"batchId":"x"`, `"field":"batchId"`},
			{"DELETE", `"restoreMessages":true`, `"field":"batchId"`},
			{"DELETE", `"batchId":"` + servertest.Nobody.String() + `"`, `"code":"BATCH_NOT_FOUND"`},
		} {
			r := d.REST(t, d.creds[servertest.Owner], c.method, bansPath, channelBody(c.fields))
			status := 400
			if strings.Contains(c.want, "BATCH_NOT_FOUND") {
				status = 404
			}
			if r.Status != status || !strings.Contains(r.Body, c.want) {
				t.Errorf("%s %.80s: got %d %.300s, want %s", c.method, c.fields, r.Status, r.Body, c.want)
			}
		}
		_, err := d.Moderation.UndoBanBatch(d.creds[servertest.Other].Context(),
			&moderatov1.UndoBanBatchRequest{ChannelId: servertest.Other.String(), BatchId: ours})
		wantReason(t, err, "BATCH_NOT_FOUND") // of another channel
		_, err = d.Moderation.UndoBanBatch(d.creds[servertest.Viewer].Context(),
			&moderatov1.UndoBanBatchRequest{ChannelId: servertest.Owner.String(), BatchId: ours})
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		if r := d.REST(t, d.creds[servertest.Viewer], "GET", bansPath+"?channelId="+servertest.Owner.String(), ""); r.Status != 403 {
			t.Errorf("the list for a viewer: %d %s", r.Status, r.Body)
		}
		if len(d.events()) != before || !d.standing(some[0]).GetIsBanned() || d.standing(some[1]).GetIsBanned() {
			t.Error("a refused call changed something")
		}
	})
}

// TestLargestBatch bans 1,000 users by name, with the longest names, and undoes it.
func TestLargestBatch(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		users := servertest.AddUsers(t, d.Store, 1000)
		var list []string
		for _, id := range users {
			list = append(list, `{ "username" : "u`+strings.ReplaceAll(id.String(), "-", "")+`" }`+strings.Repeat(" ", 60))
		}
		got := data(t, d.REST(t, d.creds[servertest.Moderator], "POST", bansPath, channelBody(`"users":[`+strings.Join(list, ",")+`]`)))
		if counts, _ := got["counts"].(map[string]any); counts["banned"] != 1000.0 {
			t.Fatalf("the counts are %v", got["counts"])
		}
		again := d.banAll(servertest.Owner, users...)
		if again.BatchId != nil || again.GetCounts().GetAlreadyBanned() != 1000 {
			t.Errorf("repeated: %v", again.GetCounts())
		}
		undone := d.undo(got["batchId"].(string), true)
		for i, row := range undone.GetResults() {
			if row.GetUserId() != users[i].String() || row.GetStatus() != "UNBANNED" {
				t.Fatalf("result %d of the undo is %v", i, row)
			}
		}
		if n := len(d.events()); n != 3000 || len(undone.GetResults()) != 1000 {
			t.Errorf("%d events and %d results", n, len(undone.GetResults()))
		}
	})
}

// TestConcurrentBanSeesAllOfABatchOrNothing bans the same users singly and as a batch at
// once, through two servers. Each user is banned by one of them.
func TestConcurrentBanSeesAllOfABatchOrNothing(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		o := newOrders(t, url)
		for range 5 {
			users := servertest.AddUsers(t, o.servers[0].Store, 20)
			var group sync.WaitGroup
			var batch *moderatov1.BanUsersResponse
			single := map[uid.ID]*moderatov1.BanUserResponse{}
			group.Go(func() {
				for _, id := range []uid.ID{users[3], users[17], users[9]} {
					single[id] = o.servers[0].mustBan(servertest.Moderator, id)
				}
			})
			group.Go(func() { batch = o.servers[1].banAll(servertest.Owner, users...) })
			group.Wait()
			byBatch := false // once a single ban sees the batch, all later ones do
			for _, id := range []uid.ID{users[3], users[17], users[9]} {
				isOfBatch := single[id].GetModeratorId() == servertest.Owner.String()
				if byBatch && !isOfBatch {
					t.Error("a ban saw a part of the batch")
				}
				byBatch = isOfBatch
			}
			if sum := int(batch.GetCounts().GetBanned() + batch.GetCounts().GetAlreadyBanned()); sum != len(users) {
				t.Errorf("the batch is %v", batch.GetCounts())
			}
		}
		o.servers[0].events() // checks that the sequence has no gap
	})
}

// TestBatchSurvivesLostCommit loses the connection in COMMIT. The batch is applied and
// undone once, and the answer is its own.
func TestBatchSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.mustPost(servertest.Raider, "hello")
		for _, cuts := range [][]storetest.Cut{
			{storetest.BeforeCommit}, {storetest.AfterCommit}, {storetest.BeforeCommit, storetest.AfterCommit},
		} {
			before := len(d.events())
			cutter.CutNext("server/change.", cuts...)
			r := d.banAll(servertest.Owner, servertest.Raider, servertest.Viewer)
			if r.BatchId == nil || r.GetCounts().GetBanned() != 2 || cutter.Made() != len(cuts) {
				t.Errorf("%v: the batch is %v after %d cuts", cuts, r, cutter.Made())
			}
			cutter.CutNext("server/change.", cuts...)
			if u := d.undo(r.GetBatchId(), true); u.GetCounts().GetUnbanned() != 2 || cutter.Made() != len(cuts) {
				t.Errorf("%v: the undo is %v after %d cuts", cuts, u, cutter.Made())
			}
			d.wantVisible("hello")
			if n := len(d.events()) - before; n != 6 {
				t.Errorf("%v: %d events, want 6", cuts, n)
			}
		}
	})
}

// TestListOfBatches lists batches with how many of their users are still banned.
func TestListOfBatches(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		users := servertest.AddUsers(t, d.Store, 4)
		first := d.banAll(servertest.Moderator, users[:3]...)
		d.Store.Clock.Freeze(start.Add(time.Second))
		r, err := d.Moderation.BanUsers(d.creds[servertest.Owner].Context(), &moderatov1.BanUsersRequest{
			ChannelId: servertest.Owner.String(), Reason: new("raid"), DurationSeconds: new(int64(60)),
			Users: []*moderatov1.BatchTarget{{UserId: users[3].String()}, {UserId: users[0].String()}},
		})
		wantReason(t, err, "OK")
		wantReason(t, d.unban(servertest.Owner, users[1]), "OK")
		d.mustBan(servertest.Owner, users[1])
		path := bansPath + "?limit=1&channelId=" + servertest.Owner.String()
		page := data(t, d.REST(t, d.creds[servertest.Moderator], "GET", path, ""))
		by := func(id uid.ID, name, slug string) any {
			return map[string]any{"id": id.String(), "displayName": name, "slug": slug}
		}
		want := []any{map[string]any{
			"batchId": r.GetBatchId(), "createdAt": start.Add(time.Second).String(), "bannedBy": by(servertest.Owner, "Inês Carvalho", "ines"),
			"reason": "raid", "expiresAt": start.Add(61 * time.Second).String(), "bannedCount": 1.0, "stillBannedCount": 1.0, "afterglowEndsAt": nil,
		}}
		if diff := cmp.Diff(want, page["rows"]); diff != "" {
			t.Errorf("first page (-want +got):\n%s", diff)
		}
		cursor := page["pagination"].(map[string]any)["cursor"].(string)
		want = []any{map[string]any{
			"batchId": first.GetBatchId(), "createdAt": start.String(), "bannedBy": by(servertest.Moderator, "Tomasz Wrona", "tomasz_wrona"),
			"reason": nil, "expiresAt": nil, "bannedCount": 3.0, "stillBannedCount": 2.0, "afterglowEndsAt": nil,
		}}
		page = data(t, d.REST(t, d.creds[servertest.Moderator], "GET", path+"&cursor="+cursor, ""))
		if diff := cmp.Diff(want, page["rows"]); diff != "" {
			t.Errorf("second page (-want +got):\n%s", diff)
		}
		undone := d.undo(first.GetBatchId(), false)
		statuses := []string{}
		for _, row := range undone.GetResults() {
			statuses = append(statuses, row.GetStatus())
		}
		if diff := cmp.Diff([]string{"UNBANNED", "CHANGED", "UNBANNED"}, statuses); diff != "" {
			t.Errorf("undo (-want +got):\n%s", diff)
		}
		for _, end := range d.ends()[1:] {
			if end["cause"] != "batch" || end["batchId"] != first.GetBatchId() {
				t.Errorf("the event is %v", end)
			}
		}
	})
}
