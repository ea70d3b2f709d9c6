package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/fsck"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/jobs"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func (r *room) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// until is a member of a rule that expires.
func until(at instant.Instant) string { return fmt.Sprintf(`"expiresAt":%q`, at) }

// TestRulesExpireTogether lets two rules expire, while a change and the job may find them.
func TestRulesExpireTogether(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		end := now.Add(time.Minute)
		l := r.rules(`"put":[` + term("a", until(end)) + `,` + term("b", until(end), `"enabled":false`) + `,` + term("c", until(end.Add(time.Hour))) + `]`)
		expirer := &rules.Expirer{Store: r.Store}
		r.Store.Clock.Freeze(end - 1)
		r.must(expirer.DeleteRules(t.Context()))
		if len(r.ruleEvents()) != 1 {
			t.Errorf("before the time: %v", r.ruleEvents())
		}
		r.Store.Clock.Freeze(end)
		after := r.rules(fmt.Sprintf(`"put":[%s]`, term("C", `"ruleId":"`+l.id(2)+`"`)))
		r.must(expirer.DeleteRules(t.Context()))
		if after.Data.Version != 3 || !slices.Equal(after.names(), []string{"C"}) {
			t.Errorf("got %+v", after)
		}
		events := r.ruleEvents()
		if len(events) != 3 {
			t.Fatalf("the events are %v", events)
		}
		e := events[1]
		if e.GetCause() != "expired" || e.GetVersion() != 2 || !slices.Equal(e.GetDeleted(), []string{l.id(0), l.id(1)}) || len(e.GetPut()) != 0 || e.ModeratorId != nil || e.GetClientId() != "" {
			t.Errorf("the event is %v", e)
		}
		due := 0
		r.must(store.QueryRow(t.Context(), r.Store.Read, "SELECT COUNT(*) FROM chat_rules WHERE expires_at <= ?", []any{end}, &due))
		if due > 0 {
			t.Errorf("%d rows are due for ever", due)
		}
		if rows, _ := r.versions(""); rows[1].Moderator != nil || rows[1].Cause != "expired" || rows[1].ClientID != "" {
			t.Errorf("the versions are %+v", rows)
		}
	})
}

// TestTimesPassWhileServersAreDown sets a setting, the shield and a rule for a time, and stops all
// servers until after that.
func TestTimesPassWhileServersAreDown(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		r := open(t, servertest.Config(url))
		r.set(`"slowSeconds":3600,"durationSeconds":60`)
		r.raise(`"active":true,"durationSeconds":70`)
		r.rules(`"put":[` + term("a", until(r.Store.Clock.Local().Add(time.Minute))) + `]`)
		r.want("before the end", r.post(servertest.Viewer, "one"), "", nil)
		r.Stop(t)
		r = newRoom(t, servertest.Start(t, servertest.Config(url)))
		r.Store.Clock.Advance(2 * time.Minute)
		r.want("after the end", r.post(servertest.Viewer, "two"), "", nil)
		for deadline := time.Now().Add(servertest.Slack + 10*time.Second); (len(r.shieldEvents()) < 4 || len(r.ruleEvents()) < 2) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		r.must((&rules.Expirer{Store: r.Store}).EndSettings(t.Context())) // finds nothing more
		r.wantShieldEvents("chat.settings moderator", "shield.begin moderator", "chat.settings expired by itself", "shield.end expired by itself")
		if _, l := r.getRules(-1); l.Data.Version != 2 || len(l.Data.Rules) != 0 {
			t.Errorf("the rules are %+v", l)
		}
	})
}

// TestOldRowsAreRemoved lets the jobs run after the time for which versions are kept.
func TestOldRowsAreRemoved(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		l := r.rules(`"put":[` + term("a") + `,` + term("b") + `]`)
		r.rules(fmt.Sprintf(`"delete":[%q]`, l.id(0)))
		count := func() (n int) {
			r.must(store.QueryRow(t.Context(), r.Store.Read, "SELECT (SELECT COUNT(*) FROM chat_rules) + (SELECT COUNT(*) FROM chat_rule_versions)", nil, &n))
			return n
		}
		if n := count(); n != 4 {
			t.Fatalf("%d rows", n)
		}
		r.Store.Clock.Freeze(now.Add(90*24*time.Hour + time.Millisecond))
		for _, table := range rules.Tables {
			for _, job := range []func(tables.Env) jobs.Job{table.Expire, table.Remove} {
				if job != nil {
					storetest.Must(job(tables.Env{Store: r.Store}).Run(t.Context()))
				}
			}
		}
		if n := count(); n != 1 {
			t.Errorf("%d rows remain, want the present rule", n)
		}
		if _, l := r.getRules(-1); l.Data.Version != 2 || !slices.Equal(l.names(), []string{"b"}) {
			t.Errorf("the rules are %+v", l)
		}
	})
}

// TestPostsSeeRules lets fsck find what posts do not see.
func TestPostsSeeRules(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		l := r.rules(`"put":[` + term("a") + `]`)
		find := func() (found []string) {
			r.must(fsck.Run(t.Context(), r.Store, eventtype.DefaultRetention(), func(string) {}, func(f fsck.Finding) { found = append(found, f.Check) }))
			return found
		}
		r.set(`"slowSeconds":30`) // keeps what identifies the rules
		if found := find(); len(found) > 0 {
			t.Errorf("as it is: %q", found)
		}
		for _, set := range []string{`settings = '{"rules":{"version":11,"preset":0}}'`, "has_checks = FALSE", "rules_version = 0"} {
			var before string
			r.must(store.QueryRow(t.Context(), r.Store.Read, "SELECT settings FROM chat_settings", nil, &before))
			storetest.Must(r.Store.DB().Exec("UPDATE chat_settings SET " + set))
			if found := find(); !slices.Equal(found, []string{"posts see the present rules"}) {
				t.Errorf("%s: %q", set, found)
			}
			storetest.Must(r.Store.DB().Exec("UPDATE chat_settings SET rules_version = 1, has_checks = TRUE, settings = ?", before))
		}
		r.set(`"slowSeconds":0`)
		r.rules(fmt.Sprintf(`"put":[%s]`, term("a", `"enabled":false`, `"ruleId":"`+l.id(0)+`"`)))
		var has bool
		r.must(store.QueryRow(t.Context(), r.Store.Read, "SELECT has_checks FROM chat_settings", nil, &has))
		if found := find(); len(found) > 0 || has {
			t.Errorf("without an enabled rule: %q, and there are checks: %t", found, has)
		}
		storetest.Must(r.Store.DB().Exec("UPDATE chat_settings SET rules_version = 0"))
		if found := find(); !slices.Equal(found, []string{"posts see the present rules"}) {
			t.Errorf("before the version of a rule: %q", found)
		}
	})
}
