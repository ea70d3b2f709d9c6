package cli_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/demo"
)

var botSoak = flag.Duration("bot-soak", 0, "how long TestBotSoak runs; it is skipped if 0")

const (
	killInterval = 20 * time.Second
	// logTypes are the types that the program prints.
	logTypes = "&type[]=channel.ban&type[]=channel.unban&type[]=channel.mute&type[]=channel.mute.expire"
)

// TestBotSoak kills the server of the JavaScript program of docs/getting-started.md again
// and again while people are banned. At the end the program must have printed every event
// in the moderation log.
func TestBotSoak(t *testing.T) {
	if *botSoak == 0 {
		t.Skip("make bot-soak runs it")
	}
	p := programs[0]
	if !p.isInstalled(t) {
		t.Fatal("a program that it needs is missing")
	}
	d := newDemoSite(t, "--user-token-lifetime=1m")
	b := d.signIn(t, p)
	cast := demo.People()
	b.until(t, "Moderating the channel of "+cast.Owner.DisplayName)
	d.greet(t, cast.Viewer, cast.Owner)
	d.untilBanned(t, cast.Raider)
	first, err := strconv.ParseInt(b.until(t, `^(\d+) channel.ban.*`+cast.Raider.ID.String())[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	printed := &printedEvents{counts: map[int64]int{}}
	go printed.collect(b.lines)
	l := &botLoad{site: *d, stop: make(chan struct{})} // with the address and tokens from before the restarts
	var work sync.WaitGroup
	work.Go(l.moderate)
	work.Go(l.chat)
	kills := 0
	for end := time.Now().Add(*botSoak); time.Now().Before(end); kills++ {
		time.Sleep(killInterval*3/4 + rand.N(killInterval/2))
		d.Kill()
		d.serve(t)
	}
	close(l.stop)
	work.Wait()

	logged := d.loggedAfter(t, first)
	missed := printed.missing(logged)
	for deadline := time.Now().Add(patience); len(missed) > 0 && time.Now().Before(deadline); missed = printed.missing(logged) {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%v, %d kills, %d changes and %d posts acknowledged, %d events in the log, %d printed more than once, %d missed",
		*botSoak, kills, l.changes.Load(), l.posts.Load(), len(logged), printed.repeated(), len(missed))
	if len(missed) > 0 {
		t.Errorf("missed: %v", missed)
	}
	if l.changes.Load() == 0 || kills == 0 {
		t.Error("nothing was tested")
	}
	d.greet(t, cast.Moderator, cast.Owner)
}

// botLoad bans and posts until it is stopped. It ignores errors, because the server is
// killed.
type botLoad struct {
	site           demoSite
	stop           chan struct{}
	changes, posts atomic.Int64
}

func (l *botLoad) isStopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *botLoad) moderate() {
	cast := demo.People()
	for ; !l.isStopped(); time.Sleep(20 * time.Millisecond) {
		user := l.site.users[rand.IntN(len(l.site.users))]
		method, path, key := http.MethodPost, "/v1/moderation/ban", "banUserId"
		switch rand.IntN(5) {
		case 0, 1:
			method = http.MethodDelete
		case 2:
			path, key = "/v1/moderation/mute", "mutedUserId"
		}
		status, _, err := l.site.call(method, path, cast.Client, l.site.moderator, object{"channelId": cast.Owner.ID.String(), key: user})
		if err == nil && status == http.StatusOK {
			l.changes.Add(1)
		}
	}
}

func (l *botLoad) chat() {
	cast := demo.People()
	for i := 0; !l.isStopped(); i++ {
		message := "just talking"
		if i%20 == 0 {
			message = "!hello"
		}
		if status, _, err := l.site.post(cast.Viewer, message); err == nil && status == http.StatusOK {
			l.posts.Add(1)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// printedEvents counts how often a program printed each event, by its sequence.
type printedEvents struct {
	mu     sync.Mutex
	counts map[int64]int
}

var printedEvent = regexp.MustCompile(`^(\d+) channel\.`)

func (e *printedEvents) collect(lines <-chan string) {
	for line := range lines {
		if m := printedEvent.FindStringSubmatch(line); m != nil {
			sequence, _ := strconv.ParseInt(m[1], 10, 64)
			e.mu.Lock()
			e.counts[sequence]++
			e.mu.Unlock()
		}
	}
}

func (e *printedEvents) missing(logged []int64) []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	var missing []int64
	for _, sequence := range logged {
		if e.counts[sequence] == 0 {
			missing = append(missing, sequence)
		}
	}
	return missing
}

func (e *printedEvents) repeated() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, count := range e.counts {
		if count > 1 {
			n++
		}
	}
	return n
}

// loggedAfter returns the sequences of the bans and mutes in the moderation log that are
// greater than a sequence.
func (d *demoSite) loggedAfter(t *testing.T, first int64) (logged []int64) {
	t.Helper()
	cast := demo.People()
	for cursor := ""; ; {
		status, answer, err := d.call(http.MethodGet,
			"/v1/moderation/log?limit=100&channelId="+cast.Owner.ID.String()+logTypes+"&cursor="+cursor, cast.Client, d.moderator, nil)
		var page struct {
			Data struct {
				Rows       []struct{ Sequence int64 }
				Pagination struct{ Cursor string }
			}
		}
		if err != nil || status != http.StatusOK || json.Unmarshal([]byte(answer), &page) != nil {
			t.Fatalf("the log: %d %s, %v", status, answer, err)
		}
		for _, row := range page.Data.Rows {
			if row.Sequence <= first {
				return logged
			}
			logged = append(logged, row.Sequence)
		}
		if cursor = page.Data.Pagination.Cursor; cursor == "" {
			return logged
		}
	}
}
