package webhooks

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesWebhookLimits(t *testing.T) {
	t.Parallel()
	doctest.Want(t, "docs/operations.md",
		fmt.Sprintf("claims a webhook with pending events, for %s", doctest.Duration(claimTime)),
		fmt.Sprintf("at most %d attempts under way at once, and at most %d for one webhook", DefaultMaxAttempts, maxInFlight),
		fmt.Sprintf("receivers that answer within %s", doctest.Duration(slowAfter)))
	doctest.Want(t, "docs/metrics.md",
		fmt.Sprintf("Removes other deliveries more than %s after they ended", doctest.Duration(keptFor)))
	doctest.Want(t, "docs/webhooks.md",
		fmt.Sprintf("A delivery succeeds if the response has a 2xx status and ends within %s.", doctest.Duration(AttemptTimeout)),
		fmt.Sprintf("The first pause between two attempts is %s. Each further pause is three times longer, up to %d h.", doctest.Duration(firstDelay), int(maxDelay.Hours())),
		fmt.Sprintf("that has failed for %s", doctest.Duration(giveUpAfter)),
		fmt.Sprintf("the owner and the moderators may have %d webhooks together. All backends together may have %d for a channel.", maxWebhooks, maxWebhooks))
}
