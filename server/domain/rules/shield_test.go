package rules_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/event"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const (
	shieldPath = "/v1/moderation/shield"
	presetPath = "/v1/moderation/shield/preset"
)

// shield is the body of a response with a shield, or with its preset alone.
type shield struct {
	Data struct {
		Active                  bool
		StartedBy               *struct{ ID string }
		Cause, Reason           *string
		StartedAt, EndsAt, Code string
		Violations              []struct{ Field string }
		Preset                  struct {
			Settings  map[string]any
			Rules     []struct{ RuleID, Name string }
			AutoStart map[string]any
		}
	}
}

func (r *room) shield(as servertest.Credentials, method, path, members string) *shield {
	r.t.Helper()
	text := ""
	if method == http.MethodGet {
		path += "?channelId=" + servertest.Owner.String()
	} else {
		text = fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members)
	}
	response, s := r.REST(r.t, as, method, path, text), &shield{}
	if err := json.Unmarshal([]byte(response.Body), s); err != nil {
		r.t.Fatal(err, response.Body)
	}
	return s
}

// preset puts a preset as the owner, and raise raises the shield as the moderator.
func (r *room) preset(members string) *shield {
	r.t.Helper()
	s := r.shield(r.owner, http.MethodPost, presetPath, members)
	if s.Data.Code != "" {
		r.t.Fatalf("%s: %+v", members, s)
	}
	return s
}

func (r *room) raise(members string) *shield {
	r.t.Helper()
	s := r.shield(r.moderator, http.MethodPost, shieldPath, members)
	if s.Data.Code != "" {
		r.t.Fatalf("%s: %+v", members, s)
	}
	return s
}

func (r *room) getShield() *shield {
	r.t.Helper()
	return r.shield(r.moderator, http.MethodGet, shieldPath, "")
}

// shieldEvents are the events of the shield and the settings: the short type, the cause, and
// who made the change.
func (r *room) shieldEvents() (all []string) {
	r.t.Helper()
	for _, row := range storetest.Must(r.Store.Read.Event.Query().Where(event.ChannelID(servertest.Owner)).Order(ent.Asc(event.FieldSequence)).All(r.t.Context())) {
		var e struct {
			Cause       string
			ModeratorID *string
			Changed     []string
		}
		if err := json.Unmarshal([]byte(row.Payload), &e); err != nil {
			r.t.Fatal(err)
		}
		text := strings.TrimPrefix(row.Type, "channel.") + " " + e.Cause + strings.Join(e.Changed, ",")
		if e.ModeratorID == nil {
			text += " by itself"
		}
		if strings.HasPrefix(row.Type, "channel.shield") || row.Type == "channel.chat.settings" {
			all = append(all, text)
		}
	}
	return all
}

func (r *room) wantShieldEvents(want ...string) {
	r.t.Helper()
	if got := r.shieldEvents(); !slices.Equal(got, want) {
		r.t.Errorf("the events are\n%q, want\n%q", got, want)
	}
}

