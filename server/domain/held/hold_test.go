package held_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/heldmessage"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/store/buckets"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func messageID(id uid.ID) string { return fmt.Sprintf(`"messageId":%q`, id) }

// TestFirstMessageIsHeld holds the message of a newcomer, which is not public then.
func TestFirstMessageIsHeld(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		id := uid.New()
		until := now.Add(10 * time.Minute)
		if got := r.post(servertest.Viewer, "hello", messageID(id)); got.Code != "MESSAGE_HELD" || got.MessageID != id.String() || got.ExpiresAt != until.String() {
			t.Errorf("got %+v, want MESSAGE_HELD until %s", got, until)
		}
		if isPublic, err := r.Store.Read.Message.Query().Exist(t.Context()); err != nil || isPublic {
			t.Error("the message is stored as a message", err)
		}
		row := r.row(id)
		if row.Text != "hello" || row.HeldAt != now || row.ExpiresAt != until || row.Approves || row.RuleID != nil {
			t.Errorf("got %+v", row)
		}
		if got := r.post(servertest.Moderator, "hi"); got.Code != "" {
			t.Errorf("the message of a moderator is refused: %+v", got)
		}
		r.set(`"holdSeconds":60,"onHoldExpiry":"approve"`)
		if row := r.row(r.hold(servertest.Raider, "hello")); row.ExpiresAt != now.Add(time.Minute) || !row.Approves {
			t.Errorf("got %+v", row)
		}
	})
}

// TestMessageThatAnotherCheckRefusesIsNotHeld posts a reply to no message.
func TestMessageThatAnotherCheckRefusesIsNotHeld(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		if got := r.post(servertest.Viewer, "hello", fmt.Sprintf(`"replyToMessageId":%q`, uid.New())); got.Code != "INVALID_ARGUMENT" {
			t.Errorf("got %+v, want INVALID_ARGUMENT", got)
		}
	})
}

// TestRepeatOfHeldMessage repeats posts with the id of a held message.
func TestRepeatOfHeldMessage(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		for _, firstMessage := range []string{"hold", "allow"} { // a repeat is not posted even if nothing holds it any more
			r.set(fmt.Sprintf(`"firstMessage":%q`, firstMessage))
			if again := r.hold(servertest.Viewer, "hello", messageID(id)); again != id {
				t.Errorf("got the id %s, want %s", again, id)
			}
			if got := r.post(servertest.Raider, "hello", messageID(id)); got.Code != "INVALID_ARGUMENT" || got.Violations[0].Field != "messageId" {
				t.Errorf("the id of another's message: got %+v", got)
			}
		}
		if n := storetest.Must(r.Store.Read.HeldMessage.Query().Count(t.Context())); n != 1 {
			t.Errorf("%d messages are held, want 1", n)
		}
	})
}

// TestIDOfPurgedMessageAdmitsNoOther posts with the id of an approved message that was deleted since.
func TestIDOfPurgedMessageAdmitsNoOther(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		id := r.hold(servertest.Viewer, "hello")
		r.want("an approval", approve(id), "APPROVED")
		m := chat.Message{ID: id, ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: "worse"}
		st := storetest.Must(chat.ReadSender(t.Context(), r.Store, m.ChannelID, m.UserID))
		want := func(what string, isRefused bool) {
			t.Helper()
			for name, err := range map[string]error{
				"the check":         held.Check(r.Store)(t.Context(), st, m),
				"a rule that holds": held.Hold(r.asService(), r.Store, r.hub(), st, m, held.Reason{}),
			} {
				if isRefused != errors.Is(err, apierr.New(moderatov1.Reason_REASON_MESSAGE_BLOCKED)) || !isRefused && err != nil {
					t.Errorf("%s, %s: got %v", what, name, err)
				}
			}
		}
		want("the message is stored", false)
		r.write(func(ctx context.Context, tx *ent.Tx) error { return tx.Message.DeleteOneID(id).Exec(ctx) })
		want("the message is purged", true)
	})
}

