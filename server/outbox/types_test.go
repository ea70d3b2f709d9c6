package outbox_test

import (
	"testing"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/outbox"
)

// TestEventsMustMatchTheContract keeps a change from emitting an event that no listener
// could decode.
func TestEventsMustMatchTheContract(t *testing.T) {
	if err := outbox.Type("channel.ban").CheckPayload(&moderatov1.BanEvent{}); err != nil {
		t.Errorf("channel.ban with a BanEvent: %v", err)
	}
	if outbox.Type("channel.ban").CheckPayload(&moderatov1.UnbanEvent{}) == nil {
		t.Error("channel.ban with an UnbanEvent is accepted")
	}
	if outbox.Type("channel.chat.message").CheckPayload(&moderatov1.ChatMessageEvent{}) == nil {
		t.Error("a live event may be stored")
	}
	if outbox.Type("channel.boom").CheckPayload(&moderatov1.BanEvent{}) == nil {
		t.Error("an event type that the contract does not declare is accepted")
	}
}

// TestEveryTypeHasAnOrigin fails for an event type of which the contract does not say who
// causes it: its retention and whether the log shows it would be a guess.
func TestEveryTypeHasAnOrigin(t *testing.T) {
	moderation := outbox.TypesOf(optionsv1.Origin_ORIGIN_MODERATION)
	audience := outbox.TypesOf(optionsv1.Origin_ORIGIN_AUDIENCE)
	if all := outbox.Types(); len(all) == 0 || len(moderation)+len(audience) != len(all) {
		t.Errorf("%d types have the origin moderation, %d audience; want all %d", len(moderation), len(audience), len(all))
	}
}
