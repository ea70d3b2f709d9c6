package cli

import "testing"

// TestDemoChatOffStartsNobody gives the viewers no address: whoever starts them is refused.
func TestDemoChatOffStartsNobody(t *testing.T) {
	for value, fails := range map[string]bool{"on": true, "off": false} {
		stop, err := (&serve{DemoChat: value}).startChat(t.Context(), "", "")
		if (err != nil) != fails {
			t.Errorf("--demo-chat=%s: got %v", value, err)
		}
		if err == nil {
			stop()
		}
	}
}
