package rules_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestSettingsKeepWhatARequestDoesNotHave(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		if d := r.get().Data; d.Version != 0 || d.SlowSeconds != 0 || d.FollowersOnlySeconds != -1 || !slices.Equal(d.ExemptRoles, []string{"vip", "og"}) {
			t.Errorf("at first: got %+v", d)
		}
		r.set(`"slowSeconds":30`)
		if d := r.set(`"exemptRoles":[],"expectedVersion":1`).Data; d.Version != 2 || d.SlowSeconds != 30 || len(d.ExemptRoles) != 0 {
			t.Errorf("got %+v", d)
		}
		if d := r.set(`"slowSeconds":30,"exemptRoles":[]`).Data; d.Version != 2 {
			t.Errorf("a change of nothing: got the version %d", d.Version)
		}
		_, public := r.call(r.AsApp(t), http.MethodGet, settingsPath+"?channelId="+servertest.Owner.String(), "")
		if d := public.Data; d.Version != 2 || d.SlowSeconds != 30 {
			t.Errorf("an app reads %+v", public)
		}
		events := r.events()
		if len(events) != 2 || events[1].GetVersion() != 2 || events[1].GetSlowSeconds() != 30 || events[1].GetCause() != "moderator" ||
			events[1].GetModeratorId() != servertest.Moderator.String() || events[1].GetClientId() != servertest.Dashboard || len(events[1].GetExemptRoles()) != 0 {
			t.Errorf("the events are %v", events)
		}
	})
}

// TestOnlyModeratorsReadHowMessagesAreHeld changes the settings that only moderators read.
func TestOnlyModeratorsReadHowMessagesAreHeld(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		if d := r.get().Data; d.HoldSeconds != 600 || d.OnHoldExpiry != "deny" {
			t.Errorf("at first: got %+v", d)
		}
		r.set(`"firstMessage":"hold","holdSeconds":60,"onHoldExpiry":"approve"`)
		if d := r.get().Data; d.HoldSeconds != 60 || d.OnHoldExpiry != "approve" || d.FirstMessage != "hold" {
			t.Errorf("got %+v", d)
		}
		response, public := r.call(r.AsApp(t), http.MethodGet, settingsPath+"?channelId="+servertest.Owner.String(), "")
		if public.Data.FirstMessage != "hold" || strings.Contains(response.Body, "holdSeconds") || strings.Contains(response.Body, "Expiry") {
			t.Errorf("an app reads %s", response.Body)
		}
		if e := r.events()[0]; e.GetFirstMessage() != "hold" {
			t.Errorf("the event is %v", e)
		}
	})
}

func TestVersionConflict(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.set(`"slowSeconds":30`)
		response, b := r.call(r.moderator, http.MethodPost, settingsPath, fmt.Sprintf(`{"channelId":%q,"slowSeconds":60,"expectedVersion":0}`, servertest.Owner))
		if response.Status != http.StatusConflict || b.Data.Code != "VERSION_CONFLICT" || b.Data.Version != 1 || r.get().Data.SlowSeconds != 30 {
			t.Errorf("got %s", response.Body)
		}
	})
}

func TestBadSettingsChangeNothing(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		for members, field := range map[string]string{
			`"slowSeconds":3601`:                                       "slowSeconds",
			`"slowSeconds":-1`:                                         "slowSeconds",
			`"followersOnlySeconds":-2`:                                "followersOnlySeconds",
			`"followersOnlySeconds":7776001`:                           "followersOnlySeconds",
			`"minAccountAgeSeconds":31536001`:                          "minAccountAgeSeconds",
			`"uniqueSeconds":301`:                                      "uniqueSeconds",
			`"firstMessage":"refuse"`:                                  "firstMessage",
			`"onHoldExpiry":"hold"`:                                    "onHoldExpiry",
			`"holdSeconds":59`:                                         "holdSeconds",
			`"holdSeconds":86401`:                                      "holdSeconds",
			`"exemptRoles":["vip","admin"]`:                            "exemptRoles[1]",
			`"exemptRoles":["vip",1]`:                                  "exemptRoles[1]",
			`"exemptRoles":["og","og"]`:                                "exemptRoles[1]",
			`"exemptRoles":["vip","og","subscriber","vip"]`:            "exemptRoles",
			`"exemptRoles":["og","subscriber"],"subscribersOnly":true`: "exemptRoles[1]",
			`"durationSeconds":60`:                                     "durationSeconds",
			`"slowSeconds":5,"durationSeconds":59`:                     "durationSeconds",
			`"slowSeconds":5,"durationSeconds":86401`:                  "durationSeconds",
			`"slowSeconds":5,"expectedVersion":-1`:                     "expectedVersion",
		} {
			response, b := r.call(r.moderator, http.MethodPost, settingsPath, fmt.Sprintf(`{"channelId":%q,%s}`, servertest.Owner, members))
			if response.Status != http.StatusBadRequest || b.Data.Code != "INVALID_ARGUMENT" || len(b.Data.Violations) != 1 || b.Data.Violations[0].Field != field {
				t.Errorf("%s: got %s, want a violation of %s", members, response.Body, field)
			}
		}
		if d := r.get().Data; d.Version != 0 || len(r.events()) != 0 {
			t.Errorf("the settings are %+v", d)
		}
	})
}