// TestRepeatOfApprovedMessage repeats the post of an approved reply, when its parent is deleted and when
// no further message may wait: the answer is the message.
func TestRepeatOfApprovedMessage(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		parent := r.post(servertest.Moderator, "who is there?").MessageID
		reply := fmt.Sprintf(`"replyToMessageId":%q`, parent)
		id := r.hold(servertest.Viewer, "me", reply)
		r.want("an approval", approve(id), "APPROVED")
		want := func(what string) {
			t.Helper()
			if again := r.post(servertest.Viewer, "me", messageID(id), reply); again.Code != "" || again.Message != "me" {
				t.Errorf("%s: got %+v, want the message", what, again)
			}
		}
		r.REST(t, r.moderator, http.MethodDelete, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"messageId":%q}`, servertest.Owner, parent))
		want("the parent is deleted")
		if got := r.post(servertest.Viewer, "me too", messageID(uid.New()), reply); got.Code != "INVALID_ARGUMENT" {
			t.Errorf("got %+v, want INVALID_ARGUMENT", got)
		}
		r.moderate("/v1/chats/rules", `,"put":[{"name":"me","kind":"terms","action":"hold","terms":["me"]}]`)
		for range maxPendingOfUser {
			r.hold(servertest.Viewer, "me again")
		}
		want("five messages wait")
		if got := r.post(servertest.Viewer, "me again", messageID(uid.New())); got.Code != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v, want MESSAGE_BLOCKED", got)
		}
		r.fill(maxPending, now)
		want("the queue is full")
	})
}

// TestRepeatWithKey repeats a call that was answered with MESSAGE_HELD, with its idempotency key and
// without a message id: nothing is held twice.
func TestRepeatWithKey(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		key := metadata.AppendToOutgoingContext(r.service.Context(), idempotency.MetadataKey, uid.New().String())
		var ids []string
		for range 2 {
			_, err := r.Chat.PostMessage(key, &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Viewer.String(), Text: "hello"})
			outcome := servertest.OutcomeOf(err)
			if outcome.Reason != "MESSAGE_HELD" {
				t.Fatalf("got %+v", outcome)
			}
			ids = append(ids, outcome.Metadata["messageId"])
		}
		if n := storetest.Must(r.Store.Read.HeldMessage.Query().Count(t.Context())); n != 1 || ids[0] != ids[1] {
			t.Errorf("%d messages are held, the answers have %q", n, ids)
		}
	})
}

// TestHoldSurvivesLostCommit loses the connection in COMMIT. The message is held once, and counted
// once, unless the right of the caller ends before it is held.
func TestHoldSurvivesLostCommit(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		storetest.Migrate(t, url)
		cutter := &storetest.Cutter{}
		s := storetest.Must(store.OpenWith(t.Context(), url, store.Options{Layer: cutter.Layer}))
		t.Cleanup(s.Close)
		servertest.Import(t, s, servertest.World()...)
		for name, c := range map[string]struct {
			cut  storetest.Cut
			want moderatov1.Reason
		}{
			"before it happened":          {storetest.BeforeCommit, moderatov1.Reason_REASON_TOKEN_EXPIRED},
			"before its answer came back": {storetest.AfterCommit, moderatov1.Reason_REASON_MESSAGE_HELD},
		} {
			st := storetest.Must(chat.ReadSender(t.Context(), s, servertest.Owner, servertest.Viewer))
			at := storetest.Must(st.Stored.At(st.Now))
			st.Settings = &at
			m := chat.Message{ID: uid.New(), ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: name}
			ctx := asService(t, s)
			cutter.OnCut = func() {
				if c.cut == storetest.BeforeCommit {
					s.Clock.Advance(2 * time.Hour) // the right of the caller ends
				}
			}
			cutter.CutNext("held.Hold", c.cut)
			err := held.Hold(ctx, s, newHub(s), st, m, held.Reason{})
			isHeld := storetest.Must(s.Read.HeldMessage.Query().Where(heldmessage.ID(m.ID)).Exist(t.Context()))
			if !errors.Is(err, apierr.New(c.want)) || isHeld != (c.want == moderatov1.Reason_REASON_MESSAGE_HELD) || cutter.Made() != 1 {
				t.Errorf("cut %s: got %v, it is held: %t", name, err, isHeld)
			}
		}
		counted := int64(0)
		for _, row := range s.Buckets.Take() {
			if row.Length == buckets.Fine {
				counted += row.Held
			}
		}
		if counted != 1 {
			t.Errorf("%d are counted, want 1", counted)
		}
	})
}

// commits counts the transactions of a call that are about to be committed, as those that would
// store its answer.
type commits int

func (*commits) Begin(context.Context, *store.Store, *ent.Tx, store.Attempt) error { return nil }

func (c *commits) End(context.Context, *ent.Tx) error {
	*c++
	return nil
}

// TestDeletedChannelHoldsNothing holds a message in a channel that is deleted after the checks: no
// answer is stored with an idempotency key.
func TestDeletedChannelHoldsNothing(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		m := chat.Message{ChannelID: servertest.Owner, UserID: servertest.Viewer, Text: "hello"}
		st := storetest.Must(chat.ReadSender(t.Context(), r.Store, m.ChannelID, m.UserID))
		ctx := r.asService()
		storetest.Must(r.Directory.DeleteChannel(r.service.Context(), &platformv1.DeleteChannelRequest{ChannelId: servertest.Owner.String()}))
		var made commits
		err := held.Hold(context.WithValue(ctx, store.HookKey{}, &made), r.Store, r.hub(), st, m, held.Reason{})
		if !errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) || made > 0 {
			t.Errorf("got %v, %d transactions are committed", err, made)
		}
	})
}

// TestTooManyHeldMessages holds as many messages as a sender and a channel may have.
func TestTooManyHeldMessages(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		for range maxPendingOfUser {
			r.hold(servertest.Viewer, "hello")
		}
		if got := r.post(servertest.Viewer, "hello"); got.Code != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v, want MESSAGE_BLOCKED", got)
		}
		r.fill(maxPending-maxPendingOfUser-1, now)
		last := r.hold(servertest.Raider, "the last one")
		if got := r.post(servertest.Raider, "hello"); got.Code != "MESSAGE_BLOCKED" {
			t.Errorf("got %+v, want MESSAGE_BLOCKED", got)
		}
		r.hold(servertest.Raider, "the last one", messageID(last)) // a repeat
	})
}

// fill holds messages of other users.
func (r *room) fill(n int, at instant.Instant) {
	r.t.Helper()
	const some = 200
	for ; n > 0; n -= some {
		r.write(func(ctx context.Context, tx *ent.Tx) error {
			rows := make([]*ent.HeldMessageCreate, min(n, some))
			for i := range rows {
				rows[i] = tx.HeldMessage.Create().SetID(uid.New()).SetChannelID(servertest.Owner).SetUserID(uid.New()).SetText("hello").
					SetDetails("{}").SetHeldAt(at).SetExpiresAt(at.Add(time.Hour)).SetDueAt(at.Add(time.Hour)).SetStatus("PENDING")
			}
			return tx.HeldMessage.CreateBulk(rows...).Exec(ctx)
		})
	}
}

// TestSilencedSenderHoldsNothing holds a message of a sender who is banned after the checks, of
// one who is muted, and of one who is deleted: the transaction sees it.
func TestSilencedSenderHoldsNothing(t *testing.T) {
	each(t, func(r *room, now instant.Instant) {
		for want, silence := range map[moderatov1.Reason]func(){
			moderatov1.Reason_REASON_USER_BANNED: func() { r.ban(servertest.Raider) },
			moderatov1.Reason_REASON_USER_MUTED:  func() { r.mute(servertest.Viewer) },
			moderatov1.Reason_REASON_USER_NOT_FOUND: func() {
				r.write(func(ctx context.Context, tx *ent.Tx) error {
					return tx.User.UpdateOneID(servertest.Other).SetDeletedAt(now).Exec(ctx)
				})
			},
		} {
			m := chat.Message{ChannelID: servertest.Owner, Text: "hello"}
			m.UserID = map[moderatov1.Reason]uid.ID{
				moderatov1.Reason_REASON_USER_BANNED: servertest.Raider, moderatov1.Reason_REASON_USER_MUTED: servertest.Viewer,
				moderatov1.Reason_REASON_USER_NOT_FOUND: servertest.Other,
			}[want]
			st := storetest.Must(chat.ReadSender(t.Context(), r.Store, m.ChannelID, m.UserID))
			silence()

			if err := held.Hold(r.asService(), r.Store, r.hub(), st, m, held.Reason{}); !errors.Is(err, apierr.New(want)) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if n := storetest.Must(r.Store.Read.HeldMessage.Query().Count(t.Context())); n > 0 {
			t.Errorf("%d messages are held", n)
		}
	})
}

func (r *room) asService() context.Context { return asService(r.t, r.Store) }

// asService returns the context of a call of a backend.
func asService(t *testing.T, s *store.Store) context.Context {
	t.Helper()
	issued := storetest.Must(authn.Issue(t.Context(), s, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer, Lifetime: time.Hour}))
	return authn.NewContext(t.Context(), &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer, Token: digest.Of(issued.Text)})
}
