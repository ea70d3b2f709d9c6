package erasure_test

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// hold holds a message for a day, and returns its id.
func (s *scene) hold(channel, user uid.ID, text string) string {
	s.t.Helper()
	issued := storetest.Must(authn.Issue(s.t.Context(), s.Store, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer, Lifetime: time.Hour}))
	ctx := authn.NewContext(s.t.Context(), &authn.Caller{Kind: authn.Service, ClientID: servertest.ChatServer, Token: digest.Of(issued.Text)})
	st := storetest.Must(chat.ReadSender(ctx, s.Store, channel, user))
	at := storetest.Must(st.Stored.At(st.Now))
	at.HoldSeconds = 86_400
	st.Settings = &at
	hub := live.NewHub(s.Store, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	err := held.Hold(ctx, s.Store, hub, st, chat.Message{ChannelID: channel, UserID: user, Text: text}, held.Reason{Rules: []uid.ID{uid.New()}})
	outcome := servertest.OutcomeOf(err)
	if outcome.Reason != "MESSAGE_HELD" {
		s.t.Fatal(err)
	}
	return outcome.Metadata["messageId"]
}

// decide denies a held message.
func (s *scene) decide(as servertest.Credentials, channel uid.ID, id string) {
	s.t.Helper()
	s.must(moderatov1.NewHeldMessagesServiceClient(s.Conn).DecideHeldMessages(as.Context(), &moderatov1.DecideHeldMessagesRequest{
		ChannelId: channel.String(), Decisions: []*moderatov1.HeldDecision{{MessageId: id, Decision: "deny"}},
	}))
}

// heldMessages has messages of a person wait and be decided, in the own channel and elsewhere, and
// has the person decide about others.
func (s *scene) heldMessages(p person, as servertest.Credentials) {
	s.t.Helper()
	owner, other := servertest.Owner, servertest.Other
	for n, channel := range []uid.ID{p.id, owner} {
		s.hold(channel, p.id, p.text(50+n))
		s.decide(s.As(s.t, channel), channel, s.hold(channel, p.id, p.text(52+n)))
		s.decide(as, channel, s.hold(channel, other, "of another"))
		id := s.hold(channel, other, "of another")
		s.must(moderatov1.NewHeldMessagesServiceClient(s.Conn).ClaimHeldMessages(as.Context(), &moderatov1.ClaimHeldMessagesRequest{
			ChannelId: channel.String(), MessageIds: []string{id},
		}))
	}
}