// TestShieldIsAnOverlay raises and lowers a shield, and changes a setting meanwhile.
func TestShieldIsAnOverlay(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		if d := r.getShield().Data; d.Active || d.StartedBy != nil || d.Cause != nil || d.EndsAt != "" || d.Preset.Settings == nil {
			t.Errorf("at first: got %+v", d)
		}
		r.set(`"slowSeconds":10`)
		r.preset(`"settings":{"slowSeconds":5,"subscribersOnly":true}`)
		if r.get().Data.ShieldActive || r.post(servertest.Viewer, "one") != "" {
			t.Error("the preset is in force before the shield is raised")
		}
		r.Store.Clock.Freeze(now.Add(time.Minute))
		d := r.raise(`"active":true,"reason":"a raid"`).Data
		if !d.Active || d.StartedBy == nil || d.StartedBy.ID != servertest.Moderator.String() || *d.Cause != "moderator" || *d.Reason != "a raid" ||
			d.StartedAt != now.Add(time.Minute).String() || d.EndsAt != now.Add(16*time.Minute).String() || d.Preset.Settings["slowSeconds"] != 5.0 {
			t.Errorf("raised: got %+v", d)
		}
		if s := r.get().Data; !s.ShieldActive || s.Version != 1 || s.SlowSeconds != 10 {
			t.Errorf("the settings are %+v", s)
		}
		r.want("a viewer", r.post(servertest.Viewer, "two"), "subscribers", new(now.Add(16*time.Minute)))
		if s := r.set(`"slowSeconds":3,"expectedVersion":1`).Data; s.SlowSeconds != 5 {
			t.Errorf("with the shield: got %+v", s)
		}
		if d := r.raise(`"active":false`).Data; d.Active || d.Cause != nil || d.Reason != nil {
			t.Errorf("lowered: got %+v", d)
		}
		if s := r.get().Data; s.ShieldActive || s.SlowSeconds != 3 || s.Version != 2 {
			t.Errorf("afterwards, the settings are %+v", s)
		}
		r.raise(`"active":false`) // it is down
		r.wantShieldEvents("chat.settings moderator", "shield.preset settings", "shield.begin moderator", "chat.settings shield",
			"chat.settings moderator", "shield.end moderator", "chat.settings shield")
	})
}

// TestSettingsUnderTheShield changes settings for a time while the shield is up. Moderators read
// the channel's own settings beside those in force, and the former values return on the own ones.
func TestSettingsUnderTheShield(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.preset(`"settings":{"slowSeconds":5,"exemptRoles":["vip"]}`)
		r.set(`"slowSeconds":2`)
		want := func(what string, inForce, own int64) {
			t.Helper()
			d := r.get().Data
			if d.SlowSeconds != inForce || d.Own == nil || d.Own.SlowSeconds != own || d.Own.HoldSeconds != 600 || d.Own.FollowersOnlySeconds != -1 || !slices.Equal(d.Own.ExemptRoles, []string{"vip", "og"}) {
				t.Errorf("%s: got %+v and of its own %+v, want %d and %d", what, d, d.Own, inForce, own)
			}
		}
		want("before", 2, 2)
		r.raise(`"active":true,"durationSeconds":600`)
		want("raised", 5, 2)
		if d := r.set(`"slowSeconds":3,"durationSeconds":60`).Data; d.SlowSeconds != 5 || d.Version != 2 || len(d.Timed) != 1 {
			t.Errorf("the change has %+v, want what is in force", d)
		}
		want("changed to less", 5, 3)
		r.set(`"slowSeconds":30,"durationSeconds":120`)
		want("changed to more", 30, 30)
		r.Store.Clock.Freeze(now.Add(2 * time.Minute))
		want("returned, with the shield", 5, 2)
		r.set(`"slowSeconds":4,"durationSeconds":600`)
		r.Store.Clock.Freeze(now.Add(11 * time.Minute))
		want("without the shield", 4, 4)
		r.Store.Clock.Freeze(now.Add(12 * time.Minute))
		want("returned", 2, 2)
	})
}

// TestShieldIsExtended raises a shield that is up, and one without a preset.
func TestShieldIsExtended(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.raise(`"active":true,"durationSeconds":60,"reason":"a raid"`)
		r.Store.Clock.Freeze(now.Add(30 * time.Second))
		d := r.shield(r.owner, http.MethodPost, shieldPath, `"active":true,"durationSeconds":60`).Data
		if d.EndsAt != now.Add(90*time.Second).String() || d.StartedAt != now.String() || d.StartedBy.ID != servertest.Moderator.String() || *d.Reason != "a raid" {
			t.Errorf("got %+v", d)
		}
		r.Store.Clock.Freeze(now.Add(89 * time.Second))
		if !r.getShield().Data.Active {
			t.Error("it is down before its new end")
		}
		r.wantShieldEvents("shield.begin moderator", "shield.begin moderator") // no setting is another one
	})
}

