package chat

// Allow is allow for a sender without a role.
func Allow(l *Limiter, m Message) error { return l.allow(m, &Standing{}) }

// Buckets returns how many buckets a Limiter holds.
func Buckets(l *Limiter) int { return l.buckets.Len() }
