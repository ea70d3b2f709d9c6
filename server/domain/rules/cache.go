package rules

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// compiledBudget is how many bytes the compiled rules of all channels have together. Those of
	// the channels that were used least recently make room, and are compiled again for their next
	// post.
	compiledBudget = 256 << 20
	// maxCompiled is how many channels have compiled rules, and maxRepeating how many of them count
	// what is posted on other servers.
	maxCompiled  = 200_000
	maxRepeating = 10_000
	// compileTime bounds the compilation of the rules of a channel, with the wait for a turn.
	compileTime = 10 * time.Second
	// maxLoads is how often the rules of a channel are read that change meanwhile.
	maxLoads = 5
)

// cache has the compiled rules of the channels that were used most recently.
type cache struct {
	store  *store.Store
	turn   func(ctx context.Context, channelID uid.ID) (release func(), err error)
	budget int
	// changed is raised when repeats changes.
	changed store.Signal

	flights singleflight.Group

	mu       sync.Mutex
	channels *simplelru.LRU[uid.ID, *entry]
	size     int
	repeats  map[uid.ID]struct{} // channels with rules about repetition
}

// entry is the rules of a channel, and the size with which they count.
type entry struct {
	*compiled

	size int
}

func newCache(s *store.Store, turn func(context.Context, uid.ID) (func(), error), budget int) *cache {
	c := &cache{store: s, turn: turn, budget: budget, changed: store.NewSignal(), repeats: map[uid.ID]struct{}{}}
	c.channels, _ = simplelru.NewLRU(maxCompiled, c.evicted) // fails only for a size below 1
	return c
}

// evicted notes that a channel has no compiled rules any more. The caller holds mu.
func (c *cache) evicted(channelID uid.ID, e *entry) {
	c.size -= e.size
	if _, ok := c.repeats[channelID]; ok {
		delete(c.repeats, channelID)
		c.changed.Raise()
	}
}

// find returns the compiled rules of a channel; nil if there are none.
func (c *cache) find(channelID uid.ID) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.channels.Get(channelID); ok {
		return e.compiled
	}
	return nil
}

// put replaces the compiled rules of a channel.
func (c *cache) put(channelID uid.ID, rules *compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.channels.Remove(channelID)
	e := &entry{rules, rules.sizeNow()}
	c.channels.Add(channelID, e)
	c.size += e.size
	if rules.hasMemory && len(c.repeats) < maxRepeating {
		c.repeats[channelID] = struct{}{}
		c.changed.Raise()
	}
	c.shrink()
}

// drop removes the compiled rules of a channel that has none any more.
func (c *cache) drop(channelID uid.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.channels.Remove(channelID)
}

// resize updates the number of bytes that the rules of a channel take, because the posts that
// repetition rules remember have grown or shrunk.
func (c *cache) resize(channelID uid.ID, rules *compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.channels.Peek(channelID); ok && e.compiled == rules {
		size := rules.sizeNow()
		c.size += size - e.size
		e.size = size
		c.shrink()
	}
}

// shrink removes the rules of channels until the rest fits. The caller holds mu.
func (c *cache) shrink() {
	for c.size > c.budget && c.channels.Len() > 1 {
		c.channels.RemoveOldest()
	}
}

func (c *compiled) sizeNow() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size()
}

// repeating returns the channels with rules about repetition.
func (c *cache) repeating() []uid.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.repeats))
}

// get returns the compiled rules of a channel of the version that a post has read, or of a later
// one. It compiles them if they are new. Posts that need them at the same time wait for each other.
func (c *cache) get(ctx context.Context, channelID uid.ID, seen chat.RulesVersion) (*compiled, error) {
	for isFirst := true; ; isFirst = false {
		if known := c.find(channelID); known != nil && known.version == seen {
			return known, nil
		}
		isOwn := false
		result, err, _ := c.flights.Do(channelID.String(), func() (any, error) {
			isOwn = true
			return c.load(ctx, channelID, seen)
		})
		if err != nil {
			return nil, err
		}
		rules, _ := result.(*compiled)
		// A load that was under way may be older than what this post read. One that began after the
		// wait is not.
		if isOwn || !isFirst || rules.version == seen {
			return rules, nil
		}
	}
}

// load reads and compiles the present rules of a channel.
func (c *cache) load(ctx context.Context, channelID uid.ID, seen chat.RulesVersion) (*compiled, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), compileTime) // others wait for it as well
	defer cancel()
	for range maxLoads {
		if known := c.find(channelID); known != nil && known.version == seen {
			return known, nil // and keep what it remembers: the post had read an older version
		}
		own, err := readRules(ctx, c.store.Read, channelID)
		if err != nil {
			return nil, c.store.Classify(err)
		}
		// The limits do not count rules of the shield that have expired.
		now, err := c.store.Clock.Now(ctx, c.store.Read)
		if err != nil {
			return nil, c.store.Classify(err)
		}
		ofShield, _, err := presetRules(ctx, c.store.Read, channelID, now)
		if err != nil {
			return nil, c.store.Classify(err)
		}
		present, err := readRulesVersion(ctx, c.store.Read, channelID)
		if err != nil {
			return nil, c.store.Classify(err)
		}
		if present != seen {
			seen = present // what was read may be of two versions
			continue
		}
		rules, err := c.compile(ctx, seen, channelID, own, ofShield)
		if err == nil {
			err = rules.seed(ctx, c.store, channelID)
		}
		if err == nil {
			c.put(channelID, rules)
		}
		return rules, err
	}
	return nil, &apierr.Error{Reason: moderatov1.Reason_REASON_UNAVAILABLE, RetryAfter: time.Second}
}

// compile compiles the rules of a channel in a turn of the channel. Nothing else takes the turn's time.
func (c *cache) compile(ctx context.Context, version chat.RulesVersion, channelID uid.ID, own []storedRule, ofShield []*moderatov1.ChatRule) (*compiled, error) {
	release, err := c.turn(ctx, channelID)
	if err != nil {
		return nil, err
	}
	defer release()
	return compileRules(version, channelID, own, ofShield)
}

// readRulesVersion reads which rules a channel has.
func readRulesVersion(ctx context.Context, q store.Queryer, channelID uid.ID) (v chat.RulesVersion, err error) {
	stored, err := readSettings(ctx, q, channelID)
	if stored.Rules != nil {
		v = *stored.Rules
	}
	return v, err
}