// TestShieldEndsByItself has an end that no job announces, and then an end of settings at the same
// time.
func TestShieldEndsByItself(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.preset(`"settings":{"emoteOnly":true}`)
		r.set(`"slowSeconds":30,"durationSeconds":60`)
		r.raise(`"active":true,"durationSeconds":60`)
		busy := storetest.Must(r.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner))
		r.Store.Clock.Freeze(now.Add(time.Minute) - 1)
		r.want("before the end", r.post(servertest.Viewer, "one"), "emote", new(now.Add(time.Minute)))
		r.Store.Clock.Freeze(now.Add(time.Minute))
		if d := r.getShield().Data; d.Active || d.Cause != nil || d.EndsAt != "" {
			t.Errorf("at the end: got %+v", d)
		}
		if d := r.get().Data; d.ShieldActive || d.SlowSeconds != 0 {
			t.Errorf("at the end, the settings are %+v", d)
		}
		busy.Release()
		for range 2 {
			if err := (&rules.Expirer{Store: r.Store}).EndSettings(t.Context()); err != nil {
				t.Error(err)
			}
		}
		r.wantShieldEvents("shield.preset settings", "chat.settings moderator", "shield.begin moderator", "chat.settings shield",
			"shield.end expired by itself", "chat.settings shield by itself", "chat.settings expired by itself")
		if e := r.events()[2]; e.GetEmoteOnly() || e.GetShieldActive() || e.GetVersion() != 1 {
			t.Errorf("the event of the end has %v", e)
		}
	})
}

func TestBadShieldsChangeNothing(t *testing.T) {
	const rule = `{"name":"a","kind":"mentions","action":"block","max":3}`
	each(t, func(r *room, now instant.Instant) {
		for _, c := range []struct{ path, members, field string }{
			{shieldPath, `"reason":"a"`, "active"},
			{shieldPath, `"active":false,"durationSeconds":60`, "durationSeconds"},
			{shieldPath, `"active":true,"durationSeconds":59`, "durationSeconds"},
			{shieldPath, `"active":true,"reason":""`, "reason"},
			{presetPath, `"settings":{"slowSeconds":3601}`, "settings.slowSeconds"},
			{presetPath, `"settings":{"exemptRoles":["admin"]}`, "settings.exemptRoles[0]"},
			{presetPath, `"rules":[` + rule + `]`, "settings"},
			{presetPath, `"settings":{},"autoStart":{}`, "autoStart"},
			{presetPath, `"settings":{},"autoStart":{"followsPerMinute":0}`, "autoStart.followsPerMinute"},
			{presetPath, `"settings":{},"autoStart":{"heldPerMinute":100001}`, "autoStart.heldPerMinute"},
			{presetPath, `"settings":{},"rules":[` + rule + `,{"name":"b","kind":"mentions","action":"block","max":51}]`, "rules[1].max"},
			{presetPath, `"settings":{},"rules":[` + strings.Repeat(rule+",", 20) + rule + `]`, "rules"},
			{presetPath, `"settings":{},"rules":[{"ruleId":"0198c0de-0000-7000-8000-000000000001",` + rule[1:] + `]`, "rules[0].ruleId"},
			{presetPath, `"settings":{},"rules":[{"expiresAt":"` + now.String() + `",` + rule[1:] + `]`, "rules[0].expiresAt"},
		} {
			d := r.shield(r.owner, http.MethodPost, c.path, c.members).Data
			if d.Code != "INVALID_ARGUMENT" || len(d.Violations) != 1 || d.Violations[0].Field != c.field {
				t.Errorf("%s: got %+v, want a violation of %s", c.members, d, c.field)
			}
		}
		if d := r.shield(r.moderator, http.MethodPost, presetPath, `"settings":{}`).Data; d.Code != "NOT_CHANNEL_OWNER" {
			t.Errorf("the preset of a moderator: got %+v", d)
		}
		for _, as := range []servertest.Credentials{r.As(t, servertest.Viewer), r.As(t, servertest.Other)} {
			if d := r.shield(as, http.MethodPost, shieldPath, `"active":true`).Data; d.Code != "NOT_CHANNEL_MODERATOR" {
				t.Errorf("a shield of somebody else: got %+v", d)
			}
		}
		r.wantShieldEvents()
	})
}

