package rules_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// ofRules matches the statements that read tables of rules, with what they read.
var ofRules = regexp.MustCompile(`(?s)^\s*(?:SELECT|UPDATE|DELETE).*\b(chat_rules|chat_rule_versions)\b`)

var (
	byVersion = regexp.MustCompile(`^SEARCH .*\((.* AND )?(until_)?version[=<>]`)
	byPerson  = regexp.MustCompile(`WHERE (moderator_id|editor_id) = `)
	rowsRead  = regexp.MustCompile(` rows=(\d+) `)
)

// TestRulesAreReadByIndex fills the history of a channel and of others, and explains each
// statement: no statement reads the rows that earlier versions ended.
func TestRulesAreReadByIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		recorder := &storetest.Recorder{}
		config := servertest.Config(url)
		config.DBLayer = recorder.Layer()
		r := open(t, config)
		now, s := r.freeze(), r.Store
		r.fillHistory(now)
		now = now.Add(time.Second)
		s.Clock.Freeze(now)
		before := len(recorder.Sent())
		l := r.rules(`"put":[` + term("a") + `]`)
		r.rules(fmt.Sprintf(`"put":[%s],"delete":[%q]`, term("b"), l.id(0)))
		r.getRules(-1)
		r.getRules(int(l.Data.Version))
		r.versions("")
		r.restore(fmt.Sprintf(`"version":%d`, l.Data.Version))
		r.revert(now, false)
		r.removeModerator()
		sent := slices.Concat(recorder.Sent()[before:], recorder.Executed())
		slices.SortFunc(sent, func(a, b storetest.Statement) int { return strings.Compare(a.Text, b.Text) })
		explained := 0
		for _, q := range slices.CompactFunc(sent, func(a, b storetest.Statement) bool { return a.Text == b.Text }) {
			table := ofRules.FindStringSubmatch(q.Text)
			if table == nil || strings.Contains(q.Text, "expires_at") && strings.HasPrefix(q.Text, "SELECT") {
				continue // others, and those of jobs
			}
			explained++
			if byPerson.MatchString(q.Text) { // what one moderator did in the channel
				if plan := storetest.Explain(t, s, q); !strings.Contains(plan, "moderator_id_channel_id") && !strings.Contains(plan, "editor_id_channel_id") && !strings.Contains(plan, "until_version_rule_id") {
					t.Errorf("the plan has no index of the channel:\n%s\n%s", q.Text, plan)
				}
				continue
			}
			wantByVersion(t, s, q, table[1])
		}
		if explained < 9 {
			t.Errorf("only %d statements of %d", explained, len(sent))
		}
	})
}

// wantByVersion checks that each step of the plan of a statement that reads a table does so by
// its index of channels and versions.
func wantByVersion(t *testing.T, s *store.Store, q storetest.Statement, table string) {
	t.Helper()
	index := map[string]string{"chat_rules": "chatrule_channel_id_until_version_rule_id", "chat_rule_versions": "chatruleversion_channel_id_version"}[table]
	plan, found := storetest.Explain(t, s, q), false
	isPage := strings.Contains(q.Text, "LIMIT") && !strings.Contains(plan, "filesort") // stops after its last row
	isTiDB := storetest.IsTiDB(t, s)
	for step := range strings.Lines(plan) {
		if !strings.Contains(step, table+" ") && !strings.Contains(step, table+"`") {
			continue
		}
		found = true
		isByVersion := byVersion.MatchString(step)
		switch { // a plan that has no columns
		case isTiDB:
			isByVersion = isPage || storetest.RowsReadByTiDB(t, s, q) < 100
		case !storetest.IsSQLite(s):
			rows := rowsRead.FindStringSubmatch(step)
			isByVersion = isPage || rows != nil && len(rows[1]) < 3
		}
		if !strings.Contains(step, index) || !isByVersion {
			t.Errorf("the plan does not read %s by versions:\n%s\n%s", table, q.Text, plan)
		}
	}
	if !found {
		t.Errorf("the plan does not read %s:\n%s\n%s", table, q.Text, plan)
	}
}

// fillHistory gives Owner's channel and others a history of versions.
func (r *room) fillHistory(now instant.Instant) {
	r.t.Helper()
	const versions, others = 1000, 5
	err := r.Store.Write(r.t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		for other := range others {
			channel := servertest.Owner
			if other > 0 {
				channel = uid.New()
			}
			var rows []*ent.ChatRuleCreate
			var changes []*ent.ChatRuleVersionCreate
			for v := int64(1); v < versions; v++ {
				rows = append(rows, tx.ChatRule.Create().SetID(uid.New()).SetChannelID(channel).SetRuleID(uid.New()).SetSinceVersion(v).SetUntilVersion(v+1).
					SetRule(term("x")).SetEditorID(servertest.Moderator).SetEndedAt(now))
				changes = append(changes, tx.ChatRuleVersion.Create().SetID(uid.New()).SetChannelID(channel).SetVersion(v).SetModeratorID(servertest.Moderator).
					SetCause("moderator").SetChangedAt(now).SetChanges("{}"))
			}
			for some := range slices.Chunk(rows, 50) {
				if err := tx.ChatRule.CreateBulk(some...).Exec(ctx); err != nil {
					return err
				}
			}
			for some := range slices.Chunk(changes, 50) {
				if err := tx.ChatRuleVersion.CreateBulk(some...).Exec(ctx); err != nil {
					return err
				}
			}
			err := tx.ChatSettings.Create().SetID(channel).SetVersion(0).SetRulesVersion(versions).SetSettings("{}").SetHasChecks(false).SetChangedAt(now).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}
