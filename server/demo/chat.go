package demo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

const (
	window     = 2 * time.Hour    // how far back the chat goes
	raidWindow = 10 * time.Minute // how far back the raider's messages go
	latest     = 3 * time.Second  // the minimum age of a message
)

// message is a chat message; ago is how long before now it was sent.
type message struct {
	id, channel, user uid.ID
	text              string
	ago               time.Duration
}

// room generates the messages of one channel.
type room struct {
	r        *rand.Rand
	channel  uid.ID
	messages []message
}

// post adds a message that was sent at a random time, between since and latest ago.
func (m *room) post(user user, text string, since time.Duration) {
	m.messages = append(m.messages, message{
		id: randomID(m.r), channel: m.channel, user: user.ID, text: text,
		ago: latest + time.Duration(m.r.Int64N((since-latest).Milliseconds()))*time.Millisecond,
	})
}

// makeChat returns the messages of all channels, ordered by time.
func (w *world) makeChat() []message {
	r := stream(chatStream)
	spamDeck := deck[string]{cards: spam}
	var all []message
	for i, c := range channels {
		m := &room{r: r, channel: w.people[i].ID}
		w.talk(m, i, c)
		for _, b := range w.bans {
			if b.channel == i {
				for range between(r, 1, 3) {
					m.post(w.people[b.user], spamDeck.deal(r), window)
				}
			}
		}
		if i == 0 {
			for range 7 {
				m.post(w.people[raiderIndex], spamDeck.deal(r), raidWindow)
			}
		}
		w.addEmotes(i, m.messages)
		all = append(all, m.messages...)
	}
	slices.SortStableFunc(all, func(a, b message) int { return cmp.Compare(b.ago, a.ago) })
	return all
}

// talk generates the messages of a channel's owner and audience.
func (w *world) talk(m *room, index int, c channel) {
	r := m.r
	count := between(r, 44, 54)
	if c.base() == "en" {
		count = between(r, 56, 76)
	}
	l := w.linesOf(r, index, c)
	for range count {
		user, text := l.next()
		m.post(w.people[user], text, window)
	}
	if index == 0 {
		m.post(w.people[viewerIndex], "hello from Lagos, first time here", window)
		m.post(w.people[viewerIndex], "mods, could somebody have a look at the links in chat?", raidWindow/2)
	}
}

// lines makes up what is said in a channel.
type lines struct {
	*world
	r        *rand.Rand
	index    int
	channel  channel
	audience []int

	host, cheer, english, local deck[string]
}

func (w *world) linesOf(r *rand.Rand, index int, c channel) *lines {
	l := &lines{
		world: w, r: r, index: index, channel: c, audience: w.audience(r, index, c),
		host: deck[string]{cards: c.host}, cheer: deck[string]{cards: cheers}, english: deck[string]{cards: chatter},
		local: deck[string]{cards: slices.Clone(topics[c.category])},
	}
	small := deck[string]{cards: smalltalk[c.base()]}
	for range min(45, len(small.cards)) { // bounded: English has so many lines that topics would be rare
		l.local.cards = append(l.local.cards, small.deal(r))
	}
	return l
}

// next returns who speaks next, and what. A user who does not speak the channel's language
// writes in English.
func (l *lines) next() (user int, text string) {
	r := l.r
	user, line := l.audience[min(r.IntN(len(l.audience)), r.IntN(len(l.audience)))], &l.local
	switch roll := r.IntN(20); {
	case roll < 1:
		user, line = l.index, &l.host
	case roll < 5:
		line = &l.cheer
	case !l.speaks(user, l.channel):
		line = &l.english
	}
	return user, l.fill(r, line.deal(r), l.audience, user)
}

// audience returns the users who talk in a channel, the most talkative first: every
// user with a role, and 20 others. Users who speak the channel's language come first.
func (w *world) audience(r *rand.Rand, index int, c channel) []int {
	var in, others []int
	for _, role := range w.roles {
		if role.channel == index {
			in = append(in, role.user)
		}
	}
	for _, i := range r.Perm(rowdyStart - crowdStart) {
		if user := crowdStart + i; !slices.Contains(in, user) {
			others = append(others, user)
		}
	}
	w.localsFirst(others, c)
	in = append(in, others[:20]...)
	r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
	w.localsFirst(in, c)
	return in
}

// fill replaces the placeholders of a line with the username of another user than the
// speaker, a city and a number.
func (w *world) fill(r *rand.Rand, line string, audience []int, speaker int) string {
	name := speaker
	for name == speaker {
		name = pick(r, audience)
	}
	return strings.NewReplacer(
		"{name}", w.people[name].Username,
		"{city}", pick(r, cities),
		"{n}", strconv.Itoa(between(r, 2, 30)),
	).Replace(line)
}
