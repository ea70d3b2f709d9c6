package match_test

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/domain/rules/match"
)

// words makes up words.
func words(r *rand.Rand, n int) []string {
	all := make([]string, n)
	for i := range all {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteByte("bcdfghjklmnprstvwz"[r.IntN(18)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		if r.IntN(4) == 0 {
			b.WriteString(" " + b.String()[:4])
		}
		all[i] = b.String()
	}
	return all
}

// channelRules returns rules with some terms each, half of them with evasions.
func channelRules(r *rand.Rand, rules, terms int) (all []match.Rule) {
	for i := range rules {
		all = append(all, match.Rule{Kind: match.Terms, Terms: words(r, terms), Evasions: i%2 == 0})
	}
	return all
}

var messages = map[string][]string{
	"20":            {"gg everyone, see you", "that last play wow!!", "did anyone catch it?", "lets go team lets go"},
	"80":            {"did anyone catch that last play? it was completely unreal, i had to watch twice", "why does the map look so different from the one that we had in the last week, eh"},
	"200":           {strings.Repeat("this was the best boss fight of the year, insane! ", 4)},
	"500":           {strings.Repeat("tell me why it rains 0n my spam parade ", 13)[:500]},
	"500 Cyrillic":  {string([]rune(strings.Repeat("это был лучший момент за весь стрим, всем спасибо и до завтра ", 9))[:500])},
	"500 disguised": {string([]rune(strings.Repeat("ᴛʜɪs ᴡᴀs 𝗱𝗶𝗱 ｔｈｅ b.e.s.t m@p ѕ̶о̶ f@r ", 20))[:500])},
}

// BenchmarkMatch measures posts in a channel with 100 rules and 10,000 terms. Other programs on the
// machine do not count in cpu-ns/op.
func BenchmarkMatch(b *testing.B) {
	s := compiled(b, channelRules(rand.New(rand.NewPCG(1, 2)), 100, 100)...)
	for _, kind := range slices.Sorted(maps.Keys(messages)) {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			start, n := processorTime(b), 0
			for b.Loop() {
				matchOnce(s, messages[kind][n%len(messages[kind])])
				n++
			}
			b.ReportMetric(float64(processorTime(b)-start)/float64(n), "cpu-ns/op")
		})
	}
}

func matchOnce(s *match.Set, text string) {
	t := textmatch.NewText(text)
	defer t.Release()
	s.Match(t)
}

// processorTime returns how long the processors worked for this process.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkCompile(b *testing.B) {
	rules := channelRules(rand.New(rand.NewPCG(1, 2)), 100, 100)
	b.ReportAllocs()
	for b.Loop() {
		s := compiled(b, rules...)
		b.ReportMetric(float64(s.Size()), "B/set")
	}
}

// TestMemoryOfChannels compiles the rules of many channels: 10,000 with 100 terms each have
// 200 MB at most.
func TestMemoryOfChannels(t *testing.T) {
	const channels, most = 500, 20_000 // bytes of a channel
	r := rand.New(rand.NewPCG(1, 2))
	var all [channels][]match.Rule
	for i := range all {
		all[i] = channelRules(r, 2, 50)
	}
	sets := make([]*match.Set, channels)
	before := heap()
	size := 0
	for i := range sets {
		sets[i] = compiled(t, all[i]...)
		size += sets[i].Size()
	}
	grown := int(heap()-before) / channels
	size /= channels
	t.Logf("a channel has %d bytes, and says %d", grown, size)
	if grown > most || size > grown*11/10 || grown > size*11/10 {
		t.Errorf("a channel has %d bytes, and says %d; want %d at most", grown, size, most)
	}
	runtime.KeepAlive(sets)
	runtime.KeepAlive(all)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what the first one found is freed by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
