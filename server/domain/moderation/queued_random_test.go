package moderation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/activity"
	"github.com/moderato-live/moderato/ent/ban"
	"github.com/moderato-live/moderato/ent/follow"
	"github.com/moderato-live/moderato/ent/messagegeneration"
	"github.com/moderato-live/moderato/ent/replacedban"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// request makes a random request in a channel, and returns its result.
type request func(channel uid.ID) (proto.Message, error)

// TestQueueIsSameAsOneByOne makes random requests one after the other in one channel, and all
// together in another one. Their results, the events and the rows are the same.
func TestQueueIsSameAsOneByOne(t *testing.T) {
	const rounds, requests = 12, 14
	eachLine(t, func(t *testing.T, l *line) {
		frozen(t, l.drive)
		for round := range storetest.Share(t, rounds) {
			random := rand.New(rand.NewPCG(7, uint64(round)))
			channels, users := servertest.AddChannels(t, l.Store, 2), servertest.AddUsers(t, l.Store, 4)
			for _, channel := range channels {
				l.creds[channel] = l.As(t, channel)
				for _, user := range users {
					l.say(channel, user, "before")
				}
			}
			kind := []func(*rand.Rand, []*ent.User) request{l.randomBan, l.randomFollow}[round%2]
			var all []request
			for range requests {
				all = append(all, kind(random, l.users(users)))
			}
			var results [2][requests]string
			for i, r := range all {
				results[0][i] = resultOf(r(channels[0]))
			}
			for i, r := range all {
				l.start(func() error {
					results[1][i] = resultOf(r(channels[1]))
					return nil
				}, "OK")
			}
			l.finish()
			for i := range results {
				for j := range results[i] {
					results[i][j] = strings.ReplaceAll(results[i][j], channels[i].String(), "C")
				}
			}
			if diff := cmp.Diff(results[0], results[1]); diff != "" {
				t.Errorf("round %d: results (-one by one +together):\n%s", round, diff)
			}
			if diff := cmp.Diff(l.stateOf(channels[0]), l.stateOf(channels[1])); diff != "" {
				t.Errorf("round %d: rows and events (-one by one +together):\n%s", round, diff)
			}
		}
		if strings.Contains(l.Metrics(t), "\nmoderato_changes_joined_total 0\n") {
			t.Error("no request joined another one")
		}
	})
}

func (d *drive) users(ids []uid.ID) []*ent.User {
	all := make([]*ent.User, len(ids))
	for i, id := range ids {
		u, err := d.Store.Read.User.Get(context.Background(), id)
		if err != nil {
			d.t.Fatal(err)
		}
		all[i] = u
	}
	return all
}

// randomBan returns a request to ban one of some users, or the owner or a stranger, or to lift a
// ban.
func (d *drive) randomBan(random *rand.Rand, users []*ent.User) request {
	u, lifts, byName := users[random.IntN(len(users))], random.IntN(3) == 0, random.IntN(2) == 0
	isOwner, isStranger := random.IntN(10) == 0, random.IntN(10) == 0
	var reason *string
	var seconds *int64
	if random.IntN(2) == 0 {
		reason, seconds = new(fmt.Sprint("reason ", random.IntN(9))), new(3600*(1+random.Int64N(2)))
	}
	var replaces *bool
	if random.IntN(4) == 0 {
		replaces = new(random.IntN(2) == 0)
	}
	restores := random.IntN(2) == 0
	return func(channel uid.ID) (proto.Message, error) {
		id, name := u.ID.String(), ""
		switch {
		case isOwner:
			id = channel.String()
		case isStranger:
			id = "11111111-1111-4111-8111-111111111111"
		case byName:
			id, name = "", u.Username
		}
		ctx := d.creds[channel].Context()
		if lifts {
			return d.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel.String(), BanUserId: id, BanUsername: name, RestoreMessages: &restores})
		}
		return d.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{
			ChannelId: channel.String(), BanUserId: id, BanUsername: name, Reason: reason, DurationSeconds: seconds, Replace: replaces,
		})
	}
}

