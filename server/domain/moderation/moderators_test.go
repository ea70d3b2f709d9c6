package moderation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

func (d *drive) moderators() []string {
	d.t.Helper()
	list, err := d.Moderation.ListModerators(d.creds[servertest.Viewer].Context(), &moderatov1.ListModeratorsRequest{ChannelId: servertest.Owner.String()})
	if err != nil {
		d.t.Fatal(err)
	}
	names := []string{}
	for _, m := range list.GetModerators() {
		names = append(names, m.GetSlug())
	}
	return names
}

func (d *drive) setModerator(user uid.ID, is bool) error {
	method := http.MethodPost
	if !is {
		method = http.MethodDelete
	}
	t := d.t.(*testing.T)
	r := d.REST(t, d.creds[servertest.Owner], method, "/v1/moderation/moderators", channelBody(`"userId":"`+user.String()+`"`))
	if r.Status != http.StatusOK || r.Body != `{"success":true,"message":"success"}` {
		t.Errorf("%s of moderator %s: %d %s", method, user, r.Status, r.Body)
	}
	return nil
}

func TestAddAndRemoveModerator(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		steps := []struct {
			user uid.ID
			is   bool
			want []string
		}{
			{servertest.Viewer, true, []string{"tomasz_wrona", "amara.okafor"}},
			{servertest.Viewer, true, []string{"tomasz_wrona", "amara.okafor"}}, // again: no change
			{servertest.Raider, true, []string{"tomasz_wrona", "amara.okafor", "lootgoblin77"}},
			{servertest.Moderator, false, []string{"amara.okafor", "lootgoblin77"}},
			{servertest.Moderator, false, []string{"amara.okafor", "lootgoblin77"}}, // again: no change
			{servertest.Moderator, true, []string{"amara.okafor", "lootgoblin77", "tomasz_wrona"}},
		}
		for i, step := range steps {
			d.Store.Clock.Advance(1_000_000) // so that each role has its own millisecond
			if err := d.setModerator(step.user, step.is); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(step.want, d.moderators()); diff != "" {
				t.Errorf("after step %d (-want +got):\n%s", i+1, diff)
			}
		}
		d.wantEvents("channel.moderator.add", "channel.moderator.add", "channel.moderator.remove", "channel.moderator.add")
		got := payload(t, d.events()[0])
		if got["userId"] != servertest.Viewer.String() || got["moderatorId"] != servertest.Owner.String() || got["role"] != "moderator" {
			t.Errorf("payload of channel.moderator.add: %v", got)
		}
	})
}

func TestNewModeratorHasRightsImmediately(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		_, err := d.ban(servertest.Viewer, servertest.Raider)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		if err := d.setModerator(servertest.Viewer, true); err != nil {
			t.Fatal(err)
		}
		_, err = d.ban(servertest.Viewer, servertest.Raider)
		wantReason(t, err, "OK")
	})
}

func TestListModeratedChannelsOfUser(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		r := d.REST(t, d.creds[servertest.Moderator], http.MethodGet, "/v1/moderation/channels?userId="+strings.ToUpper(servertest.Moderator.String()), "")
		rows := []string{
			`{"uuid":"` + servertest.Owner.String() + `","username":"Ines","avatarUrl":"https://img.example.com/Ines.png"}`,
			`{"uuid":"` + servertest.Other.String() + `","username":"zoe-l","avatarUrl":"https://img.example.com/zoe-l.png"}`,
		}
		want := `{"success":true,"message":"success","data":[` + strings.Join(rows, ",") + `]}`
		if r.Status != http.StatusOK || r.Body != want {
			t.Errorf("got %d %s\nwant %s", r.Status, r.Body, want)
		}
		r = d.REST(t, d.creds[servertest.Viewer], http.MethodGet, "/v1/moderation/channels?userId="+servertest.Viewer.String(), "")
		if want := `{"success":true,"message":"success","data":[]}`; r.Body != want {
			t.Errorf("got %s, want %s", r.Body, want)
		}
	})
}

func TestStandingReportsOwnerAndRoles(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		for user, want := range map[uid.ID][]string{
			servertest.Owner:     {"ROLE_OWNER"},
			servertest.Moderator: {"ROLE_MODERATOR"},
			servertest.Viewer:    nil,
		} {
			var got []string
			for _, role := range d.standing(user).GetRoles() {
				got = append(got, role.String())
			}
			if !slices.Equal(got, want) {
				t.Errorf("roles of %s: %v, want %v", user, got, want)
			}
		}
	})
}
