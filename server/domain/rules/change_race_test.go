package rules_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/moderato-live/moderato/test/servertest"
)

// TestRulesChangeWhilePostsAreChecked changes two rules together, so that in each version exactly one
// of two terms is blocked, while users post both through two servers. A post with both is refused in
// each version, so a mix of versions would let one pass. After a change, its rules apply at once on
// both servers.
func TestRulesChangeWhilePostsAreChecked(t *testing.T) {
	eachPair(t, func(rooms []*room) {
		put := rooms[0].rules(`"put":[` + about("alpha", "block") + `,` + about("beta", "block", `"enabled":false`) + `]`)
		users := servertest.AddUsers(t, rooms[0].Store, 4)
		stop := make(chan struct{})
		var posts sync.WaitGroup
		for i, user := range users {
			r := rooms[i%2]
			posts.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if got := r.say(user, "alpha beta"); got.code() != "MESSAGE_BLOCKED" && got.code() != "RATE_LIMITED" {
						t.Errorf("a post between two versions: got %+v", got)
						return
					}
				}
			})
		}
		for version := range 20 {
			isAlpha := version%2 == 1
			rooms[version%2].rules(fmt.Sprintf(`"put":[%s,%s]`,
				about("alpha", "block", fmt.Sprintf(`"ruleId":%q,"enabled":%t`, put.id(0), isAlpha)),
				about("beta", "block", fmt.Sprintf(`"ruleId":%q,"enabled":%t`, put.id(1), !isAlpha))))
			blocked := map[bool]string{true: "alpha", false: "beta"}[isAlpha]
			for i, r := range rooms {
				if got := r.say(servertest.Viewer, blocked); got.code() != "MESSAGE_BLOCKED" {
					t.Errorf("version %d on server %d: got %+v", version, i, got)
				}
			}
		}
		close(stop)
		posts.Wait()
	})
}
