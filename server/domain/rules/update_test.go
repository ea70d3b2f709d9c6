package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

const rulesPath = "/v1/chats/rules"

// ruleList is what the operations of rules respond.
type ruleList struct {
	Data struct {
		Code       string
		Violations []struct{ Field, Description string }
		Limit      string

		Version int64
		Rules   []map[string]any
	}
}

// id returns the id of a rule.
func (l *ruleList) id(n int) string { return l.Data.Rules[n]["ruleId"].(string) }

// names returns the names of the rules.
func (l *ruleList) names() (all []string) {
	for _, r := range l.Data.Rules {
		all = append(all, r["name"].(string))
	}
	return all
}

func (r *room) callRules(as servertest.Credentials, method, path, text string) (int, *ruleList) {
	r.t.Helper()
	response := r.REST(r.t, as, method, path, text)
	l := &ruleList{}
	if err := json.Unmarshal([]byte(response.Body), l); err != nil {
		r.t.Fatal(err, response.Body)
	}
	return response.Status, l
}

// tryRules changes rules as a user: members of a JSON object.
func (r *room) tryRules(as servertest.Credentials, members string) (int, *ruleList) {
	r.t.Helper()
	return r.callRules(as, http.MethodPost, rulesPath, fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members))
}

// rules changes rules as the moderator.
func (r *room) rules(members string) *ruleList {
	r.t.Helper()
	status, l := r.tryRules(r.moderator, members)
	if status != http.StatusOK {
		r.t.Fatalf("%s: %+v", members, l)
	}
	return l
}

// getRules reads the rules of a version, or the present ones if it is negative.
func (r *room) getRules(version int) (int, *ruleList) {
	r.t.Helper()
	query := ""
	if version >= 0 {
		query = fmt.Sprintf("&version=%d", version)
	}
	return r.callRules(r.owner, http.MethodGet, rulesPath+"?channelId="+servertest.Owner.String()+query, "")
}

// ruleEvents returns the events of rules, in their order.
func (r *room) ruleEvents() []*moderatov1.ChatRulesEvent {
	return servertest.Events[moderatov1.ChatRulesEvent](r.t, r.Store, "channel.chat.rules")
}

