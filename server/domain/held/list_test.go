package held_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// page is a page of held messages, or an error.
type page struct {
	Code string
	Rows []struct {
		MessageID, Message, Status, HeldAt, ExpiresAt string
		User, ClaimedBy, DecidedBy                    *person
		Facts                                         struct {
			Roles        []string
			IsSubscriber bool
			FollowedAt   *string
			Strikes      int
		}
		Spans                                     []struct{ Start, End int }
		Rules                                     []string
		ClaimedUntil, DecidedAt, ReplyToMessageID *string
	}
	Pagination struct{ Cursor string }
}

func (p page) texts() (all []string) {
	for _, row := range p.Rows {
		all = append(all, row.Message)
	}
	return all
}

// list reads a page of held messages with more members of the query.
func (r *room) list(query string) page {
	r.t.Helper()
	var b struct{ Data page }
	r.call(r.moderator, http.MethodGet, "/v1/chats/held?channelId="+servertest.Owner.String()+query, "", &b)
	return b.Data
}

// TestListOfHeldMessages lists messages by each filter, in pages.
func TestListOfHeldMessages(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		rules := []uid.ID{uid.New(), uid.New()}
		for i, from := range []uid.ID{servertest.Viewer, servertest.Raider, servertest.Viewer, servertest.Raider, servertest.Viewer} {
			r.Store.Clock.Freeze(now.Add(time.Duration(i) * time.Second))
			r.holdFor(from, fmt.Sprint(i), rules[i%2])
		}
		for query, want := range map[string][]string{
			"":                                      {"0", "1", "2", "3", "4"},
			"&userId=" + servertest.Viewer.String(): {"0", "2", "4"},
			"&ruleId=" + rules[1].String():          {"1", "3"},
			"&ruleId=" + rules[0].String() + "&userId=" + servertest.Viewer.String(): {"0", "2", "4"},
			"&ruleId=" + rules[1].String() + "&userId=" + servertest.Viewer.String(): nil,
			"&status=DENIED": nil,
		} {
			r.wantPages(query, want)
		}
		first := r.list("&limit=1")
		for _, other := range []string{"&status=DENIED", "&userId=" + servertest.Viewer.String(), "&ruleId=" + rules[0].String()} {
			if got := r.list(other + "&cursor=" + first.Pagination.Cursor); got.Code != "CURSOR_INVALID" {
				t.Errorf("%s: got %+v, want CURSOR_INVALID", other, got)
			}
		}
		for _, row := range r.list("").Rows {
			r.want("a denial", deny(uid.MustParse(row.MessageID)), "DENIED")
		}
		r.wantPages("", nil)
		r.wantPages("&status=DENIED", []string{"4", "3", "2", "1", "0"})
		r.wantPages("&status=DENIED&userId="+servertest.Viewer.String(), []string{"4", "2", "0"})
		r.wantPages("&status=DENIED&ruleId="+rules[1].String(), []string{"3", "1"})
	})
}

// wantPages reads a list whole and in pages of two.
func (r *room) wantPages(query string, want []string) {
	r.t.Helper()
	if got := r.list(query).texts(); !slices.Equal(got, want) {
		r.t.Errorf("%q: got %q, want %q", query, got, want)
	}
	var got []string
	for cursor := ""; ; {
		p := r.list(query + "&limit=2&cursor=" + cursor)
		got = append(got, p.texts()...)
		if cursor = p.Pagination.Cursor; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%q in pages: got %q, want %q", query, got, want)
	}
}

// holdFor holds a message of a user for a rule.
func (r *room) holdFor(user uid.ID, text string, rule uid.ID) {
	r.t.Helper()
	st := storetest.Must(chat.ReadSender(r.t.Context(), r.Store, servertest.Owner, user))
	_ = held.Hold(r.asService(), r.Store, r.hub(), st, chat.Message{ChannelID: servertest.Owner, UserID: user, Text: text},
		held.Reason{Rules: []uid.ID{rule}, Spans: []*moderatov1.Span{{Start: 1, End: 3}}})
}

// TestListedMessage reads all of a held message.
func TestListedMessage(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.follow(servertest.Viewer, now.Add(-time.Hour))
		rule := uid.New()
		r.holdFor(servertest.Viewer, "hello", rule)
		row := r.list("").Rows[0]
		if row.User.ID != servertest.Viewer.String() || row.User.DisplayName != "Amara Okafor" || row.Status != "PENDING" || row.HeldAt != now.String() ||
			row.ExpiresAt != now.Add(10*time.Minute).String() || row.DecidedAt != nil || row.DecidedBy != nil || row.ClaimedBy != nil {
			t.Errorf("got %+v", row)
		}
		if row.Facts.FollowedAt == nil || *row.Facts.FollowedAt != now.Add(-time.Hour).String() || row.Facts.IsSubscriber || len(row.Facts.Roles) > 0 {
			t.Errorf("got %+v", row.Facts)
		}
		if len(row.Spans) != 1 || row.Spans[0].Start != 1 || row.Spans[0].End != 3 || !slices.Equal(row.Rules, []string{rule.String()}) {
			t.Errorf("got %+v and %q", row.Spans, row.Rules)
		}
		r.want("an approval", approve(uid.MustParse(row.MessageID)), "APPROVED")
		row = r.list("&status=APPROVED").Rows[0]
		if row.DecidedBy.ID != servertest.Moderator.String() || *row.DecidedAt != now.String() {
			t.Errorf("got %+v", row)
		}
	})
}

// TestDueMessageIsNotListed lists messages whose time has passed before the job has come to them.
func TestDueMessageIsNotListed(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		r.hold(servertest.Viewer, "hello")
		r.Store.Clock.Freeze(now.Add(10 * time.Minute))
		if got := r.list("").texts(); got != nil {
			t.Errorf("got %q", got)
		}
	})
}

// TestMessagesOfDeletedSenderAreNotListed deletes a sender, whose messages the eraser has not removed
// yet: nobody reads them, or decides about them.
func TestMessagesOfDeletedSenderAreNotListed(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		denied, kept := r.hold(servertest.Viewer, "denied"), r.hold(servertest.Raider, "kept")
		r.want("a denial", deny(denied), "DENIED")
		waits := r.hold(servertest.Viewer, "waits")
		r.write(func(ctx context.Context, tx *ent.Tx) error {
			return tx.User.UpdateOneID(servertest.Viewer).SetDeletedAt(now).Exec(ctx)
		})
		r.wantPages("", []string{"kept"})
		for _, query := range []string{"&status=DENIED", "&userId=" + servertest.Viewer.String()} {
			r.wantPages(query, nil)
		}
		if rows := storetest.Must(held.Latest(t.Context(), r.Store, servertest.Owner, servertest.Viewer, 10)); len(rows) > 0 {
			t.Errorf("the latest messages are %v", rows)
		}
		if got := r.claim(r.moderator, waits)[0].Result; got != "ALREADY_DECIDED" {
			t.Errorf("the claim is %s", got)
		}
		r.wantStatus(waits, "CANCELLED")
		if got := r.want("a denial", deny(waits, `,"muteSeconds":60`), "ALREADY_DECIDED"); got.DecidedBy != nil {
			t.Errorf("got %+v", got)
		}
		r.wantStatus(kept, "PENDING")
	})
}
