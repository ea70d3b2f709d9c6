package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// maxGCPercent is how much the heap of a small server grows before it is collected,
	// in per cent of what lives. What lives long is small beside what requests leave
	// behind, so that rare collections save processor time.
	maxGCPercent = 400
	// minGCPercent is the same for a server whose memory is in use.
	minGCPercent = 75
	// maxGarbage is about how much garbage the heap holds before it is collected, in
	// bytes, between the two percentages.
	maxGarbage = 48 << 20
)

// collectRarely lets the garbage of a server grow in proportion to its heap only
// while the heap is small. It adjusts the percentage after each collection.
func collectRarely() {
	debug.SetGCPercent(gcPercent(liveMemory()))
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, func(struct{}) { collectRarely() }, struct{}{})
}

// gcPercent returns the percentage for an amount of memory that lives.
func gcPercent(live uint64) int {
	return int(min(maxGCPercent, max(minGCPercent, maxGarbage*100/max(live, 1))))
}

// liveMemory returns what the collector takes for its percentage: the heap that
// survived the last collection, stacks and global variables.
func liveMemory() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	var live uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			live += s.Value.Uint64()
		}
	}
	return live
}