// term is a rule about one term, as a member of put.
func term(name string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"kind":"terms","action":"block","terms":["free gems"]%s}`, name, strings.Join(append([]string{""}, more...), ","))
}

func TestRulesAreVersioned(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		first := r.rules(`"put":[` + term("a") + `,` + term("b") + `]`)
		if first.Data.Version != 1 || !slices.Equal(first.names(), []string{"a", "b"}) {
			t.Fatalf("got %+v", first)
		}
		second := r.rules(fmt.Sprintf(`"expectedVersion":1,"put":[%s,%s],"delete":[%q]`, term("c"), term("A", `"ruleId":"`+strings.ToUpper(first.id(0))+`"`), first.id(1)))
		if second.Data.Version != 2 || !slices.Equal(second.names(), []string{"A", "c"}) || second.id(0) != first.id(0) {
			t.Errorf("got %+v", second)
		}
		for version, want := range map[int][]string{-1: {"A", "c"}, 0: nil, 1: {"a", "b"}, 2: {"A", "c"}} {
			status, got := r.getRules(version)
			if number := int64(max(version, 0)); version >= 0 && got.Data.Version != number || status != http.StatusOK || !slices.Equal(got.names(), want) {
				t.Errorf("version %d: got %d %+v", version, status, got)
			}
		}
		if status, got := r.getRules(3); status != http.StatusNotFound || got.Data.Code != "VERSION_NOT_FOUND" {
			t.Errorf("version 3: got %d %+v", status, got)
		}
		events := r.ruleEvents()
		if len(events) != 2 {
			t.Fatalf("the events are %v", events)
		}
		e := events[1]
		if !slices.Equal(e.GetPut(), []string{second.id(0), second.id(1)}) || !slices.Equal(e.GetDeleted(), []string{first.id(1)}) || e.GetVersion() != 2 ||
			e.GetCause() != "moderator" || e.GetModeratorId() != servertest.Moderator.String() || e.GetClientId() != servertest.Dashboard {
			t.Errorf("the event is %v", e)
		}
	})
}

// TestWhatIsReadCanBePut puts the rules of all kinds as they were read, and with all defaults.
func TestWhatIsReadCanBePut(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		put := []string{
			fmt.Sprintf(`{"name":"t","kind":"terms","action":"mute","muteSeconds":60,"terms":["x y"],"allow":["z"],"expiresAt":%q,"exemptRoles":["vip"],"exemptFollowersOlderThanSeconds":0,"message":"No."}`, now.Add(time.Hour)),
			`{"name":"p","kind":"pattern","action":"flag","patterns":["a+b"],"enabled":false}`,
			`{"name":"l","kind":"links","action":"delete","mode":"listed","blockDomains":["example.com"]}`,
			`{"name":"c","kind":"caps","action":"hold"}`,
			`{"name":"s","kind":"symbols","action":"block","maxMarks":3,"minLength":1,"percent":100}`,
			`{"name":"r","kind":"repetition","action":"block","senders":2,"withinSeconds":600}`,
			`{"name":"m","kind":"mentions","action":"block","max":5}`,
		}
		created := r.rules(`"put":[` + strings.Join(put, ",") + `]`)
		_, read := r.getRules(-1)
		if !reflect.DeepEqual(created, read) {
			t.Errorf("created %v, read %v", created, read)
		}
		text, _ := json.Marshal(read.Data.Rules)
		if again := r.rules(`"put":` + string(text)); again.Data.Version != 1 || !reflect.DeepEqual(again, read) {
			t.Errorf("put again: got %v", again)
		}
		for field, want := range map[string]any{"enabled": true, "evasions": false, "muteSeconds": 60.0, "expiresAt": now.Add(time.Hour).String(), "minLength": nil} {
			if got := read.Data.Rules[0][field]; got != want {
				t.Errorf("%s of terms is %v", field, got)
			}
		}
		if c := read.Data.Rules[3]; c["minLength"] != 10.0 || c["percent"] != 70.0 || c["evasions"] != nil {
			t.Errorf("the rule of capitals is %v", c)
		}
		if len(r.ruleEvents()) != 1 {
			t.Errorf("the events are %v", r.ruleEvents())
		}
	})
}

func TestBadRulesChangeNothing(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := r.rules(`"put":[` + term("a") + `]`).id(0)
		named := `"ruleId":"` + id + `"`
		mentions := func(members string) string {
			return `"put":[{"name":"m","kind":"mentions","action":"block","max":5},{"name":"n","kind":"mentions","max":5,` + members + `}]`
		}
		for members, field := range map[string]string{
			`"put":[]`: "put",
			`"put":[` + strings.Repeat(term("x")+",", 100) + term("x") + `]`:                        "put",
			`"put":[` + strings.Repeat(term("x")+",", 99) + term("x") + `],"delete":["` + id + `"]`: "put",
			mentions(`"action":"block","name":" "`):                                                 "put[1].name",
			mentions(`"action":"timeout"`):                                                          "put[1].action",
			mentions(`"action":"mute"`):                                                             "put[1].muteSeconds",
			mentions(`"action":"mute","muteSeconds":0`):                                             "put[1].muteSeconds",
			mentions(`"action":"mute","muteSeconds":1209601`):                                       "put[1].muteSeconds",
			mentions(`"action":"block","muteSeconds":60`):                                           "put[1].muteSeconds",
			mentions(`"action":"block","strikes":1`):                                                "put[1].strikes",
			mentions(`"action":"block","expiresAt":"` + now.String() + `"`):                         "put[1].expiresAt",
			mentions(`"action":"block","exemptRoles":["vip","moderator"]`):                          "put[1].exemptRoles[1]",
			mentions(`"action":"block","exemptRoles":["vip","vip"]`):                                "put[1].exemptRoles[1]",
			mentions(`"action":"block","exemptFollowersOlderThanSeconds":31536001`):                 "put[1].exemptFollowersOlderThanSeconds",
			mentions(`"action":"block","message":"` + strings.Repeat("x", 151) + `"`):               "put[1].message",
			mentions(`"action":"block","message":" "`):                                              "put[1].message",
			mentions(`"action":"block","max":51`):                                                   "put[1].max",
			mentions(`"action":"block","terms":["x"]`):                                              "put[1].terms",
			mentions(`"action":"block","evasions":false`):                                           "put[1].evasions",
			mentions(`"action":"block","percent":70`):                                               "put[1].percent",
			mentions(`"action":"block","ruleId":"x"`):                                               "put[1].ruleId",
			mentions(`"action":"block","ruleId":"` + uid.New().String() + `"`):                      "put[1].ruleId",
			`"put":[{"name":"x","kind":"words","action":"block"}]`:                                  "put[0].kind",
			`"put":[{"name":"x","kind":"mentions","action":"block"}]`:                               "put[0].max",
			`"put":[{"name":"x","kind":"pattern","action":"block","patterns":["a","("]}]`:           "put[0].patterns[1]",
			`"put":[` + term("x", named) + `,` + term("y", named) + `]`:                             "put[1].ruleId",
			`"put":[` + term("x", named) + `],"delete":["` + strings.ToUpper(id) + `"]`:             "delete[0]",
			`"delete":["` + id + `","` + id + `"]`:                                                  "delete[1]",
			`"delete":["` + uid.New().String() + `"]`:                                               "delete[0]",
			`"delete":["x"]`: "delete[0]",
			`"expectedVersion":-1,"delete":["` + id + `"]`: "expectedVersion",
		} {
			status, l := r.tryRules(r.moderator, members)
			if status != http.StatusBadRequest || l.Data.Code != "INVALID_ARGUMENT" || len(l.Data.Violations) != 1 || l.Data.Violations[0].Field != field {
				t.Errorf("%.200s: got %d %+v, want a violation of %s", members, status, l, field)
			}
		}
		if _, l := r.tryRules(r.moderator, `"put":[{"name":" ","kind":"mentions","action":"block"}],"delete":["x"]`); len(l.Data.Violations) != 3 {
			t.Errorf("three mistakes: got %+v", l)
		}
		if status, l := r.tryRules(r.moderator, `"expectedVersion":0,"delete":["`+id+`"]`); status != http.StatusConflict || l.Data.Code != "VERSION_CONFLICT" || l.Data.Version != 1 {
			t.Errorf("another version: got %d %+v", status, l)
		}
		if _, l := r.tryRules(r.As(t, servertest.Viewer), `"delete":["`+id+`"]`); l.Data.Code != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("a viewer: got %+v", l)
		}
		if _, l := r.getRules(-1); l.Data.Version != 1 || len(r.ruleEvents()) != 1 {
			t.Errorf("the rules are %+v", l)
		}
	})
}

// TestLimitsOfRules reaches the limits of a channel, with the rules of its shield.
func TestLimitsOfRules(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		const rule = `{"name":"x","kind":"terms","action":"block","terms":["x"]}`
		many := func(n int, rule string) string { return `"put":[` + strings.Repeat(rule+",", n-1) + rule + `]` }
		wantRefused := func(what, members, code, place string) {
			t.Helper()
			for path, more := range map[string]string{rulesPath: "", rulesPath + "/preview": `,"texts":["x"]`} {
				_, l := r.callRules(r.moderator, http.MethodPost, path, fmt.Sprintf(`{"channelId":%q,%s%s}`, servertest.Owner, members, more))
				got := l.Data.Limit
				for _, v := range l.Data.Violations {
					got += v.Field
				}
				if l.Data.Code != code || got != place {
					t.Errorf("%s %s: got %.300v, want %s of %s", path, what, l, code, place)
				}
			}
		}
		wantRefused("too costly", many(12, `{"name":"x","kind":"pattern","action":"block","patterns":["(a{1,4}b){1,3}"]}`), "RULES_TOO_COSTLY", "put[0].patterns[0]")
		l := r.rules(many(99, rule))
		preset := &moderatov1.ShieldPreset{Rules: []*moderatov1.ChatRule{{Name: "x", Kind: "terms", Action: "block", Terms: []string{"x"}}}}
		if err := r.Store.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
			return tx.Shield.Create().SetID(servertest.Owner).SetPreset(string(jsonapi.Marshal(preset))).SetPresetVersion(7).Exec(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		wantRefused("too many rules", `"put":[`+rule+`]`, "RULE_LIMIT_REACHED", "rules")
		r.rules(fmt.Sprintf(`"put":[%s],"delete":[%q]`, rule, l.id(0)))
	})
}