// randomFollow returns a request that one of some users follows the channel, or no longer does.
func (d *drive) randomFollow(random *rand.Rand, users []*ent.User) request {
	id, ends, notifies := users[random.IntN(len(users))].ID.String(), random.IntN(3) == 0, random.IntN(2) == 0
	if random.IntN(10) == 0 {
		id = "11111111-1111-4111-8111-111111111111"
	}
	return func(channel uid.ID) (proto.Message, error) {
		if ends {
			return d.Audience.Unfollow(d.chat.Context(), &platformv1.UnfollowRequest{ChannelId: channel.String(), UserId: id})
		}
		return d.Audience.Follow(d.chat.Context(), &platformv1.FollowRequest{ChannelId: channel.String(), UserId: id, IsNotificationEnabled: notifies})
	}
}

// resultOf returns the reason of an error, or a response without its times.
func resultOf(response proto.Message, err error) string {
	if err != nil {
		return reason(err)
	}
	text, err := protojson.Marshal(response)
	if err != nil {
		return err.Error()
	}
	return withoutTimes(string(text))
}

// withoutTimes replaces the times in a JSON object.
func withoutTimes(text string) string {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return err.Error()
	}
	var replace func(map[string]any)
	replace = func(fields map[string]any) {
		for name, value := range fields {
			if inner, ok := value.(map[string]any); ok {
				replace(inner)
			} else if strings.HasSuffix(name, "At") && value != nil {
				fields[name] = "a time"
			}
		}
	}
	replace(fields)
	out, _ := json.Marshal(fields)
	return string(out)
}

// stateOf returns the events and rows of a channel as lines, without their times.
func (d *drive) stateOf(channel uid.ID) (lines []string) {
	d.t.Helper()
	ctx, read := context.Background(), d.Store.Read
	add := func(format string, args ...any) {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf(format, args...), channel.String(), "C"))
	}
	for _, e := range d.eventsOf(channel) {
		kept := 0
		if e.Evidence != nil {
			kept = strings.Count(*e.Evidence, "messageId")
		}
		add("%d %s actor %v target %v client %s: %s, %d messages", e.Sequence, e.Type, e.ActorID, e.TargetID, e.ClientID, withoutTimes(e.Payload), kept)
	}
	bans, err := read.Ban.Query().Where(ban.ChannelID(channel)).Order(ent.Asc(ban.FieldUserID)).All(ctx)
	for _, b := range bans {
		add("ban of %s by %s: %q, ends %t", b.UserID, b.ModeratorID, b.Reason, b.ExpiresAt != nil)
	}
	replaced, absent := read.ReplacedBan.Query().Where(replacedban.ChannelID(channel)).Order(ent.Asc(replacedban.FieldUserID, replacedban.FieldSequence)).All(ctx)
	for _, b := range replaced {
		add("replaced ban of %s by %s: %q, ends %t, before event %d", b.UserID, b.ModeratorID, b.Reason, b.ExpiresAt != nil, b.Sequence)
	}
	generations, failed := read.MessageGeneration.Query().Where(messagegeneration.ChannelID(channel)).Order(ent.Asc(messagegeneration.FieldUserID)).All(ctx)
	for _, g := range generations {
		add("messages of %s: %d, restorable %t", g.UserID, g.Generation, g.Restorable != nil)
	}
	follows, unread := read.Follow.Query().Where(follow.ChannelID(channel)).Order(ent.Asc(follow.FieldUserID)).All(ctx)
	for _, f := range follows {
		add("follow of %s: %t", f.UserID, f.IsNotificationEnabled)
	}
	activities, lost := read.Activity.Query().Where(activity.ChannelID(channel)).Order(activity.ByNumber()).All(ctx)
	for _, a := range activities {
		add("activity %d %s of %v: %s", a.Number, a.Type, a.UserID, a.Info)
	}
	row, missing := read.Channel.Get(ctx, channel)
	if err := errors.Join(err, absent, failed, unread, lost, missing); err != nil {
		d.t.Fatal(err)
	}
	add("%d followers, %d events, %d activities", row.FollowerCount, row.EventSequence, row.ActivityNumber)
	return lines
}
