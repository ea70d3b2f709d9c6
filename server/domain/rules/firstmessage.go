package rules

import (
	"context"

	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/held"
	"github.com/moderato-live/moderato/server/event/live"
	"github.com/moderato-live/moderato/server/store"
)

// HoldFirst returns the check that holds the first messages of users in channels whose settings
// say so. It is the last check, so that moderators see no message that another one refuses, and
// see what the rules that flag the message found: no flag follows an approval.
func HoldFirst(s *store.Store, to *live.Hub) chat.PostCheck {
	return func(ctx context.Context, st *chat.Standing, m chat.Message) error {
		if st.Settings == nil || st.Settings.FirstMessage != "hold" || !st.IsNewcomer || isExempt(st, m) {
			return nil
		}
		var why held.Reason
		if st.Flagged != nil {
			why.Rules, why.Spans = st.Flagged.Rules, st.Flagged.Spans
		}
		return held.Hold(ctx, s, to, st, m, why)
	}
}
