package rules_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/chatrule"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// editors returns the editor of each present rule, in their order.
func (r *room) editors() (all []uid.ID) {
	r.t.Helper()
	for _, row := range storetest.Must(r.Store.Read.ChatRule.Query().Where(chatrule.UntilVersionIsNil()).Order(ent.Asc(chatrule.FieldRuleID)).All(r.t.Context())) {
		all = append(all, row.EditorID)
	}
	return all
}

// removeModerator takes the role from the moderator.
func (r *room) removeModerator() {
	r.t.Helper()
	response := r.REST(r.t, r.owner, http.MethodDelete, "/v1/moderation/moderators", fmt.Sprintf(`{"channelId":%q,"userId":%q}`, servertest.Owner, servertest.Moderator))
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
}

// revert reverts what the moderator did since an instant.
func (r *room) revert(since instant.Instant, isDryRun bool) {
	r.t.Helper()
	response := r.REST(r.t, r.owner, http.MethodPost, "/v1/moderation/reverts",
		fmt.Sprintf(`{"channelId":%q,"moderatorId":%q,"since":%q,"dryRun":%t}`, servertest.Owner, servertest.Moderator, since, isDryRun))
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
}

func TestOwnerBecomesEditor(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		l := r.rules(`"put":[` + term("a") + `,` + term("b") + `]`)
		if _, own := r.tryRules(r.owner, `"put":[`+term("o", `"ruleId":"`+l.id(0)+`"`)+`]`); own.Data.Version != 2 {
			t.Fatalf("got %+v", own)
		}
		if got := r.editors(); !slices.Equal(got, []uid.ID{servertest.Owner, servertest.Moderator}) {
			t.Errorf("the editors are %v", got)
		}
		r.removeModerator()
		if got := r.editors(); !slices.Equal(got, []uid.ID{servertest.Owner, servertest.Owner}) {
			t.Errorf("the editors are %v", got)
		}
	})
}

// TestRevertPutsRulesBack reverts changes of a moderator who lost the role, among those of others.
func TestRevertPutsRulesBack(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		of := func(l *ruleList, n int) string { return fmt.Sprintf(`"ruleId":%q`, l.id(n)) }
		l := r.rules(`"put":[` + strings.Join([]string{
			term("edited"), term("deleted"), term("edited, then by the owner"), term("expired", until(now.Add(time.Hour))), term("edited, owner, edited"), term("edited, then deleted by the owner"), term("old"),
		}, ",") + `]`)
		since := now.Add(time.Minute)
		r.Store.Clock.Freeze(since)
		r.rules(fmt.Sprintf(`"put":[%s,%s,%s,%s,%s],"delete":[%q,%q]`, term("X", of(l, 0)), term("X", of(l, 2)), term("X", of(l, 4)), term("X", of(l, 5)), term("created"), l.id(1), l.id(3)))
		r.tryRules(r.owner, fmt.Sprintf(`"put":[%s,%s,%s],"delete":[%q]`, term("owner's", of(l, 2)), term("owner's too", of(l, 4)), term("owner's own"), l.id(5)))
		r.rules(fmt.Sprintf(`"put":[%s,%s]`, term("Y", of(l, 0)), term("Y", of(l, 4))))
		r.Store.Clock.Freeze(now.Add(time.Hour))
		r.removeModerator()
		events := len(r.ruleEvents())
		r.revert(since, true)
		if _, got := r.getRules(-1); got.Data.Version != 4 || len(r.ruleEvents()) != events {
			t.Errorf("a dry run: got %+v", got)
		}
		for range 2 { // the second one finds nothing
			r.revert(since, false)
			_, got := r.getRules(-1)
			want := []string{"edited", "deleted", "owner's", "owner's too", "edited, then deleted by the owner", "old", "owner's own"}
			if got.Data.Version != 5 || !slices.Equal(got.names(), want) {
				t.Errorf("got version %d with %q", got.Data.Version, got.names())
			}
		}
		e := r.ruleEvents()[events]
		if e.GetCause() != "revert" || e.GetModeratorId() != servertest.Owner.String() || len(e.GetPut()) != 4 || len(e.GetDeleted()) != 1 {
			t.Errorf("the event is %v", e)
		}
		if slices.Contains(r.editors(), servertest.Moderator) {
			t.Errorf("the editors are %v", r.editors())
		}
	})
}

// TestRevertHasNoLimits reverts a moderator who deleted rules in whose place the owner has put as many.
func TestRevertHasNoLimits(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		costly := `{"name":"costly","kind":"pattern","action":"block","patterns":["` + strings.Repeat("[ab]", 70) + `"]}`
		l := r.rules(`"put":[` + term("a") + `,` + costly + strings.Repeat(","+term("b"), 57) + `]`)
		r.Store.Clock.Freeze(now.Add(time.Minute))
		var ids []string
		for i := range l.Data.Rules {
			ids = append(ids, fmt.Sprintf("%q", l.id(i)))
		}
		r.rules(`"put":[` + term("created") + `],"delete":[` + strings.Join(ids, ",") + `]`)
		r.tryRules(r.owner, `"put":[`+costly+strings.Repeat(","+term("owner's"), 59)+`]`)
		r.revert(now.Add(time.Minute), false)
		_, got := r.getRules(-1)
		names := got.names()
		if len(names) != 100 || !slices.Equal(names[:3], []string{"a", "costly", "b"}) || names[39] != "b" || names[40] != "costly" || names[99] != "owner's" {
			t.Errorf("got %q", names)
		}
		if got := r.say(servertest.Viewer, strings.Repeat("ab", 50)); got.code() != "MESSAGE_BLOCKED" {
			t.Errorf("a post: got %+v", got)
		}
	})
}

// TestLogHasRules reads who changed rules from the log.
func TestLogHasRules(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		l := r.rules(`"put":[` + term("secret") + `]`)
		r.tryRules(r.owner, fmt.Sprintf(`"delete":[%q]`, l.id(0)))
		for query, want := range map[string]int{"": 2, "&moderatorId=" + servertest.Moderator.String(): 1, "&type=channel.chat.rules&moderatorId=" + servertest.Owner.String(): 1} {
			response := r.REST(t, r.owner, http.MethodGet, "/v1/moderation/log?channelId="+servertest.Owner.String()+query, "")
			if got := strings.Count(response.Body, `"type":"channel.chat.rules"`); response.Status != http.StatusOK || got != want || strings.Contains(response.Body, "gems") {
				t.Errorf("%s: got %s", query, response.Body)
			}
		}
	})
}

// TestErasedEditorLeavesRules deletes the editor of a rule.
func TestErasedEditorLeavesRules(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		r := newRoom(t, s)
		r.rules(`"put":[` + term("a") + `]`)
		if _, err := s.Directory.DeleteUser(r.service.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Moderator.String()}); err != nil {
			t.Fatal(err)
		}
		named := func() string {
			rows, _ := r.versions("")
			return rows[0].Moderator.ID
		}
		for deadline := time.Now().Add(servertest.Slack + 10*time.Second); time.Now().Before(deadline) && (r.editors()[0] != servertest.Owner || named() != users.Deleted.String()); {
			time.Sleep(20 * time.Millisecond)
		}
		if r.editors()[0] != servertest.Owner || named() != users.Deleted.String() {
			t.Errorf("the editor is %s, and the version is of %s", r.editors()[0], named())
		}
	})
}
