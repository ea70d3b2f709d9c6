package cli_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// smallRaid replaces the raid in a block of commands by one that takes less time.
func smallRaid(commands string) string {
	return strings.ReplaceAll(commands, "moderato demo raid\n", "moderato demo raid --raiders 60 --duration 0s\n")
}

// wants are texts that commands must print, in this order.
type wants []string

func (w wants) check(t *testing.T, out string) {
	t.Helper()
	rest := out
	for _, want := range w {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the commands do not print %q in its place:\n%s", want, out)
			return
		}
		rest = after
	}
}

// TestDocumentedRaidDrill runs the drill of docs/moderation.md.
func TestDocumentedRaidDrill(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		w, commands := newWorkplaceOn(t, demoDirectory(t), url), ""
		w.environ = append(w.environ, "MODERATO_DB="+strings.TrimPrefix(process.DBFlag(url), "--db="))
		for _, heading := range []string{"The raid drill", "Preview", "Commit", "The evidence", "Undo"} {
			commands += block(t, "docs/moderation.md: "+heading+"/1")
		}
		wants{
			"60 accounts followed the channel and posted 120 messages",
			`"matched":60`, `"sample":[{`, "gems",
			`"status":"COMPLETE"`, `"banned":60`,
			"posted 0 messages", "20 of the accounts were banned or muted", "no message is left to sweep",
			`"bannedCount":80,"stillBannedCount":80`,
			`"type":"channel.ban"`, `"cause":"batch"`, `"evidence":[{"messageId":"`, `"text":"`, `"messageId":"`, `"text":"`,
			`}],"pagination":{"cursor":""}`,
			`"unbanned":80`,
		}.check(t, w.run(t, smallRaid(commands)))
	})
}

// TestRaidsOfDemo raids a demo several times, and checks that the sweep that is printed
// finds all raiders and nobody else, and that listeners receive the raid.
func TestRaidsOfDemo(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.environ = append(w.environ, "TOKEN="+w.owner(t))
	chat := listen(t, w.command(t, `exec curl -sN 'http://127.0.0.1:8080/v1/events?type[]=channel.chat.message&type[]=channel.follow' -g -H 'client-id: demo-dashboard' -H "Authorization: Bearer $TOKEN"`))
	chat.until(t, ": listening")
	preview := ""
	for n, command := range []string{
		"moderato demo raid --duration 0s --raiders 30 --messages 3",
		"MODERATO_CLIENT=ignored moderato demo raid --duration 0s --raiders 30",
		"moderato demo raid --duration 0s --raiders 30 --messages 1 --channel " + demoOwner + " --token $(moderato token issue --client demo-chat --service)",
	} {
		out := w.run(t, command)
		preview = regexp.MustCompile(`(?m)^curl .*$`).FindString(out)
		wants{fmt.Sprintf(`"matched":%d,`, 30*(n+1)), `"owner":0,"moderators":0`}.check(t, w.run(t, preview))
	}
	chat.until(t, `"subscriptionType":"channel.follow"`)
	chat.until(t, `"subscriptionType":"channel.chat.message"`)

	// Raiders who are banned at their first message do not end the raid.
	swept := w.run(t, preview)
	token := regexp.MustCompile(`"sweepToken":"[^"]*"`).FindString(swept)
	commit := strings.Replace(preview, "/sweeps", "/sweeps/commit", 1)
	commit = regexp.MustCompile(`"phrase".*\}`).ReplaceAllLiteralString(commit, token+`,"afterglowSeconds":600}`)
	wants{`"banned":90`}.check(t, w.run(t, commit))
	wants{"posted 0 messages", "5 of the accounts were banned or muted"}.check(t, w.run(t, "moderato demo raid --duration 0s --raiders 5"))
	wants{`"matched":0`}.check(t, w.run(t, preview))
}

// TestRaidTakesItsTime raids a demo over a time in which people can watch it.
func TestRaidTakesItsTime(t *testing.T) {
	t.Parallel()
	w, start := newWorkplace(t), time.Now()
	w.run(t, "moderato demo raid --raiders 4 --duration 4s")
	if took := time.Since(start); took < 3*time.Second { // the last one comes at 3 s
		t.Errorf("the raid took %s, want about 3 s", took)
	}
}

// TestRaidRefuses checks that nothing but a demo is raided, and what else is refused.
func TestRaidRefuses(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	production := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	production.Load(t, servertest.World()...)
	for name, c := range map[string]struct{ args, want string }{
		"not a demo":      {"--grpc-server " + production.GRPCAddr + " --client " + servertest.ChatServer + " --token " + production.AsService(t).Token + " --channel " + servertest.Owner.String(), "is not a demo"},
		"no server":       {"--grpc-server 127.0.0.1:1", "does not answer"},
		"no database":     {"--db sqlite:nothing.db", "--db must name the demo's database"},
		"no demo token":   {"--token mds_nonsense", "the token must be of the demo's database"},
		"unknown channel": {"--channel " + servertest.Nobody.String(), "CHANNEL_NOT_FOUND"},
		"no UUID":         {"--channel ines", "must be a UUID"},
		"no raiders":      {"--raiders 0", "must be 1 to 20000"},
		"many raiders":    {"--raiders 20001", "must be 1 to 20000"},
		"no messages":     {"--messages 0", "must be 1 to 10"},
		"a long raid":     {"--duration 11m", "must be 0s to 10m"},
		"many messages":   {"--messages 11", "must be 1 to 10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := w.command(t, "moderato demo raid "+c.args).Output()
			if _, isExit := err.(*exec.ExitError); !isExit || len(out) > 0 || !strings.Contains(stderrOf(err), c.want) { //nolint:errorlint // as exec returns it
				t.Errorf("%v, prints %s%s; want %q", err, out, stderrOf(err), c.want)
			}
		})
	}
}