// TestPresetIsReplaced replaces a preset, while the shield is down and while it is up.
func TestPresetIsReplaced(t *testing.T) {
	const rule = `{"name":"a","kind":"mentions","action":"block","max":3}`
	each(t, func(r *room, _ instant.Instant) {
		all := `"settings":{"slowSeconds":5},"rules":[` + rule + `],"autoStart":{"followsPerMinute":100}`
		before := r.preset(all).Data.Preset
		if len(before.Rules) != 1 || before.Rules[0].RuleID == "" || before.AutoStart["followsPerMinute"] != 100.0 {
			t.Fatalf("got %+v", before)
		}
		kept := strings.Replace(all, `{"name"`, `{"ruleId":"`+strings.ToUpper(before.Rules[0].RuleID)+`","name"`, 1)
		r.preset(kept)
		if d := r.getShield().Data.Preset; d.Rules[0] != before.Rules[0] || d.Settings["slowSeconds"] != 5.0 || d.AutoStart["followsPerMinute"] != 100.0 {
			t.Errorf("got %+v", d)
		}
		twice := strings.Replace(kept, "}],", "},"+kept[strings.Index(kept, `{"ruleId"`):strings.Index(kept, "],")]+"],", 1)
		if d := r.shield(r.owner, http.MethodPost, presetPath, twice).Data; len(d.Violations) != 1 || d.Violations[0].Field != "rules[1].ruleId" {
			t.Errorf("a rule that is given twice: got %+v", d)
		}
		version := storetest.Must(r.Store.Read.Shield.Get(t.Context(), servertest.Owner)).PresetVersion
		r.preset(strings.Replace(kept, ":100}", ":50}", 1))
		if got := storetest.Must(r.Store.Read.Shield.Get(t.Context(), servertest.Owner)).PresetVersion; got != version {
			t.Errorf("rules that did not change have the version %d, want %d", got, version)
		}
		r.raise(`"active":true`)
		r.preset(`"settings":{"slowSeconds":7}`)
		if got := r.get().Data.SlowSeconds; got != 7 {
			t.Errorf("with another preset, slowSeconds is %d", got)
		}
		if d := r.getShield().Data; !d.Active || len(d.Preset.Rules) != 0 || d.Preset.AutoStart != nil {
			t.Errorf("got %+v", d)
		}
		r.wantShieldEvents("shield.preset settings,rules,autoStart", "shield.preset autoStart", "shield.begin moderator", "chat.settings shield",
			"shield.preset settings,rules,autoStart", "chat.settings shield")
	})
}

