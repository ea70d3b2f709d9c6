package match

import (
	"time"

	"github.com/moderato-live/moderato/internal/uid"
)

// Repetition is the kind of rules about texts that are posted again and again.
const Repetition Kind = "repetition"

// repetition adds nothing to a set: it is not decided by the text of one message.
func repetition(r *Rule, b *builder) {
	if r.SameSender != 0 {
		b.number("sameSender", r.SameSender, 2, 20)
	}
	if r.Senders != 0 {
		b.number("senders", r.Senders, 2, 1000)
	}
	if r.SameSender == 0 && r.Senders == 0 {
		b.add("sameSender", "is required, or senders instead")
	}
	if r.Within < time.Second || r.Within > 600*time.Second {
		b.add("withinSeconds", "must be 1 to 600")
	}
}

// Repeats has the latest posts of a channel, and counts how often each text was posted. It is
// exact while no more than its maximum of posts are within its time; then it forgets the oldest.
// It is not for concurrent use.
type Repeats struct {
	within time.Duration
	most   int

	posts []post // a ring
	first int    // the oldest
	n     int
	// by counts the posts of one text by one sender, and senders the senders of a text.
	by      map[post]int
	senders map[uint64]int
	now     time.Time
}

// post is a post of a text, which is known by its digest.
type post struct {
	text   uint64
	sender uid.ID
	at     int64 // in milliseconds, and 0 in a key
}

// NewRepeats returns a memory of what is posted within some time, with at most a number of posts,
// or one if that is less.
func NewRepeats(within time.Duration, most int) *Repeats {
	return &Repeats{within: within, most: max(1, most), by: map[post]int{}, senders: map[uint64]int{}}
}

// Add adds a post of a text, of which it gets a digest of the folded form. It returns how often the
// sender posted the text within the time, and how many senders did. A time that is earlier than
// that of the last post counts as the same.
func (r *Repeats) Add(at time.Time, text uint64, sender uid.ID) (same, senders int) {
	if at.After(r.now) {
		r.now = at
	}
	now := r.now.UnixMilli()
	for r.n > 0 && (r.n >= r.most || r.posts[r.first].at <= now-r.within.Milliseconds()) {
		r.forget()
	}
	r.append(post{text, sender, now})
	key := post{text: text, sender: sender}
	r.by[key]++
	if r.by[key] == 1 {
		r.senders[text]++
	}
	return r.by[key], r.senders[text]
}

// forget removes the oldest post.
func (r *Repeats) forget() {
	key := r.posts[r.first]
	key.at = 0
	r.first = (r.first + 1) % len(r.posts)
	r.n--
	if r.by[key]--; r.by[key] > 0 {
		return
	}
	delete(r.by, key)
	if r.senders[key.text]--; r.senders[key.text] == 0 {
		delete(r.senders, key.text)
	}
}

// append adds a post to the ring, which grows up to the maximum.
func (r *Repeats) append(p post) {
	if r.n == len(r.posts) {
		larger := make([]post, min(max(8, 2*r.n), r.most))
		for i := range r.n {
			larger[i] = r.posts[(r.first+i)%len(r.posts)]
		}
		r.posts, r.first = larger, 0
	}
	r.posts[(r.first+r.n)%len(r.posts)] = p
	r.n++
}

// Size returns about how many bytes of memory it has.
func (r *Repeats) Size() int { return 200 + 32*len(r.posts) + 80*len(r.by) + 32*len(r.senders) }
