package webhooks

import (
	"fmt"
	"testing"
	"time"

	"github.com/moderato-live/moderato/test/doctest"
)

func TestDocumentationStatesWebhookLimits(t *testing.T) {
	doctest.Want(t, "docs/operations.md",
		fmt.Sprintf("claimed by one of them for %s at a time", doctest.Duration(claimTime)),
		fmt.Sprintf("waits up to %s for attempts under way", doctest.Duration(stopTime)),
		fmt.Sprintf("at most %d attempts under way at once, and at most %d for one webhook", DefaultMaxAttempts, maxInFlight),
		fmt.Sprintf("receivers that answer within %s", doctest.Duration(slowAfter)))
	doctest.Want(t, "docs/metrics.md",
		fmt.Sprintf("deliveries that ended more than %s ago", doctest.Duration(keptFor)),
		fmt.Sprintf("a round that looks at %d a second", idsPerStatement*int(time.Second/sweepInterval)))
	doctest.Want(t, "docs/webhooks.md",
		fmt.Sprintf("Any 2xx response that ends within %s.", doctest.Duration(AttemptTimeout)),
		fmt.Sprintf("After %s. Each further pause is three times longer, up to %d h.", doctest.Duration(firstDelay), int(maxDelay.Hours())),
		fmt.Sprintf("that has failed for %s", doctest.Duration(giveUpAfter)),
		fmt.Sprintf("its users (owner and moderators) may have %d together, and backends %d.", maxWebhooks, maxWebhooks))
}