// TestRulesOfPresetExpire lets a rule of a preset expire. The owner saves what was read before and
// after that, and the channel has room for another rule.
func TestRulesOfPresetExpire(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		end := now.Add(time.Minute)
		rule := func(name string, more ...string) string { return about(name, "block", more...) }
		before := r.preset(`"settings":{},"rules":[` + rule("gems", until(end)) + `,` + rule("coins") + `]`).Data.Preset.Rules
		ids := []string{fmt.Sprintf(`"ruleId":%q`, before[0].RuleID), fmt.Sprintf(`"ruleId":%q`, before[1].RuleID)}
		r.rules(`"put":[` + strings.Repeat(term("a")+",", 97) + term("a") + `]`)
		full := func() bool {
			status, _ := r.tryRules(r.moderator, `"put":[`+term("a")+`]`)
			return status != http.StatusOK
		}
		r.Store.Clock.Freeze(end - 1)
		r.raise(`"active":true`)
		if got := r.getShield().Data.Preset.Rules; len(got) != 2 || !full() {
			t.Errorf("before the time: got %+v, want two rules that count", got)
		}
		d := r.shield(r.owner, http.MethodPost, presetPath, `"settings":{},"rules":[`+rule("gems", ids[0], until(now))+`]`).Data
		if len(d.Violations) != 1 || d.Violations[0].Field != "rules[0].expiresAt" {
			t.Errorf("a rule that is put with a time of the past: got %+v", d)
		}
		r.Store.Clock.Freeze(end)
		if got := r.getShield().Data.Preset.Rules; !slices.Equal(got, before[1:]) || full() {
			t.Errorf("got %+v, want room and %+v", got, before[1:])
		}
		if got := r.say(servertest.Viewer, "coins").code(); got != "MESSAGE_BLOCKED" {
			t.Errorf("a post that needs the rules: got %q", got)
		}
		for range 2 {
			saved := r.preset(`"settings":{"slowSeconds":9},"rules":[` + rule("gems", ids[0], until(end)) + `,` + rule("coins", ids[1]) + `]`).Data.Preset
			if !slices.Equal(saved.Rules, before[1:]) || saved.Settings["slowSeconds"] != 9.0 {
				t.Errorf("saved as it was read: got %+v", saved)
			}
		}
		r.wantShieldEvents("shield.preset rules", "shield.begin moderator", "shield.preset settings", "chat.settings shield")
	})
}

// TestPresetCountsForTheLimits puts more terms into a preset than a channel may have, and rules that
// take too long beside those of the channel.
func TestPresetCountsForTheLimits(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		var all []string
		for i := range 11 {
			terms := make([]string, 1000)
			for j := range terms {
				terms[j] = fmt.Sprintf("term %d %d", i, j)
			}
			text, _ := json.Marshal(map[string]any{"name": "a", "kind": "terms", "action": "block", "terms": terms})
			all = append(all, string(text))
		}
		if d := r.shield(r.owner, http.MethodPost, presetPath, `"settings":{},"rules":[`+strings.Join(all, ",")+`]`).Data; d.Code != "RULE_LIMIT_REACHED" {
			t.Errorf("got %+v", d)
		}
		long := func(n int) string {
			return fmt.Sprintf(`{"name":"a","kind":"pattern","action":"block","patterns":["a",%q]}`, strings.Repeat("[ab]", n))
		}
		r.rules(`"put":[` + long(80) + `]`)
		for n, place := range map[int]string{81: "rules[1].patterns[1]", 79: ""} {
			d := r.shield(r.owner, http.MethodPost, presetPath, `"settings":{},"rules":[`+long(1)+`,`+long(n)+`]`).Data
			if d.Code != "RULES_TOO_COSTLY" || len(d.Violations) != 1 || d.Violations[0].Field != place {
				t.Errorf("got %+v, want %q", d, place)
			}
		}
		r.wantShieldEvents()
	})
}

// TestRulesOfPresetApplyUnderTheShield posts before, while and after the shield is up.
func TestRulesOfPresetApplyUnderTheShield(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.preset(`"settings":{},"rules":[` + about("gems", "block") + `]`)
		want := func(when, code string) {
			t.Helper()
			if got := r.say(servertest.Viewer, "gems").code(); got != code {
				t.Errorf("%s: got %q, want %q", when, got, code)
			}
		}
		want("before", "")
		r.raise(`"active":true,"durationSeconds":60`)
		want("under the shield", "MESSAGE_BLOCKED")
		r.preset(`"settings":{},"rules":[` + about("coins", "block") + `]`)
		want("under another preset", "")
		r.preset(`"settings":{},"rules":[` + about("gems", "block") + `]`)
		want("under the first again", "MESSAGE_BLOCKED")
		r.Store.Clock.Freeze(now.Add(time.Minute))
		want("after its time", "")
		r.raise(`"active":true,"durationSeconds":60`)
		r.shield(r.moderator, http.MethodPost, shieldPath, `"active":false`)
		want("lowered", "")
	})
}
