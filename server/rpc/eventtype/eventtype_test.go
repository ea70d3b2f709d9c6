package eventtype_test

import (
	"testing"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// TestCheckPayloadRejectsEventsOutsideContract checks that a change cannot emit an event that
// no listener can decode.
func TestCheckPayloadRejectsEventsOutsideContract(t *testing.T) {
	if err := eventtype.Type("channel.ban").CheckPayload(&moderatov1.BanEvent{}); err != nil {
		t.Errorf("channel.ban with a BanEvent: %v", err)
	}
	if eventtype.Type("channel.ban").CheckPayload(&moderatov1.UnbanEvent{}) == nil {
		t.Error("channel.ban with an UnbanEvent is accepted")
	}
	if eventtype.Type("channel.chat.message").CheckPayload(&moderatov1.ChatMessageEvent{}) == nil {
		t.Error("a live event may be stored")
	}
	if eventtype.Type("channel.boom").CheckPayload(&moderatov1.BanEvent{}) == nil {
		t.Error("an event type that the contract does not declare is accepted")
	}
}

// TestEveryTypeHasAnOrigin checks that the contract declares who causes each event type. The
// origin determines the retention, and whether the moderation log shows the event.
func TestEveryTypeHasAnOrigin(t *testing.T) {
	moderation := eventtype.TypesOf(optionsv1.Origin_ORIGIN_MODERATION)
	audience := eventtype.TypesOf(optionsv1.Origin_ORIGIN_AUDIENCE)
	if all := eventtype.Types(); len(all) == 0 || len(moderation)+len(audience) != len(all) {
		t.Errorf("%d types have the origin moderation, %d audience; want all %d", len(moderation), len(audience), len(all))
	}
}
