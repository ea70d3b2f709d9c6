package servertest

import "time"

// Slack is how much longer than promised something may take in a test of the complete
// server. A busy machine with the race detector may stop a process for seconds; what breaks
// a promise, such as a right that never ends, takes longer or does not happen at all.
const Slack = 10 * time.Second
