package rules_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

func TestAccountAge(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"minAccountAgeSeconds":600`)
		r.want("an account of unknown age", r.post(servertest.Viewer, "hi"), "", nil)
		created := now.Add(-599 * time.Second)
		for _, c := range []struct {
			created     instant.Instant
			restriction string
		}{{created, "account_age"}, {now.Add(-10 * time.Minute), ""}} {
			_, err := r.Directory.PutUser(r.service.Context(), &platformv1.PutUserRequest{User: &platformv1.UserRecord{
				Id: servertest.Viewer.String(), Username: "amara.okafor", CreatedAt: c.created.Proto(),
			}})
			if err != nil {
				t.Fatal(err)
			}
			until := created.Add(10 * time.Minute)
			r.want("an account of "+c.created.String(), r.post(servertest.Viewer, "hi"), c.restriction, &until)
		}
	})
}

func TestFollowersOnly(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"followersOnlySeconds":60`)
		r.want("no follower", r.post(servertest.Viewer, "hi"), "followers", nil)
		r.follow(servertest.Viewer, now.Add(-59*time.Second))
		until := now.Add(time.Second)
		r.want("a new follower", r.post(servertest.Viewer, "hi"), "followers", &until)
		r.Store.Clock.Freeze(until)
		r.want("a follower", r.post(servertest.Viewer, "hi"), "", nil)
		r.set(`"followersOnlySeconds":0`)
		r.want("no follower", r.post(servertest.Raider, "hi"), "followers", nil)
	})
}

func TestSubscribersOnly(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"subscribersOnly":true`)
		r.want("no subscriber", r.post(servertest.Viewer, "hi"), "subscribers", nil)
		r.subscribe(servertest.Viewer, now.Add(time.Hour))
		r.want("a subscriber", r.post(servertest.Viewer, "hi"), "", nil)
		r.Store.Clock.Freeze(now.Add(time.Hour))
		r.want("after the subscription", r.post(servertest.Viewer, "hi"), "subscribers", nil)
	})
}

func TestFirstMessageIsBlocked(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.want("before", r.post(servertest.Viewer, "hi"), "", nil)
		r.set(`"firstMessage":"block"`)
		r.want("who has posted", r.post(servertest.Viewer, "hi"), "", nil)
		for range 2 {
			r.want("a newcomer", r.post(servertest.Raider, "hi"), "first_message", nil)
		}
	})
}

func TestSlow(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.want("before", r.post(servertest.Viewer, "one"), "", nil)
		r.set(`"slowSeconds":30`)
		until := now.Add(30 * time.Second)
		r.want("too soon", r.post(servertest.Viewer, "two"), "slow", &until)
		r.want("another sender", r.post(servertest.Raider, "two"), "", nil)
		r.Store.Clock.Freeze(until - 1)
		r.want("too soon", r.post(servertest.Viewer, "two"), "slow", &until)
		r.Store.Clock.Freeze(until)
		id := fmt.Sprintf(`"messageId":%q`, uid.New())
		for range 2 { // the second one is a repeat of a stored message
			r.want("in time", r.post(servertest.Viewer, "two", id), "", nil)
		}
		later := until.Add(30 * time.Second)
		r.want("after that", r.post(servertest.Viewer, "three"), "slow", &later)
	})
}

func TestUnique(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"uniqueSeconds":60`)
		until := now.Add(time.Minute)
		id := fmt.Sprintf(`"messageId":%q`, uid.New())
		for range 2 {
			r.want("a text", r.post(servertest.Viewer, "free gems", id), "", nil)
		}
		r.want("the same text, disguised", r.post(servertest.Raider, "FREE \u0261ems"), "unique", &until)
		r.want("another text", r.post(servertest.Raider, "no gems"), "", nil)
		r.want("other emoji", r.post(servertest.Raider, "🎉"), "", nil)
		r.want("other emoji", r.post(servertest.Raider, "🔥"), "", nil)
		r.Store.Clock.Freeze(until)
		r.want("after the time", r.post(servertest.Raider, "free gems"), "", nil)
		later := until.Add(time.Minute)
		r.want("after that", r.post(servertest.Viewer, "free gems"), "unique", &later)
	})
}

