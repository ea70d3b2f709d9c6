package rules_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestRulesSurviveLostCommit loses the connection in COMMIT. Each change is one version, and the
// response has the ids of the rules that were stored.
func TestRulesSurviveLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		config := servertest.Config(url)
		config.DBLayer = cutter.Layer
		r := open(t, config)
		for i, cuts := range [][]storetest.Cut{
			{storetest.BeforeCommit}, {storetest.AfterCommit}, {storetest.BeforeCommit, storetest.AfterCommit},
		} {
			cutter.CutNext("change.apply", cuts...)
			changed := r.rules(`"put":[` + term(fmt.Sprint(i)) + `]`)
			_, got := r.getRules(-1)
			if cutter.Made() != len(cuts) || got.Data.Version != int64(i+1) || changed.id(i) != got.id(i) || len(r.ruleEvents()) != i+1 {
				t.Errorf("%v: responded %+v, read %+v", cuts, changed, got)
			}
		}
	})
}

// TestConcurrentChangesOfRules changes rules through two servers at once. Each change is a
// version, and of those that expect the same version one is made.
func TestConcurrentChangesOfRules(t *testing.T) {
	eachPair(t, func(rooms []*room) {
		const changes = 10
		var all sync.WaitGroup
		var mu sync.Mutex
		made := 0
		for i, r := range rooms {
			all.Go(func() {
				for n := range changes {
					r.tryRules(r.moderator, `"put":[`+term(fmt.Sprint(i, n))+`]`)
					_, l := r.tryRules(r.moderator, fmt.Sprintf(`"expectedVersion":%d,"put":[%s]`, changes, term("expects")))
					mu.Lock()
					if l.Data.Code == "" {
						made++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		_, first := rooms[0].getRules(-1)
		expecting := 0
		for _, name := range first.names() {
			if name == "expects" {
				expecting++
			}
		}
		if expecting != made || made > 1 || first.Data.Version != int64(2*changes+made) || len(first.Data.Rules) != 2*changes+made {
			t.Errorf("%d changes that expect a version were made, and %d are there: %+v", made, expecting, first)
		}
		var versions []int64
		for _, e := range rooms[1].ruleEvents() {
			versions = append(versions, e.GetVersion())
		}
		if !slices.IsSorted(versions) || len(versions) != 2*changes+made || len(slices.Compact(versions)) != 2*changes+made {
			t.Errorf("the versions are %v", versions)
		}
	})
}
