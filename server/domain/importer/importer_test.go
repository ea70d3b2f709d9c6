package importer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/test/servertest"
)

var newcomer = uid.MustParse("0b6feeee-0000-4000-8000-000000000001")

func TestInvalidLineStopsImportWithNumberAndReason(t *testing.T) {
	owner, viewer := servertest.Owner.String(), servertest.Viewer.String()
	cases := map[string]struct{ line, want string }{
		"not JSON":                 {`{"user": `, "JSON"},
		"two records":              {`{"user": {}, "client": {}}`, "only one of"},
		"no record":                {`{}`, "its only key must be one of category, user, channel, role, message, client, grant, follow, subscription"},
		"kind of no version":       {`{"banana": {}}`, "banana"},
		"unknown field":            {`{"user": {"id": "` + viewer + `", "nickname": "x"}}`, "user.nickname"},
		"wrong type":               {`{"client": {"id": "x", "name": "x", "service": "yes"}}`, "client.service"},
		"missing id":               {`{"user": {"username": "x"}}`, "id is required"},
		"malformed id":             {`{"user": {"id": "x", "username": "x"}}`, "id must be a UUID"},
		"bad username":             {`{"user": {"id": "` + viewer + `", "username": "a b"}}`, "username must be 1 to 40 of"},
		"taken username":           {`{"user": {"id": "` + newcomer.String() + `", "username": "INES"}}`, "Another user has this username; choose another one."},
		"title too long":           {`{"channel": {"id": "` + owner + `", "title": "` + strings.Repeat("x", 141) + `"}}`, "title must be 1 to 140 characters"},
		"no language":              {`{"channel": {"id": "` + owner + `", "title": "x", "lang": "english please"}}`, "lang must be a BCP 47"},
		"unknown category":         {`{"channel": {"id": "` + owner + `", "title": "x", "categoryId": 99}}`, "There is no category with this id; GET /v1/categories lists the categories."},
		"channel of no user":       {`{"channel": {"id": "` + servertest.Nobody.String() + `", "title": "x"}}`, "There is no such user; check the id or the username."},
		"role of no user":          {`{"role": {"channelId": "` + owner + `", "userId": "` + servertest.Nobody.String() + `", "role": "vip"}}`, "There is no such user; check the id or the username."},
		"role in no channel":       {`{"role": {"channelId": "` + viewer + `", "userId": "` + owner + `", "role": "vip"}}`, "There is no channel with this id; the id of a channel is the user id of its owner."},
		"role of the owner":        {`{"role": {"channelId": "` + owner + `", "userId": "` + owner + `", "role": "vip"}}`, "The operation does not apply to the owner of the channel; name another user."},
		"unknown role":             {`{"role": {"channelId": "` + owner + `", "userId": "` + viewer + `", "role": "king"}}`, "role must be one of moderator, vip, og"},
		"message without its time": {`{"message": {"id": "` + newcomer.String() + `", "channelId": "` + owner + `", "userId": "` + viewer + `", "text": "x"}}`, "sentAt is required"},
		"message of a bad time":    {`{"message": {"sentAt": "yesterday"}}`, "message.sentAt"},
		"grant of an unknown scope": {
			`{"grant": {"clientId": "dashboard", "userId": "` + viewer + `", "scopes": ["all"]}}`, "scopes[0] must be one of users.read",
		},
		"grant to no client":                      {`{"grant": {"clientId": "nobody", "userId": "` + viewer + `", "scopes": []}}`, "nobody"},
		"follow of the own channel":               {`{"follow": {"channelId": "` + owner + `", "userId": "` + owner + `"}}`, "The operation does not apply to the owner of the channel; name another user."},
		"follow of no channel":                    {`{"follow": {"channelId": "` + viewer + `", "userId": "` + owner + `"}}`, "There is no channel with this id; the id of a channel is the user id of its owner."},
		"follow of no user":                       {`{"follow": {"channelId": "` + owner + `", "userId": "` + servertest.Nobody.String() + `"}}`, "There is no such user; check the id or the username."},
		"follow without a user":                   {`{"follow": {"channelId": "` + owner + `"}}`, "userId is required"},
		"subscription without an end":             {`{"subscription": {"channelId": "` + owner + `", "userId": "` + viewer + `"}}`, "expiresAt is required"},
		"subscription that ends before it begins": {`{"subscription": {"channelId": "` + owner + `", "userId": "` + viewer + `", "subscribedAt": "2026-02-01T00:00:00Z", "expiresAt": "2026-01-01T00:00:00Z"}}`, "expiresAt must be after subscribedAt"},
		"subscription renewed below 0":            {`{"subscription": {"channelId": "` + owner + `", "userId": "` + viewer + `", "expiresAt": "2036-01-01T00:00:00Z", "renewCount": -1}}`, "renewCount must be 0 to 9007199254740991"},
		"stream without its start":                {`{"stream": {"channelId": "` + owner + `", "title": "x"}}`, "startedAt is required"},
		"stream that ends before it begins":       {`{"stream": {"channelId": "` + owner + `", "title": "x", "startedAt": "2026-02-01T00:00:00Z", "endedAt": "2026-01-01T00:00:00Z"}}`, "endedAt must not be before startedAt"},
		"stream in no category":                   {`{"stream": {"channelId": "` + owner + `", "title": "x", "startedAt": "2026-02-01T00:00:00Z", "categoryId": 99}}`, "There is no category with this id; GET /v1/categories lists the categories."},
		"clip of no creator":                      {`{"clip": {"clipId": "` + viewer + `", "channelId": "` + owner + `", "creatorId": "` + servertest.Nobody.String() + `", "title": "x"}}`, "There is no such user; check the id or the username."},
		"VOD without its times":                   {`{"vod": {"id": "` + viewer + `", "channelId": "` + owner + `", "title": "x"}}`, "vod.startedAt is required; vod.endedAt is required"},
		"vote without an amount":                  {`{"vote": {"id": "` + viewer + `", "channelId": "` + owner + `", "username": "x", "amount": 0}}`, "amount must be 1 or more"},
		"vote of a week below 0":                  {`{"vote": {"id": "` + viewer + `", "channelId": "` + owner + `", "username": "x", "amount": 1, "epoch": -1}}`, "epoch must be 0 or more"},
		"activity of an unknown kind":             {`{"activity": {"channelId": "` + owner + `", "key": "k", "type": "raid", "info": {"userId": "` + viewer + `"}}}`, "type must be one of follower"},
		"activity about nobody":                   {`{"activity": {"channelId": "` + owner + `", "key": "k", "type": "vote", "info": {}}}`, "info.userId is required"},
		"category 0":                              {`{"category": {"id": 0, "name": "x", "slug": "x"}}`, "id must be 1 to 4611686018427387903"},
		"category under no other":                 {`{"category": {"id": 5, "parentId": 99, "name": "x", "slug": "x"}}`, "There is no category with this id; GET /v1/categories lists the categories."},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		importer := importer.Importer{Store: s.Store}
		good := fmt.Sprintf(`{"user": {"id": %q, "username": "newcomer"}}`, newcomer)
		for name, c := range cases {
			text := "\n" + good + "\n" + c.line + "\n" + good + "\n"
			if strings.Contains(name, "taken") {
				text = "\n\n" + c.line + "\n"
			}
			records, err := importer.ImportLines(context.Background(), strings.NewReader(text))
			var line *feed.LineError
			if !errors.As(err, &line) || line.Line != 3 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want line 3 and %q", name, err, c.want)
			}
			if records != 0 {
				t.Errorf("%s: %d records are said to be stored", name, records)
			}
			if there, err := s.Store.Read.User.Query().Where(user.ID(newcomer)).Exist(context.Background()); err != nil || there {
				t.Errorf("%s: the batch of the bad line is stored in part (%v)", name, err)
			}
		}
	})
}

