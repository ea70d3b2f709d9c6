package rules_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

// read returns the body of a read by the owner about the channel.
func (r *room) read(path, query string) string {
	r.t.Helper()
	response := r.REST(r.t, r.owner, http.MethodGet, path+"?channelId="+servertest.Owner.String()+query, "")
	if response.Status != http.StatusOK {
		r.t.Fatal(response.Body)
	}
	return response.Body
}

// card returns the card of Raider.
func (r *room) card() string {
	r.t.Helper()
	return r.read("/v1/moderation/users", "&include=card&userId="+servertest.Raider.String())
}

// TestReadsNameTheRuleThatMuted reads a mute that a rule made, and one that a moderator made.
func TestReadsNameTheRuleThatMuted(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		rule := r.rules(`"put":[` + about("muted", "mute", `"muteSeconds":30`) + `]`).id(0)
		r.say(servertest.Raider, "muted")
		r.REST(t, r.owner, http.MethodPost, "/v1/moderation/mute", `{"channelId":"`+servertest.Owner.String()+`","mutedUserId":"`+servertest.Viewer.String()+`"}`)
		for what, c := range map[string]struct{ got, want string }{
			"the card":  {r.card(), `"cause":"rule","moderator":{"id":"` + servertest.Moderator.String()},
			"its rule":  {r.card(), `"ruleId":"` + rule + `"},"follow"`},
			"the list":  {r.read("/v1/moderation/muted-users", "&query=loot"), `"cause":"rule","ruleId":"` + rule + `"}`},
			"no rule":   {r.read("/v1/moderation/muted-users", "&query=amara"), `"cause":"moderator","ruleId":null}`},
			"its card":  {r.read("/v1/moderation/users", "&include=card&userId="+servertest.Viewer.String()), `"cause":"moderator","moderator":{`},
			"the event": {r.read("/v1/moderation/log", "&ruleId="+rule), `"type":"channel.mute"`},
		} {
			if !strings.Contains(c.got, c.want) {
				t.Errorf("%s: got %s, want %s", what, c.got, c.want)
			}
		}
	})
}
