package chat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/domain/chat"
)

// TestStricterSettingIsInForce raises a shield over settings, in both directions: the values of
// one are those of the other in the second run.
func TestStricterSettingIsInForce(t *testing.T) {
	const until = 1000
	for _, c := range []struct{ setting, weaker, stricter string }{
		{"slowSeconds", "0", "5"},
		{"slowSeconds", "5", "6"},
		{"followersOnlySeconds", "-1", "0"},
		{"followersOnlySeconds", "0", "60"},
		{"subscribersOnly", "false", "true"},
		{"emoteOnly", "false", "true"},
		{"minAccountAgeSeconds", "5", "6"},
		{"uniqueSeconds", "5", "6"},
		{"firstMessage", `"allow"`, `"hold"`},
		{"firstMessage", `"hold"`, `"block"`},
		{"firstMessage", `"allow"`, `"block"`},
		{"exemptRoles", `["vip","og"]`, `["og"]`},
		{"exemptRoles", `["vip"]`, `[]`},
	} {
		for _, of := range [][2]string{{c.weaker, c.stricter}, {c.stricter, c.weaker}} {
			s := chat.StoredSettings{
				Values: json.RawMessage(fmt.Sprintf(`{%q:%s}`, c.setting, of[0])),
				Shield: &chat.TimedSettings{Until: until, Values: json.RawMessage(fmt.Sprintf(`{%q:%s}`, c.setting, of[1]))},
			}
			for at, want := range map[instant.Instant]string{until - 1: c.stricter, until: of[0]} {
				got := inForce(t, &s, at)
				if string(got[c.setting]) != want {
					t.Errorf("%s of the settings, %s of the shield: %s is in force at %d, want %s", of[0], of[1], got[c.setting], at, want)
				}
				if got, want := string(got["shieldActive"]), fmt.Sprint(at < until); got != want {
					t.Errorf("shieldActive is %s at %d", got, at)
				}
			}
		}
	}
}

// TestExemptRolesAreThoseOfBoth raises a shield whose roles are others than those of the settings.
func TestExemptRolesAreThoseOfBoth(t *testing.T) {
	s := chat.StoredSettings{Shield: &chat.TimedSettings{Until: 1, Values: json.RawMessage(`{"exemptRoles":["subscriber","og"]}`)}}
	if got := string(inForce(t, &s, 0)["exemptRoles"]); got != `["og"]` {
		t.Errorf("got %s", got)
	}
}

// TestEmptyShieldChangesNothing raises a shield that sets nothing, over the default settings.
func TestEmptyShieldChangesNothing(t *testing.T) {
	s := chat.StoredSettings{Shield: &chat.TimedSettings{Until: 1, Values: json.RawMessage(`{}`)}}
	raised, plain := inForce(t, &s, 0), inForce(t, &s, 1)
	for name, value := range plain {
		if name != "shieldActive" && string(raised[name]) != string(value) {
			t.Errorf("%s is %s, want %s", name, raised[name], value)
		}
	}
}

func inForce(t *testing.T, s *chat.StoredSettings, at instant.Instant) (all map[string]json.RawMessage) {
	t.Helper()
	settings, err := s.At(at)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(settings)
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEnds lists when values end, and the shield.
func TestEnds(t *testing.T) {
	s := chat.StoredSettings{Timed: []chat.TimedSettings{{Until: 10}, {Until: 20}, {Until: 30}}, Shield: &chat.TimedSettings{Until: 20}}
	if got := s.Ends(10); !slices.Equal(got, []instant.Instant{20, 30}) {
		t.Errorf("got %v", got)
	}
}