func TestStoppedImportKeepsEarlierBatches(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var text strings.Builder
		for i := range 2500 {
			fmt.Fprintf(&text, `{"category": {"id": %d, "name": "n", "slug": "s"}}`+"\n", i+1)
		}
		text.WriteString("{}\n")
		var progress []int
		importer := importer.Importer{Store: s.Store, Progress: func(n int) { progress = append(progress, n) }}
		records, err := importer.ImportLines(context.Background(), strings.NewReader(text.String()))
		var line *feed.LineError
		if !errors.As(err, &line) || line.Line != 2501 || records != 2000 {
			t.Errorf("got %d records and %v, want 2000 and line 2501", records, err)
		}
		if diff := cmp.Diff([]int{1000, 2000}, progress); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		if n, err := s.Store.Read.Category.Query().Count(context.Background()); err != nil || n != 2000 {
			t.Errorf("%d categories are stored (%v), want 2000", n, err)
		}
	})
}

func TestImportReplacesExistingRecords(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		text := fmt.Sprintf(`{"user": {"id": %q, "username": "Ines-C", "displayName": "Ines"}}
{"client": {"id": "dashboard", "name": "Another name", "service": true}}
{"grant": {"clientId": "dashboard", "userId": %q, "scopes": []}}
`, servertest.Owner, servertest.Viewer)
		importer := importer.Importer{Store: s.Store}
		if _, err := importer.ImportLines(context.Background(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		u, err := s.Store.Read.User.Get(context.Background(), servertest.Owner)
		if err != nil || u.Slug != "ines-c" || u.DisplayName != "Ines" || u.AvatarURL != "" {
			t.Errorf("user: %v (%v)", u, err)
		}
		c, err := s.Store.Read.Application.Get(context.Background(), "dashboard")
		if err != nil || c.Name != "Another name" || !c.Service {
			t.Errorf("client: %v (%v)", c, err)
		}
		g, err := s.Store.Read.Grant.Query().Only(context.Background())
		if err != nil || g.Scopes != "" {
			t.Errorf("grant: %v (%v)", g, err)
		}
	})
}

