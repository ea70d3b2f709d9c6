package rules_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent/mute"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr/apierrtest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// lift reverts, as the owner, and returns the users whose mutes are lifted, or the fields that are
// wrong.
func (r *room) lift(req *moderatov1.RevertModeratorRequest) (lifted, wrong []string) {
	r.t.Helper()
	req.ChannelId = servertest.Owner.String()
	got, err := r.Moderation.RevertModerator(r.owner.Context(), req)
	if err != nil {
		for _, v := range apierrtest.Of(err).Violations {
			wrong = append(wrong, v.Field)
		}
		return nil, wrong
	}
	for _, row := range got.GetResults() {
		lifted = append(lifted, row.GetUserId()+" "+row.GetStatus())
	}
	return lifted, nil
}

// TestRevertOfRule lifts the mutes of a rule that was deleted, and those of its editor.
func TestRevertOfRule(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		posted := r.say(servertest.Raider, "hello").Data.MessageID
		put := r.rules(`"put":[` + about("one", "mute", `"muteSeconds":600`) + `,` + about("two", "mute", `"muteSeconds":60`) + `]`)
		r.say(servertest.Raider, "one")
		r.Store.Clock.Freeze(now.Add(time.Second))
		r.say(servertest.Viewer, "two")
		r.REST(t, r.owner, http.MethodPost, "/v1/moderation/mute", fmt.Sprintf(`{"channelId":%q,"mutedUserId":%q}`, servertest.Owner, servertest.Other))
		r.rules(fmt.Sprintf(`"delete":[%q]`, put.id(0)))
		if n := len(r.visible()); n != 0 {
			t.Fatalf("%d messages are visible", n)
		}
		unmuted := func(user uid.ID) string { return user.String() + " UNMUTED" }
		want := func(what string, got []string, wanted ...string) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(wanted) {
				t.Errorf("%s: got %v, want %v", what, got, wanted)
			}
		}
		later := now.Add(time.Second).Proto()
		lifted, _ := r.lift(&moderatov1.RevertModeratorRequest{RuleId: put.id(0), Since: later})
		want("before the time", lifted)
		lifted, _ = r.lift(&moderatov1.RevertModeratorRequest{RuleId: put.id(0), DryRun: true})
		want("a dry run", lifted, unmuted(servertest.Raider))
		lifted, _ = r.lift(&moderatov1.RevertModeratorRequest{RuleId: uid.New().String()})
		want("an unknown rule", lifted)
		lifted, _ = r.lift(&moderatov1.RevertModeratorRequest{RuleId: put.id(0)})
		want("the rule", lifted, unmuted(servertest.Raider))
		if ids := r.visible(); len(ids) != 1 || ids[0] != posted {
			t.Errorf("then %v are visible", ids)
		}
		lifted, _ = r.lift(&moderatov1.RevertModeratorRequest{RuleId: put.id(0)})
		want("once more", lifted)
		lifted, _ = r.lift(&moderatov1.RevertModeratorRequest{ModeratorId: servertest.Moderator.String(), Since: now.Proto()})
		want("the editor", lifted, unmuted(servertest.Viewer))
		if left := storetest.Must(r.Store.Read.Mute.Query().Where(mute.ChannelID(servertest.Owner)).All(t.Context())); len(left) != 1 || left[0].UserID != servertest.Other {
			t.Errorf("the mutes are %v", left)
		}
		for _, c := range []struct {
			req  *moderatov1.RevertModeratorRequest
			want []string
		}{
			{&moderatov1.RevertModeratorRequest{}, []string{"moderatorId", "since"}},
			{&moderatov1.RevertModeratorRequest{RuleId: put.id(0), ModeratorId: servertest.Moderator.String()}, []string{"moderatorId", "ruleId"}},
			{&moderatov1.RevertModeratorRequest{RuleId: "x"}, []string{"ruleId"}},
			{&moderatov1.RevertModeratorRequest{ModeratorId: servertest.Moderator.String()}, []string{"since"}},
		} {
			_, wrong := r.lift(c.req)
			want(fmt.Sprint(c.req), wrong, c.want...)
		}
	})
}
