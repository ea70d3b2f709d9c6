package demo

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

const (
	// maxRecent is how many messages back viewers reply.
	maxRecent = 12
	// maxNewcomers is how many viewers without an earlier account arrive.
	maxNewcomers = 500
	// firstViewers is about how many watch.
	firstViewers = 1200
)

// Act is what a viewer of the first channel does next.
type Act struct {
	// Pause is the time before the act.
	Pause time.Duration
	// User is the viewer, and IsNew whether the user exists since now.
	User  Person
	IsNew bool
	// Follows and Subscribes say that the viewer does so.
	Follows, Subscribes bool
	// Viewers is how many watch now, if that is what happens instead; else 0.
	Viewers int64
	// Text is what the viewer then says, as the message MessageID; empty if nothing. ReplyTo is
	// the message to which it replies; zero if to none.
	Text               string
	MessageID, ReplyTo uid.ID
}

// Crowd makes up what the viewers of the first channel do while it is live. Nobody of the cast
// acts, so that commands about them have the same result at any time.
type Crowd struct {
	lines     *lines
	r         *rand.Rand
	spam      deck[string]
	emotes    []string
	recent    []uid.ID
	newcomers int
	viewers   int64
}

// NewCrowd returns a crowd. Crowds with the same seed do the same.
func NewCrowd(seed uint64) *Crowd {
	w, r := makeWorld(), rand.New(rand.NewPCG(seed, crowdStream))
	return &Crowd{lines: w.linesOf(r, 0, channels[0]), r: r, spam: deck[string]{cards: spam}, emotes: w.usableEmotes(0), viewers: firstViewers}
}

// Next returns what happens next.
func (c *Crowd) Next() Act {
	a := c.act()
	a.Pause = time.Second + time.Duration(c.r.Int64N(2000))*time.Millisecond
	if a.Text == "" {
		return a
	}
	a.MessageID = randomID(c.r)
	if len(c.recent) > 0 && c.r.IntN(6) == 0 {
		a.ReplyTo = pick(c.r, c.recent)
	}
	if c.r.IntN(8) == 0 {
		a.Text += pick(c.r, c.emotes)
	}
	c.recent = append(c.recent[max(0, len(c.recent)-maxRecent+1):], a.MessageID)
	return a
}

func (c *Crowd) act() Act {
	w := c.lines.world
	switch roll := c.r.IntN(60); {
	case roll == 0 && c.newcomers < maxNewcomers:
		c.newcomers++
		p := human(c.r).Person
		p.ID = randomID(c.r)
		return Act{User: p, IsNew: true, Follows: true, Text: "first time here, hello!"}
	case roll == 1:
		return Act{User: w.people[between(c.r, crowdStart, plainStart-1)].Person, Subscribes: true}
	case roll == 2:
		return Act{User: w.people[between(c.r, plainStart, rowdyStart-1)].Person, Follows: true}
	case roll == 3:
		return Act{User: w.people[between(c.r, rowdyStart, userCount-1)].Person, Text: c.spam.deal(c.r)}
	case roll < 7:
		c.viewers += c.r.Int64N(firstViewers/10) - (c.viewers-firstViewers/2)/10
		return Act{Viewers: c.viewers}
	}
	for {
		if user, text := c.lines.next(); user >= crowdStart {
			return Act{User: w.people[user].Person, Text: text}
		}
	}
}

// Forget has nobody reply to a message that was not posted.
func (c *Crowd) Forget(id uid.ID) {
	c.recent = slices.DeleteFunc(c.recent, func(other uid.ID) bool { return other == id })
}
