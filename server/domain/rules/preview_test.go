package rules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// previewed is what a preview responds.
type previewed struct {
	Code                                                    string
	Violations                                              []struct{ Field string }
	Examined, Matched, Users, SanctionedUsers, TrustedUsers int
	ByRule                                                  []struct {
		RuleID         *string
		Name, Action   string
		Matched, Users int
	}
	Sample []struct {
		User                   *struct{ ID string }
		Text, RuleName, Action string
		RuleID, SentAt         *string
		Spans                  []struct{ Start, End int }
	}
}

// counts returns the counts, and what each rule matches.
func (p previewed) counts() string {
	text := fmt.Sprint(p.Examined, p.Matched, p.Users, p.SanctionedUsers, p.TrustedUsers)
	for _, r := range p.ByRule {
		text += fmt.Sprintf(" %s:%d/%d", r.Name, r.Matched, r.Users)
	}
	return text
}

// texts returns the texts of the sample.
func (p previewed) texts() (all []string) {
	for _, m := range p.Sample {
		all = append(all, m.Text)
	}
	return all
}

// preview previews rules as the moderator: members of a JSON object.
func (r *room) preview(members string) previewed {
	r.t.Helper()
	response := r.REST(r.t, r.moderator, http.MethodPost, rulesPath+"/preview", fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members))
	var body struct{ Data previewed }
	if err := json.Unmarshal([]byte(response.Body), &body); err != nil || response.Status >= http.StatusInternalServerError {
		r.t.Fatal(err, response.Body)
	}
	return body.Data
}

// TestPreviewOfTexts previews rules of the channel and of a request.
func TestPreviewOfTexts(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		put := r.rules(`"put":[` + about("one", "block") + `,` + about("two", "flag") + `,` + about("off", "block", `"enabled":false`) + `]`)
		got := r.preview(fmt.Sprintf(`"put":[%s,%s],"delete":[%q],"texts":["it is one","two three","three","off","THREE","three"]`,
			about("three", "hold"), repeated("again", `"sameSender":3`), put.id(1)))
		if want := "6 5 0 0 0 about one:1/0 about three:4/0 again:1/0"; got.counts() != want {
			t.Errorf("got %s, want %s", got.counts(), want)
		}
		if !slices.Equal(got.texts(), []string{"it is one", "two three", "three", "THREE", "three"}) {
			t.Errorf("the sample is %v", got.texts())
		}
		first, last := got.Sample[0], got.Sample[len(got.Sample)-1]
		if first.RuleID == nil || *first.RuleID != put.id(0) || first.User != nil || first.SentAt != nil || first.Action != "block" || len(first.Spans) != 1 || first.Spans[0].Start != 6 {
			t.Errorf("the first message is %+v", first)
		}
		if last.RuleID != nil || last.RuleName != "again" || last.Action != "block" { // stricter than hold
			t.Errorf("the last message is %+v", last)
		}
		if version, l := r.getRules(-1); version != http.StatusOK || l.Data.Version != 1 || len(l.Data.Rules) != 3 {
			t.Errorf("the preview changed the rules: %+v", l)
		}
	})
}

