package outbox

import (
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
)

// TestPayloadUsersAreAnonymized covers objects of a payload that describe a user.
func TestPayloadUsersAreAnonymized(t *testing.T) {
	const payload = `{"channelId":"0b6f0001-0000-4000-8000-00000000000a","other":{"displayName":"Amara","id":"0b6f0003-0000-4000-8000-00000000000c"},` +
		`"people":[{"displayName":"Zoë","id":"0b6f0005-0000-4000-8000-00000000000e"}],"person":{"avatarUrl":"https://img.example.com/a.png","displayName":"Zoë","id":"0b6f0005-0000-4000-8000-00000000000e","username":"zoe-l"}}`
	const want = `{"channelId":"0b6f0001-0000-4000-8000-00000000000a","other":{"displayName":"Amara","id":"0b6f0003-0000-4000-8000-00000000000c"},` +
		`"people":[{"displayName":"Deleted user","id":"5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185"}],"person":{"avatarUrl":"","displayName":"Deleted user","id":"5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185","username":"~deleted"}}`
	if got, err := Anonymous(payload, uid.MustParse("0b6f0005-0000-4000-8000-00000000000e"), false); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
