package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// maxGCPercent is the GC percentage of a small server: the growth of the heap before
	// a collection, in percent of the live heap. Long-lived data is small compared to the
	// garbage of requests, so rare collections save CPU time.
	maxGCPercent = 400
	// minGCPercent is the GC percentage of a server with a large live heap.
	minGCPercent = 75
	// maxGarbage is the approximate amount of garbage in bytes that the heap holds before
	// a collection, where the percentage is between the two bounds.
	maxGarbage = 48 << 20
)

// collectRarely sets a GC percentage that allows garbage in proportion to the heap only
// while the heap is small. It adjusts the percentage after each collection.
func collectRarely() {
	debug.SetGCPercent(gcPercent(liveMemory()))
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, func(struct{}) { collectRarely() }, struct{}{})
}

// gcPercent returns the GC percentage for an amount of live memory in bytes.
func gcPercent(live uint64) int {
	return int(min(maxGCPercent, max(minGCPercent, maxGarbage*100/max(live, 1))))
}

// liveMemory returns the memory in bytes to which the GC percentage applies: the heap
// that survived the last collection, stacks and global variables.
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
