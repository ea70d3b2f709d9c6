package chat

// Buckets returns how many buckets a Limiter holds.
func Buckets(l *Limiter) int { return l.buckets.Len() }