// TestPreviewOfStoredMessages has senders of whom the preview says whether the rules are right.
func TestPreviewOfStoredMessages(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		at := func(seconds int) { r.Store.Clock.Freeze(now.Add(time.Duration(seconds) * time.Second)) }
		added := servertest.AddUsers(t, r.Store, 2)
		banned, muted, follower, plain, vip := servertest.Raider, servertest.Other, servertest.Viewer, added[0], added[1]
		r.follow(follower, now.Add(-8*24*time.Hour))
		r.role(vip, "vip")
		r.say(plain, "spam before")
		at(10)
		for i, user := range []uid.ID{banned, muted, follower, plain, plain, vip, servertest.Owner, servertest.Moderator} {
			at(11 + i)
			r.say(user, fmt.Sprintf("spam %d", i))
		}
		r.say(plain, "hello")
		at(30)
		r.REST(t, r.owner, http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, banned))
		r.REST(t, r.owner, http.MethodDelete, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, banned))
		r.REST(t, r.owner, http.MethodPost, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, muted))
		got := r.preview(`"withinSeconds":20,"put":[` + about("spam", "block", `"exemptRoles":["vip"]`) + `,` + about("hello", "flag") + `]`)
		if want := "9 6 4 2 1 about spam:5/4 about hello:1/1"; got.counts() != want {
			t.Errorf("got %s, want %s", got.counts(), want)
		}
		if want := []string{"hello", "spam 4", "spam 3", "spam 2", "spam 1", "spam 0"}; !slices.Equal(got.texts(), want) {
			t.Errorf("the sample is %v", got.texts())
		}
		if m := got.Sample[1]; m.User == nil || m.User.ID != plain.String() || m.SentAt == nil || *m.SentAt != now.Add(15*time.Second).String() {
			t.Errorf("the second message is %+v", m)
		}
		got = r.preview(`"withinSeconds":60,"put":[` + repeated("many", `"senders":2`) + `]`)
		if want := "10 0 0 0 0 many:0/0"; got.counts() != want {
			t.Errorf("repetition: got %s, want %s", got.counts(), want)
		}
		at(31)
		r.say(follower, "gg")
		r.say(plain, "GG")
		got = r.preview(`"withinSeconds":60,"put":[` + repeated("many", `"senders":2`) + `]`)
		if want := "12 1 1 0 0 many:1/1"; got.counts() != want {
			t.Errorf("repetition: got %s, want %s", got.counts(), want)
		}
	})
}

func TestBadPreviews(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		for members, field := range map[string]string{
			`"put":[]`:                         "withinSeconds",
			`"withinSeconds":0`:                "withinSeconds",
			`"withinSeconds":86401`:            "withinSeconds",
			`"withinSeconds":60,"texts":["a"]`: "texts withinSeconds",
			`"texts":["a","` + strings.Repeat("x", 501) + `"]`:                                "texts[1]",
			`"texts":["a"` + strings.Repeat(`,"a"`, 100) + `]`:                                "texts",
			`"texts":["a"],"delete":["` + uid.New().String() + `"]`:                           "delete[0]",
			`"texts":["a"],"put":[{"name":"x","kind":"terms","action":"block","terms":[""]}]`: "put[0].terms[0]",
		} {
			got := r.preview(members)
			var fields []string
			for _, v := range got.Violations {
				fields = append(fields, v.Field)
			}
			slices.Sort(fields)
			if got.Code != "INVALID_ARGUMENT" || strings.Join(fields, " ") != field {
				t.Errorf("%s: got %+v, want %s", members, got, field)
			}
		}
	})
}

// fill stores messages of the channel, one each millisecond until an instant, by some users in turns.
func (r *room) fill(n int, until instant.Instant, users []uid.ID, text func(i int) string) {
	r.t.Helper()
	fillMessages(r.t, r.Store, n, until, users, text)
}

func fillMessages(t testing.TB, s *store.Store, n int, until instant.Instant, users []uid.ID, text func(i int) string) {
	t.Helper()
	tx := storetest.Must(s.DB().BeginTx(t.Context(), nil))
	for from := 0; from < n; from += 500 {
		var rows []string
		var args []any
		for i := from; i < min(from+500, n); i++ {
			rows = append(rows, "(?, ?, ?, 0, ?, ?, ?)")
			args = append(args, uid.New(), servertest.Owner, users[i%len(users)], text(i), until.Add(time.Duration(i-n)*time.Millisecond), false)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO messages (id, channel_id, user_id, generation, text, sent_at, is_bot) VALUES "+strings.Join(rows, ","), args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestPreviewIsBounded has as many messages as a preview looks at, and one more.
func TestPreviewIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 200,001 messages")
	}
	r := open(t, servertest.Config(storetest.SQLite(t)))
	now := r.freeze()
	r.fill(200_001, now, []uid.ID{servertest.Viewer}, func(i int) string { return fmt.Sprint("message ", i) })
	if got := r.preview(`"withinSeconds":86400,"put":[` + about("message", "flag") + `]`); got.Code != "PREVIEW_TOO_LARGE" {
		t.Errorf("got %s %s", got.Code, got.counts())
	}
	if got := r.preview(`"withinSeconds":200,"put":[` + about("message", "flag") + `]`); got.Matched != 200_000 || len(got.Sample) != 20 {
		t.Errorf("got %s %s", got.Code, got.counts())
	}
}
