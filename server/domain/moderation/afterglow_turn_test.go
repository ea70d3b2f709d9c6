package moderation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/fair"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestLongMatchesTakeTurns posts while no turn is free, in a channel whose afterglows have
// patterns that take long, and in one with an ordinary pattern.
func TestLongMatchesTakeTurns(t *testing.T) {
	s := openMigrated(t)
	for i := range 3 {
		glow(t, s, servertest.Owner, `.{0,60}.{0,60}!!`, time.Hour+time.Duration(i)*time.Second)
	}
	for i := range 20 {
		glow(t, s, servertest.Other, `(?:free|cheap)\s+(?:subs?|viewers)`, time.Hour+time.Duration(i)*time.Second)
	}
	turns := moderation.NewTurns(1)
	a := moderation.NewAfterglows(s, turns.Sweeps)
	if err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := s.Clock.Now(t.Context(), s.Read)
	if err != nil {
		t.Fatal(err)
	}
	// A character that folds to 18 counts as 18.
	expanding, ordinary := strings.Repeat("ﷺ", 20), strings.Repeat("gg ", 20)
	refuse := func(channelID uid.ID, text string, st chat.Standing) error {
		st.Now = now
		m := chat.Message{ID: uid.New(), ChannelID: channelID, UserID: servertest.Viewer, Text: text}
		return a.Check(asOwner(t.Context(), "bot", time.Nanosecond), &st, m)
	}
	for _, channel := range []uid.ID{servertest.Owner, servertest.Other} { // compiles the patterns
		if err := refuse(channel, ordinary, chat.Standing{}); err != nil {
			t.Fatal(err)
		}
	}
	release, err := turns.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	glow(t, s, servertest.Nobody, "free", time.Hour)
	if err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var overloaded *fair.OverloadedError
	if err := refuse(servertest.Nobody, ordinary, chat.Standing{}); !errors.As(err, &overloaded) {
		t.Errorf("a post for which a pattern is compiled: got %v, want an OverloadedError", err)
	}
	if err := refuse(servertest.Owner, expanding, chat.Standing{}); !errors.As(err, &overloaded) {
		t.Errorf("a post that takes long: got %v, want an OverloadedError", err)
	}
	for what, err := range map[string]error{
		"an ordinary post":                     refuse(servertest.Other, ordinary, chat.Standing{}),
		"a post by a moderator":                refuse(servertest.Owner, expanding, chat.Standing{IsModerator: true}),
		"a post in a channel without patterns": refuse(servertest.Moderator, expanding, chat.Standing{}),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	release()
	if err := refuse(servertest.Owner, expanding, chat.Standing{}); err != nil {
		t.Errorf("with free turns: %v", err)
	}
}
