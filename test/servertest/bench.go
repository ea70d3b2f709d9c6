package servertest

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Call makes the b.N calls of a benchmark with a number of concurrent callers. Each call
// receives its own number, from 0.
func Call(b *testing.B, callers int, call func(i int) error) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(int(i - 1)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}
