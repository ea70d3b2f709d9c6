package cli_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/gateway/assets"
	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/server/cli/trigger"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// triggering is a server of this process.
type triggering struct {
	*servertest.Server

	flags []string
}

func newTriggering(t *testing.T) *triggering {
	t.Helper()
	config := servertest.Config(storetest.SQLite(t))
	config.DefaultAvatarURL = assets.Avatar
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	return &triggering{s, []string{"--grpc-server=" + s.GRPCAddr, "--client=" + servertest.ChatServer, "--token=" + s.AsService(t).Token}}
}

// run runs `moderato events trigger` and returns its exit code and what it printed.
func (s *triggering) run(args ...string) (code int, out, errs string) {
	var outBuffer, errBuffer servertest.Buffer
	code = cli.Run(context.Background(), slices.Concat([]string{"events", "trigger"}, s.flags, args), strings.NewReader(""), &outBuffer, &errBuffer)
	return code, outBuffer.String(), errBuffer.String()
}

// TestTriggerCausesEveryType causes three events of each type, first for test users and
// then for one user, and checks that they are received.
func TestTriggerCausesEveryType(t *testing.T) {
	t.Parallel()
	s := newTriggering(t)
	channel := "--channel=" + servertest.Owner.String()
	for _, name := range slices.Concat(eventtype.Types(), eventtype.LiveTypes()) {
		for _, args := range [][]string{nil, {"--user=" + servertest.Viewer.String()}} {
			code, out, errs := s.run(append(args, channel, "--times=3", name)...)
			lines := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3}  `+servertest.Owner.String()+`  #\d+  `+regexp.QuoteMeta(name)+` +[\w-]* +\{.*\}$`).FindAllString(out, -1)
			if code != 0 || len(lines) != 3 || strings.Count(out, "\n") != 3 || !strings.Contains(errs, "3 of 3: ") || strings.Contains(out, `"avatarUrl":""`) {
				t.Errorf("%s %v: exit code %d, prints %s%s", name, args, code, out, errs)
			}
		}
	}
}

func TestTriggerListsEveryType(t *testing.T) {
	t.Parallel()
	got := process.Run(t, nil, "", "events", "trigger")
	if got.Code != 0 || strings.Count(got.Out, "\n") != len(trigger.Recipes) {
		t.Errorf("exit code %d, prints %s%s", got.Code, got.Out, got.Err)
	}
	for _, name := range slices.Concat(eventtype.Types(), eventtype.LiveTypes()) {
		if !strings.Contains(got.Out, name+" ") {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestTriggerSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	s := newTriggering(t)
	for name, want := range map[string]string{
		"channel.ban":    "1 of 1: the owner bans Test Viewer 1\n",
		"channel.follow": "1 of 1: Test Viewer 1 follows the channel\n",
		"channel.update": "1 of 1: the owner changes the title of the channel\n",
	} {
		if code, _, errs := s.run(name); code != 0 || errs != want {
			t.Errorf("%s: exit code %d, prints %q, want %q", name, code, errs, want)
		}
	}
}

func TestTriggerChoosesChannel(t *testing.T) {
	t.Parallel()
	s := newTriggering(t)
	code, out, errs := s.run("stream.online", "--json")
	if code != 0 || !strings.HasPrefix(out, `{"cursor":"`) || !strings.Contains(out, `"subscriptionType":"stream.online"`) {
		t.Errorf("exit code %d, prints %s%s", code, out, errs)
	}
}

func TestTriggerExplainsErrors(t *testing.T) {
	t.Parallel()
	s := newTriggering(t)
	app := s.AsApp(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown channel":  {[]string{"channel.ban", "--channel=" + servertest.Nobody.String()}, "no channel"},
		"unknown user":     {[]string{"channel.ban", "--user=" + servertest.Nobody.String()}, "no such user"},
		"no service token": {[]string{"channel.ban", "--client=" + app.ClientID, "--token=" + app.Token}, "moderato token issue --client ID --service"},
		"no token":         {[]string{"channel.ban", "--token="}, "--token are required"},
		"no server":        {[]string{"channel.ban", "--grpc-server=127.0.0.1:1"}, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, out, errs := s.run(c.args...); code != 1 || strings.Count(out, "\n") > 1 || !strings.Contains(errs, c.want) {
				t.Errorf("exit code %d, prints %s; want %q", code, fmt.Sprint(out, errs), c.want)
			}
		})
	}
}