// TestApprovedTextIsUnique approves a message while texts are unique. Nobody may repeat it, unless its
// sender is exempt.
func TestApprovedTextIsUnique(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"uniqueSeconds":60`)
		r.role(servertest.Other, "vip")
		r.rules(`"put":[` + about("buy", "hold") + `]`)
		decisions := ""
		for user, text := range map[uid.ID]string{servertest.Raider: "buy now", servertest.Other: "buy later"} {
			decisions += fmt.Sprintf(`,{"messageId":%q,"decision":"approve"}`, r.say(user, text).Data.MessageID)
		}
		later := now.Add(time.Minute)
		r.Store.Clock.Freeze(later)
		r.call(r.moderator, http.MethodPost, "/v1/chats/held/decisions", fmt.Sprintf(`{"channelId":%q,"decisions":[%s]}`, servertest.Owner, decisions[1:]))
		if n := len(r.visible()); n != 2 {
			t.Errorf("%d messages are posted", n)
		}
		until := later.Add(time.Minute)
		r.want("an approved text", r.post(servertest.Viewer, "BUY now"), "unique", &until)
		if got := r.say(servertest.Viewer, "buy later"); got.code() != "MESSAGE_HELD" {
			t.Errorf("the text of an exempt sender: got %+v", got)
		}
		r.set(`"uniqueSeconds":0`)
	})
}

func TestEmoteOnly(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		emote := uid.New()
		r.load(&platformv1.Record{Kind: &platformv1.Record_Emote{Emote: &platformv1.EmoteRecord{
			Id: emote.String(), Name: "GG", ImageUrl: "https://img.example.com/gg.png",
		}}})
		r.set(`"emoteOnly":true`)
		for text, restriction := range map[string]string{
			"🎉 🔥": "",
			"👍🏽👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿🇩🇪": "",
			"❤️ ©️ ☺️":                           "",
			"#️⃣1️⃣":                             "",
			"[emote:" + emote.String() + "] 🎉":   "",
			"[emote:" + uid.New().String() + "]": "emote",
			"🎉 hi":                               "emote",
			"1":                                  "emote",
			"!️":                                 "emote",
			"a️":                                 "emote",
			"©":                                  "emote",
			"🅃🄴🅇🅃":                               "emote",
		} {
			r.want(text, r.post(servertest.Viewer, text), restriction, nil)
		}
		// Chat servers say which parts of a text are emotes of the platform.
		for text, isRefused := range map[string]bool{"Kappa 🎉 Kappa": false, "Kappa 🎉 kappA!": true} {
			_, err := platformv1.NewChatServiceClient(r.Conn).PostMessage(r.service.Context(), &platformv1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: text,
				Emotes: []*platformv1.EmoteRange{{Start: 0, End: 5, Id: "25"}, {Start: 8, End: 13, Id: "25"}},
			})
			if (err != nil) != isRefused {
				t.Errorf("%s: got %v", text, err)
			}
		}
	})
}

func TestWhoIsExempt(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"followersOnlySeconds":0,"emoteOnly":true`)
		r.role(servertest.Viewer, "vip")
		r.subscribe(servertest.Raider, now.Add(time.Hour))
		og := servertest.AddUsers(r.t, r.Store, 1)[0]
		r.role(og, "og")
		for _, user := range []uid.ID{servertest.Owner, servertest.Moderator, servertest.Viewer, og} {
			r.want("exempt "+user.String(), r.post(user, "hi"), "", nil)
		}
		r.want("a subscriber", r.post(servertest.Raider, "hi"), "followers", nil)
		r.set(`"exemptRoles":["subscriber"]`)
		r.want("a subscriber", r.post(servertest.Raider, "hi"), "", nil)
		r.want("a VIP", r.post(servertest.Viewer, "hi"), "followers", nil)
		r.want("an OG", r.post(og, "hi"), "followers", nil)
		r.want("a moderator", r.post(servertest.Moderator, "hi"), "", nil)
	})
}

func TestModesRefuseInOrder(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.want("before", r.post(servertest.Viewer, "hi"), "", nil)
		_, err := r.Directory.PutUser(r.service.Context(), &platformv1.PutUserRequest{User: &platformv1.UserRecord{
			Id: servertest.Raider.String(), Username: "LootGoblin77", CreatedAt: now.Proto(),
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.set(`"uniqueSeconds":300`)
		r.want("the text", r.post(servertest.Viewer, "hi"), "", nil)
		r.set(`"slowSeconds":3600`)
		hour, minutes := now.Add(time.Hour), now.Add(5*time.Minute)
		r.want("slow before unique", r.post(servertest.Viewer, "hi"), "slow", &hour)
		r.want("unique", r.post(servertest.Raider, "hi"), "unique", &minutes)
		for _, mode := range []struct{ setting, restriction string }{
			{`"firstMessage":"block"`, "first_message"}, {`"emoteOnly":true`, "emote"}, {`"subscribersOnly":true`, "subscribers"}, {`"followersOnlySeconds":0`, "followers"},
		} {
			r.set(mode.setting)
			r.want(mode.setting, r.post(servertest.Raider, "hi"), mode.restriction, nil)
		}
		r.set(`"minAccountAgeSeconds":3600`)
		r.want("account age", r.post(servertest.Raider, "hi"), "account_age", &hour)
	})
}

// TestRetryWhenModeEnds has modes that end before the sender meets them.
func TestRetryWhenModeEnds(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.set(`"subscribersOnly":true,"durationSeconds":60`)
		end := now.Add(time.Minute)
		r.want("a mode that ends", r.post(servertest.Viewer, "hi"), "subscribers", &end)
		r.set(`"subscribersOnly":false,"slowSeconds":90`)
		r.want("a message", r.post(servertest.Viewer, "hi"), "", nil)
		r.set(`"slowSeconds":3600,"durationSeconds":60`)
		until := now.Add(90 * time.Second)
		r.want("a mode that becomes weaker", r.post(servertest.Viewer, "hi"), "slow", &until)
		r.set(`"slowSeconds":600,"durationSeconds":120`)
		end = now.Add(2 * time.Minute)
		r.want("a mode that becomes weaker later", r.post(servertest.Viewer, "hi"), "slow", &end)
	})
}

