package rules_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// posting returns the context of a call that posts, and a filter of its own.
func (r *room) posting() (context.Context, *rules.Filter) {
	r.t.Helper()
	issued := storetest.Must(authn.Issue(r.t.Context(), r.Store, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer, Lifetime: time.Hour}))
	caller := &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer, Token: digest.Of(issued.Text)}
	ctx := authz.NewContext(authn.NewContext(r.t.Context(), caller), authz.Table["/moderato.platform.v1.ChatService/PostMessage"])
	hub := live.NewHub(r.Store, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	return ctx, rules.NewFilter(r.Store, hub, moderation.NewSweeps())
}

// TestRefusalIsUpToDate has rules and senders change after a post has read them, and before the
// post is refused.
func TestRefusalIsUpToDate(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		put := r.rules(`"put":[` + about("muted", "mute", `"muteSeconds":30`, `"exemptRoles":["og"]`) + `,` +
			about("deleted", "delete", `"exemptRoles":["og"]`) + `,` + about("held", "hold", `"exemptRoles":["og"]`) + `]`)
		r.preset(`"settings":{},"rules":[` + about("shielded", "delete") + `]`)
		ctx, f := r.posting()
		check := func(text string, user uid.ID, meanwhile func()) string {
			t.Helper()
			st := storetest.Must(chat.ReadSender(ctx, r.Store, servertest.Owner, user))
			m := chat.Message{ChannelID: servertest.Owner, UserID: user, Text: "compiles"}
			if err := f.Check(ctx, st, m); err != nil {
				t.Fatal(err)
			}
			meanwhile()
			m.Text = text
			err := f.Check(ctx, st, m)
			if err == nil {
				return ""
			}
			return servertest.OutcomeOf(err).Reason
		}
		for _, c := range []struct {
			what      string
			meanwhile func(user uid.ID, rule string)
			want      string
		}{
			{"nothing changes", func(uid.ID, string) {}, "MESSAGE_BLOCKED"},
			{"another rule is put", func(uid.ID, string) { r.rules(`"put":[` + about("other", "block") + `]`) }, "MESSAGE_BLOCKED"},
			{"a moderator", func(user uid.ID, _ string) { r.role(user, "moderator") }, ""},
			{"an exempt role", func(user uid.ID, _ string) { r.role(user, "og") }, ""},
			{"a ban", func(user uid.ID, _ string) {
				r.REST(t, r.owner, http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, user))
			}, "USER_BANNED"},
			{"the rule is deleted", func(_ uid.ID, rule string) { r.rules(fmt.Sprintf(`"delete":[%q]`, rule)) }, ""},
		} {
			before := r.sideEffects()
			for i, text := range []string{"muted", "deleted", "held"} {
				user, want := servertest.AddUsers(t, r.Store, 1)[0], c.want
				if text == "held" && want == "MESSAGE_BLOCKED" {
					want = "MESSAGE_HELD"
				}
				if got := check(text, user, func() { c.meanwhile(user, put.id(i)) }); got != want {
					t.Errorf("%s, %s: got %q, want %q", c.what, text, got, want)
				}
			}
			if made, want := r.sideEffects()-before, map[bool]int{true: 3}[c.want == "MESSAGE_BLOCKED"]; made != want {
				t.Errorf("%s: %d mutes and messages are stored, want %d", c.what, made, want)
			}
		}
		r.raise(`"active":true`)
		if got := check("shielded", servertest.Viewer, func() { r.raise(`"active":false`) }); got != "" {
			t.Errorf("the shield is lowered: got %q", got)
		}
	})
}

// changing is a hook that has the rules be others in every transaction, and counts the transactions.
type changing int

func (c *changing) Begin(ctx context.Context, _ *store.Store, tx *ent.Tx, _ store.Attempt) error {
	*c++
	return tx.ChatSettings.DeleteOneID(servertest.Owner).Exec(ctx) // until it is rolled back
}

func (*changing) End(context.Context, *ent.Tx) error { return nil }

// TestChecksOfOnePostAreLimited posts while the rules change again and again.
func TestChecksOfOnePostAreLimited(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		r.rules(`"put":[` + about("muted", "mute", `"muteSeconds":30`) + `,` + about("deleted", "delete") + `,` + about("held", "hold") + `]`)
		ctx, f := r.posting()
		before := r.sideEffects()
		for _, text := range []string{"muted", "deleted", "held"} {
			var made changing
			st := storetest.Must(chat.ReadSender(ctx, r.Store, servertest.Owner, servertest.Viewer))
			m := chat.Message{ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: text}
			err := f.Check(context.WithValue(ctx, store.HookKey{}, &made), st, m)
			if got := servertest.OutcomeOf(err).Reason; got != "MESSAGE_BLOCKED" || made != 3 {
				t.Errorf("%s: got %q (%v) after %d checks, want MESSAGE_BLOCKED after 3", text, got, err, made)
			}
		}
		if made := r.sideEffects() - before; made != 0 {
			t.Errorf("%d mutes and messages are stored", made)
		}
	})
}

// TestDeletedMessageFollowsGeneration stores a deleted message, and looks at the order of the rows.
func TestDeletedMessageFollowsGeneration(t *testing.T) {
	sent := &storetest.Recorder{}
	config := servertest.Config(storetest.SQLite(t))
	config.DBLayer = sent.Layer()
	r := open(t, config)
	r.rules(`"put":[` + about("deleted", "delete") + `]`)
	before := len(sent.Executed())
	if got := r.say(servertest.Raider, "deleted"); got.code() != "MESSAGE_BLOCKED" {
		t.Fatalf("got %+v", got)
	}
	var order []string
	for _, q := range sent.Executed()[before:] {
		for _, write := range []string{"UPDATE `message_generations`", "INSERT INTO `messages`"} {
			if strings.HasPrefix(q.Text, write) {
				order = append(order, write)
			}
		}
	}
	if len(order) != 2 || !slices.IsSortedFunc(order, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("the statements are %q", order)
	}
}

// TestAnotherPostHasTheID has a message be stored while another one with its id is refused.
func TestAnotherPostHasTheID(t *testing.T) {
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		r, other := open(t, config), newRoom(t, servertest.Start(t, servertest.Config(url)))
		r.rules(`"put":[` + about("deleted", "delete") + `]`)
		id := uid.New()
		held := gate.Shut("FROM `messages` WHERE `messages`.`id` = ? LIMIT 2")
		var got said
		var post sync.WaitGroup
		post.Go(func() { got = r.say(servertest.Raider, "deleted", withID(id)) })
		<-held
		if got := other.say(servertest.Raider, "hello", withID(id)); got.code() != "" {
			t.Errorf("got %+v", got)
		}
		gate.Open()
		post.Wait()
		if got.code() != "" || got.Status != http.StatusOK {
			t.Errorf("the other post: got %+v", got)
		}
	})
}

// sideEffects returns how many users are muted, and messages stored or held.
func (r *room) sideEffects() int {
	r.t.Helper()
	ctx, read := r.t.Context(), r.Store.Read
	return storetest.Must(read.Mute.Query().Count(ctx)) + storetest.Must(read.Message.Query().Count(ctx)) + storetest.Must(read.HeldMessage.Query().Count(ctx))
}