func TestWhoMayChangeSettings(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		change := fmt.Sprintf(`{"channelId":%q,"slowSeconds":30}`, servertest.Owner)
		for what, c := range map[string]struct {
			as   servertest.Credentials
			code string
		}{
			"a viewer":      {r.As(t, servertest.Viewer), "NOT_CHANNEL_MODERATOR"},
			"another owner": {r.As(t, servertest.Other), "NOT_CHANNEL_MODERATOR"},
			"an app":        {r.AsApp(t), "TOKEN_KIND_NOT_ACCEPTED"},
			"the owner":     {r.owner, ""},
		} {
			if _, b := r.call(c.as, http.MethodPost, settingsPath, change); b.Data.Code != c.code {
				t.Errorf("%s: got %s, want %s", what, b.Data.Code, c.code)
			}
		}
		if _, b := r.call(r.As(t, servertest.Viewer), http.MethodGet, "/v1/moderation/settings?channelId="+servertest.Owner.String(), ""); b.Data.Code != "NOT_CHANNEL_MODERATOR" {
			t.Errorf("a viewer reads %+v", b)
		}
		if _, b := r.call(r.owner, http.MethodGet, settingsPath+"?channelId="+servertest.Viewer.String(), ""); b.Data.Code != "CHANNEL_NOT_FOUND" {
			t.Errorf("of no channel: got %+v", b)
		}
	})
}

// TestTimedSettingsEnd sets values for a time, while no job ends them.
func TestTimedSettingsEnd(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"slowSeconds":10`)
		r.set(`"slowSeconds":30,"followersOnlySeconds":60,"durationSeconds":60`)
		r.set(`"uniqueSeconds":5,"durationSeconds":120`)
		d := r.get().Data
		if d.Version != 3 || d.SlowSeconds != 30 || len(d.Timed) != 3 || d.Timed[0].Setting != "followersOnlySeconds" || d.Timed[0].EndsAt != now.Add(time.Minute).String() {
			t.Errorf("got %+v", d)
		}
		r.set(`"followersOnlySeconds":-1`) // stays
		busy := storetest.Must(r.Store.ChangeQueues.Acquire(t.Context(), servertest.Owner))
		r.Store.Clock.Freeze(now.Add(time.Minute) - 1)
		if d := r.get().Data; d.SlowSeconds != 30 || d.FollowersOnlySeconds != -1 || d.Version != 4 {
			t.Errorf("before the end: got %+v", d)
		}
		r.Store.Clock.Freeze(now.Add(time.Minute))
		if d := r.get().Data; d.SlowSeconds != 10 || d.FollowersOnlySeconds != -1 || d.Version != 5 || len(d.Timed) != 1 {
			t.Errorf("at the end: got %+v", d)
		}
		r.Store.Clock.Freeze(now.Add(3 * time.Minute))
		if d := r.get().Data; d.Version != 6 || len(d.Timed) != 0 {
			t.Errorf("after the second end: got %+v", d)
		}
		busy.Release()
		// The job and a change may both find the ends.
		r.set(`"slowSeconds":20,"expectedVersion":6`)
		moderator, expired := "chat.settings moderator", "chat.settings expired by itself"
		r.wantShieldEvents(moderator, moderator, moderator, moderator, expired, expired, moderator)
		events := r.events()
		if e := events[4]; e.GetVersion() != 5 || e.ModeratorId != nil || e.GetClientId() != "" || e.GetSlowSeconds() != 10 || e.GetUniqueSeconds() != 5 {
			t.Errorf("the event of the first end is %v", e)
		}
		if e := events[5]; e.GetVersion() != 6 || e.GetUniqueSeconds() != 0 {
			t.Errorf("the event of the second end is %v", e)
		}
	})
}