// TestRetryWhenShieldEnds has modes that the shield alone turns on, or makes stricter, and a setting
// that ends before it.
func TestRetryWhenShieldEnds(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.want("a message", r.post(servertest.Viewer, "hi"), "", nil)
		r.preset(`"settings":{"subscribersOnly":true}`)
		r.set(`"subscribersOnly":true,"durationSeconds":60`)
		r.raise(`"active":true,"durationSeconds":90`)
		end := now.Add(90 * time.Second)
		r.want("a mode of the shield", r.post(servertest.Viewer, "hi"), "subscribers", &end)
		r.preset(`"settings":{"slowSeconds":3600}`)
		r.set(`"subscribersOnly":false,"slowSeconds":60`)
		r.want("a mode that the shield makes stricter", r.post(servertest.Viewer, "hi"), "slow", &end)
		r.set(`"slowSeconds":120`)
		until := now.Add(2 * time.Minute)
		r.want("a mode that the shield makes stricter for a time", r.post(servertest.Viewer, "hi"), "slow", &until)
	})
}

// TestRetryWhenModeBecomesStricter has a mode that is weaker for a time.
func TestRetryWhenModeBecomesStricter(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.want("a message", r.post(servertest.Viewer, "hi"), "", nil)
		r.set(`"slowSeconds":3600`)
		r.set(`"slowSeconds":90,"durationSeconds":60`)
		until := now.Add(time.Hour)
		r.want("a mode that becomes stricter", r.post(servertest.Viewer, "hi"), "slow", &until)
		r.set(`"slowSeconds":30,"durationSeconds":60`)
		until = now.Add(30 * time.Second)
		r.want("a mode that becomes stricter later", r.post(servertest.Viewer, "hi"), "slow", &until)
	})
}

// races posts concurrently through two servers, and returns how many posts each of the rounds
// accepts.
func races(rooms []*room, settings string, post func(round, n int) (as uid.ID, text string)) (accepted []int) {
	rooms[0].set(settings)
	users := servertest.AddUsers(rooms[0].t, rooms[0].Store, 200)
	for round := range 10 {
		var mu sync.Mutex
		var group sync.WaitGroup
		accepted = append(accepted, 0)
		for n := range 8 {
			group.Go(func() {
				as, text := post(round, n)
				if as.IsZero() {
					as = users[round*8+n]
				}
				if rooms[n%2].post(as, text) == "" {
					mu.Lock()
					accepted[round]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
	}
	return accepted
}

// TestSlowIsExactOnAllServers has one sender post several messages at the same moment, through
// two servers.
func TestSlowIsExactOnAllServers(t *testing.T) {
	eachPair(t, func(rooms []*room) {
		senders := []uid.ID{servertest.Viewer, servertest.Raider, servertest.Other}
		got := races(rooms, `"slowSeconds":3600`, func(round, n int) (uid.ID, string) {
			return senders[round%len(senders)], fmt.Sprint(round, n)
		})
		for round, n := range got {
			if want := map[bool]int{true: 1, false: 0}[round < len(senders)]; n != want {
				t.Errorf("round %d: %d messages are posted, want %d", round, n, want)
			}
		}
	})
}

// TestUniqueIsExactOnAllServers has several senders post one text at the same moment, through two
// servers.
func TestUniqueIsExactOnAllServers(t *testing.T) {
	eachPair(t, func(rooms []*room) {
		got := races(rooms, `"uniqueSeconds":300`, func(round, _ int) (uid.ID, string) {
			return uid.ID{}, fmt.Sprintf("text %c", 'a'+round)
		})
		for round, n := range got {
			if n != 1 {
				t.Errorf("round %d: %d messages are posted, want 1", round, n)
			}
		}
	})
}
