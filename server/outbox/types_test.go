package outbox_test

import (
	"testing"

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
	if outbox.Type("channel.boom").CheckPayload(&moderatov1.BanEvent{}) == nil {
		t.Error("an event type that the contract does not declare is accepted")
	}
}