func TestTooLongLineIsReported(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		importer := importer.Importer{Store: s.Store}
		_, err := importer.ImportLines(context.Background(), strings.NewReader("\n"+strings.Repeat(" ", 2<<20)+"\n"))
		var line *feed.LineError
		if !errors.As(err, &line) || line.Line != 2 {
			t.Errorf("got %v, want line 2", err)
		}
	})
}

func TestByteOrderMarkIsSkippedOnlyAtStart(t *testing.T) {
	const mark = "\ufeff"
	category := `{"category": {"id": 5, "name": "n", "slug": "s"}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		importer := importer.Importer{Store: s.Store}
		for text, want := range map[string]int{mark + category: 1, mark: 0, mark + "\n" + category + "\n": 1} {
			if records, err := importer.ImportLines(context.Background(), strings.NewReader(text)); err != nil || records != want {
				t.Errorf("%q: %d records (%v), want %d", text, records, err, want)
			}
		}
		for text, want := range map[string]int{category + "\n" + mark + category: 2, mark + mark + category: 1} {
			_, err := importer.ImportLines(context.Background(), strings.NewReader(text))
			var line *feed.LineError
			if !errors.As(err, &line) || line.Line != want {
				t.Errorf("%q: got %v, want line %d", text, err, want)
			}
		}
	})
}

func TestBatchOfLongLinesIsSmaller(t *testing.T) {
	const lines, bytes = 40, 1_000_000
	line := `{"category": {"id": 5, "name": "n", "slug": "s"` + strings.Repeat(" ", bytes) + "}}\n"
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var progress []int
		importer := importer.Importer{Store: s.Store, Progress: func(n int) { progress = append(progress, n) }}
		if _, err := importer.ImportLines(context.Background(), strings.NewReader(strings.Repeat(line, lines))); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{17, 34, 40}, progress); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"user": {"id": "0b6feeee-0000-4000-8000-000000000001", "username": "x"}}`))
	f.Add([]byte(`{"grant": {"clientId": "x", "userId": "y", "scopes": ["users.read"]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		record, err := importer.ParseRecord(line)
		if err == nil && record.GetKind() == nil {
			t.Errorf("%q was read as no record", line)
		}
	})
}

func TestImportRejectsRecordsOfAnotherChannel(t *testing.T) {
	owner, other, viewer := servertest.Owner.String(), servertest.Other.String(), servertest.Viewer.String()
	clip := func(channel, creator string) string {
		return fmt.Sprintf(`{"clip": {"clipId": %q, "channelId": %q, "creatorId": %q, "title": "x"}}`, newcomer, channel, creator)
	}
	live := func(minute int) string {
		return fmt.Sprintf(`{"stream": {"channelId": %q, "title": "x", "startedAt": "2026-02-01T00:%02d:00Z"}}`, owner, minute)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		importer := importer.Importer{Store: s.Store}
		for _, c := range []struct{ line, want string }{
			{clip(owner, viewer), ""},
			{clip(other, viewer), "channelId must be that of the present clip"},
			{clip(owner, other), "creatorId must be that of the present clip"},
			{live(0), ""},
			{live(0), ""}, // the same stream again
			{live(1), "the channel is live already, since 2026-02-01T00:00:00.000Z"},
		} {
			_, err := importer.ImportLines(context.Background(), strings.NewReader(c.line))
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got %v, want %q", c.line, err, c.want)
			}
		}
	})
}
