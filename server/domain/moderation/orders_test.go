package moderation_test

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/test/servertest"
)

// actions are what happens to some chatters, in the servers and in the model.
var actions = map[string]func(o *orders, some []*chatter){
	"post": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			o.posts++
			text := fmt.Sprintf("%05d", o.posts)
			d := o.next()
			r, err := moderatov1.NewChatServiceClient(d.Conn).PostMessage(d.chat.Context(), &moderatov1.PostMessageRequest{
				ChannelId: servertest.Owner.String(), SenderId: c.id.String(), Message: text,
			})
			if (err == nil) == (c.banned != nil || c.muted != nil) {
				o.t.Errorf("banned: %t, muted: %t; the post returns %v", c.banned != nil, c.muted != nil, err)
			}
			if err == nil {
				c.texts[text], c.ids[text] = nil, r.GetMessageId()
			}
		}
	},
	"delete": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			visible := c.visible()
			if len(visible) == 0 {
				continue
			}
			d, text := o.next(), visible[len(visible)-1]
			_, err := moderatov1.NewChatServiceClient(d.Conn).DeleteMessage(d.creds[servertest.Owner].Context(),
				&moderatov1.DeleteMessageRequest{ChannelId: servertest.Owner.String(), MessageId: c.ids[text]})
			wantReason(o.t, err, "OK")
			delete(c.texts, text)
		}
	},
	"ban":        func(o *orders, some []*chatter) { o.ban(servertest.Owner, some) },
	"rogue ban":  func(o *orders, some []*chatter) { o.ban(servertest.Moderator, some) },
	"mute":       func(o *orders, some []*chatter) { o.mute(servertest.Owner, some) },
	"rogue mute": func(o *orders, some []*chatter) { o.mute(servertest.Moderator, some) },
	"unban": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			want := "NOT_BANNED"
			if c.banned != nil {
				want = "OK"
			}
			wantReason(o.t, o.next().unban(servertest.Owner, c.id), want)
			c.end(c.banned)
			c.banned = nil
		}
	},
	"unmute": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			want := "NOT_MUTED"
			if c.muted != nil {
				want = "OK"
			}
			wantReason(o.t, o.next().unmute(servertest.Owner, c.id), want)
			c.end(c.muted)
			c.muted = nil
		}
	},
	"clear": func(o *orders, _ []*chatter) {
		d := o.next()
		_, err := moderatov1.NewChatServiceClient(d.Conn).ClearChat(d.creds[servertest.Owner].Context(),
			&moderatov1.ClearChatRequest{ChannelId: servertest.Owner.String()})
		wantReason(o.t, err, "OK")
		for _, c := range o.chatters {
			c.forget()
		}
	},
	"batch":       func(o *orders, some []*chatter) { o.batch(servertest.Owner, some) },
	"rogue batch": func(o *orders, some []*chatter) { o.batch(servertest.Moderator, some) },
	"undo": func(o *orders, some []*chatter) {
		// The undo of a batch is about all its users.
		batches := map[string]bool{}
		for _, c := range some {
			batches[c.batch] = true
		}
		for batch := range batches {
			if batch == "" {
				continue
			}
			r := o.next().undo(batch, true)
			for _, row := range r.GetResults() {
				at := slices.IndexFunc(o.chatters, func(c *chatter) bool { return c.id.String() == row.GetUserId() })
				c := o.chatters[at]
				if c.isErased {
					o.t.Errorf("the undo returns %s for a user who is erased", row.GetStatus())
					continue
				}
				want := "NOT_BANNED"
				switch {
				case c.banned != nil && c.batch == batch:
					want = "UNBANNED"
				case c.banned != nil:
					want = "CHANGED"
				}
				if row.GetStatus() != want {
					o.t.Errorf("the undo returns %s, want %s", row.GetStatus(), want)
				}
				if want != "UNBANNED" {
					continue
				}
				c.restore(c.banned)
				c.banned = nil
			}
		}
	},
	"revert": func(o *orders, _ []*chatter) { o.revert() },
	"erase": func(o *orders, some []*chatter) {
		for _, c := range present(some) {
			d := o.next()
			_, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: c.id.String()})
			wantReason(o.t, err, "OK")
			c.isErased, c.banned, c.muted = true, nil, nil
		}
	},
	"purge": func(o *orders, _ []*chatter) {
		for _, d := range o.servers {
			d.Store.Clock.Advance(3 * time.Minute)
		}
		for _, d := range o.servers {
			drain(o.t, d.Store)
			if err := erasure.NewEraser(d.Store, slog.New(slog.DiscardHandler), domains.Tables()).Erase(o.t.Context()); err != nil {
				o.t.Error(err)
			}
		}
		for _, c := range o.chatters {
			if c.isErased {
				c.forget()
			}
		}
	},
}

// present returns those of some chatters who are not erased.
func present(some []*chatter) []*chatter {
	return slices.DeleteFunc(slices.Clone(some), func(c *chatter) bool { return c.isErased })
}

func (o *orders) ban(as uid.ID, some []*chatter) {
	o.t.Helper()
	for _, c := range present(some) {
		o.next().mustBan(as, c.id)
		if c.banned == nil {
			c.banned, c.batch = c.delete(as, ""), ""
		}
	}
}

func (o *orders) mute(as uid.ID, some []*chatter) {
	o.t.Helper()
	for _, c := range present(some) {
		d := o.next()
		_, err := d.Moderation.MuteUser(d.creds[as].Context(), &moderatov1.MuteUserRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: c.id.String(), DurationSeconds: new(int64(1209600)),
		})
		if c.muted != nil {
			wantReason(o.t, err, "MUTE_ACTIVE")
			continue
		}
		wantReason(o.t, err, "OK")
		c.muted = c.delete(as, "")
	}
}

func (o *orders) batch(as uid.ID, some []*chatter) {
	o.t.Helper()
	some = present(some)
	if len(some) == 0 {
		return
	}
	r := o.next().banAll(as, idsOf(some)...)
	for i, c := range some {
		want := "BANNED"
		if c.banned != nil {
			want = "ALREADY_BANNED"
		}
		if got := r.GetResults()[i].GetStatus(); got != want {
			o.t.Errorf("the batch returns %s, want %s", got, want)
		}
		if c.banned == nil {
			c.banned, c.batch = c.delete(as, r.GetBatchId()), r.GetBatchId()
		}
	}
}

// revert reverts what the Moderator did.
func (o *orders) revert() {
	o.t.Helper()
	r := o.next().revert(servertest.Moderator, 0, false)
	var want, got []string
	for _, row := range r.GetResults() {
		got = append(got, row.GetUserId()+" "+row.GetStatus())
	}
	for _, c := range o.chatters {
		if c.banned != nil && c.banned.by == servertest.Moderator {
			want = append(want, c.id.String()+" UNBANNED")
			c.restore(c.banned)
			c.banned = nil
		}
		if c.muted != nil && c.muted.by == servertest.Moderator {
			want = append(want, c.id.String()+" UNMUTED")
			c.restore(c.muted)
			c.muted = nil
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		o.t.Errorf("the revert (-want +got):\n%s", diff)
	}
}
