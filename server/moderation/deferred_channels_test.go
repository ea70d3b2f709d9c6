package moderation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/uid"
)

// TestBansOfManyChannels bans and unbans the same user in many channels at the same time, and
// lets others follow. These changes share transactions, and are written together. Each must be
// that of its own channel.
func TestBansOfManyChannels(t *testing.T) {
	const channels, rounds = 16, 3
	each(t, func(t *testing.T, d *drive) {
		owners := servertest.AddChannels(t, d.Store, channels)
		followers := servertest.AddUsers(t, d.Store, rounds)
		var all sync.WaitGroup
		for i, channel := range owners {
			owner := d.As(t, channel)
			all.Go(func() {
				for round := range rounds {
					d.say(channel, servertest.Raider, text(i, round))
					_, err := d.Audience.Follow(d.chat.Context(), &platformv1.FollowRequest{ChannelId: channel.String(), UserId: followers[round].String()})
					wantReason(t, err, "OK")
					_, err = d.Moderation.BanUser(owner.Context(), &moderatov1.BanUserRequest{ChannelId: channel.String(), BanUserId: servertest.Raider.String()})
					wantReason(t, err, "OK")
					if !d.isBannedFrom(channel) {
						t.Errorf("channel %d: the user is not banned after the response", i)
					}
					_, err = d.Moderation.RemoveBan(owner.Context(), &moderatov1.RemoveBanRequest{ChannelId: channel.String(), BanUserId: servertest.Raider.String()})
					wantReason(t, err, "OK")
					if d.isBannedFrom(channel) {
						t.Errorf("channel %d: the user is banned after the end of the ban", i)
					}
				}
			})
		}
		all.Wait()
		for i, channel := range owners {
			var want []string
			for round := range rounds {
				want = append(want, "channel.follow", "channel.ban "+text(i, round), "channel.chat.clear_user_messages", "channel.unban")
			}
			if diff := cmp.Diff(want, d.eventsWithEvidence(channel)); diff != "" {
				t.Errorf("channel %d: events (-want +got):\n%s", i, diff)
			}
			row, err := d.Store.Read.Channel.Get(context.Background(), channel)
			if err != nil || row.FollowerCount != rounds {
				t.Errorf("channel %d: got the row %v (%v), want %d followers", i, row, err, rounds)
			}
			page, err := moderatov1.NewChatServiceClient(d.Conn).ListMessages(d.As(t, channel).Context(), &moderatov1.ListMessagesRequest{ChannelId: channel.String()})
			if err != nil || len(page.GetRows()) > 0 {
				t.Errorf("channel %d: got the messages %v (%v), want none", i, page.GetRows(), err)
			}
		}
		if strings.Contains(d.Metrics(t), "\nmoderato_changes_joined_total 0\n") {
			t.Error("no change shared a transaction")
		}
	})
}

func text(channel, round int) string { return fmt.Sprintf("channel %d, round %d", channel, round) }

func (d *drive) isBannedFrom(channel uid.ID) bool {
	st, err := d.Chat.GetStanding(d.chat.Context(), &platformv1.GetStandingRequest{ChannelId: channel.String(), UserId: servertest.Raider.String()})
	if err != nil {
		d.t.Error(err)
	}
	return st.GetIsBanned()
}

// eventsWithEvidence returns the types of a channel's events in order, each with the texts of
// the messages that it keeps.
func (d *drive) eventsWithEvidence(channel uid.ID) []string {
	var found []string
	for _, e := range d.eventsOf(channel) {
		var kept []struct{ Text string }
		if e.Evidence != nil {
			if err := json.Unmarshal([]byte(*e.Evidence), &kept); err != nil {
				d.t.Error(err)
			}
		}
		what := e.Type
		for _, m := range kept {
			what += " " + m.Text
		}
		found = append(found, what)
	}
	return found
}
