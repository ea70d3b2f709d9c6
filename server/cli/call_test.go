package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// calling runs `moderato api` as a caller of a server.
type calling struct {
	*servertest.Server

	flags []string
}

func newCalling(t *testing.T) *calling {
	t.Helper()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	return (&calling{Server: s}).as(s.As(t, servertest.Owner))
}

// as returns a calling with other credentials.
func (s *calling) as(c servertest.Credentials) *calling {
	return &calling{s.Server, []string{"--server=http://" + s.HTTPAddr + "/", "--client=" + c.ClientID, "--token=" + c.Token}}
}

func (s *calling) run(input string, args ...string) (code int, out, errs string) {
	var outBuffer, errBuffer servertest.Buffer
	code = cli.Run(context.Background(), slices.Concat([]string{"api"}, s.flags, args), strings.NewReader(input), &outBuffer, &errBuffer)
	return code, outBuffer.String(), errBuffer.String()
}

// TestAPICalls makes the calls in order: some need the state that earlier ones created.
func TestAPICalls(t *testing.T) {
	t.Parallel()
	s := newCalling(t)
	file := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(file, []byte(banOfRaider), 0o600); err != nil {
		t.Fatal(err)
	}
	channel := "channelId=" + servertest.Owner.String()
	for _, c := range []struct {
		args []string
		in   string
		code int
		want string // in the output
		errs string // in the error output
	}{
		{[]string{"GET", "/v1/users/profile"}, "", 0, `{"success":true,"message":"success","data":{"userId":"` + servertest.Owner.String(), ""},
		{[]string{"get", "/v1/channels?type=all", "-f", "slug[]=ines", "-f", "slug[]=zoe-l"}, "", 0, `"count":2`, ""},
		{[]string{"POST", "/v1/moderation/ban", "--input", file}, "", 0, `"bannedUserId"`, ""},
		{[]string{"DELETE", "/v1/moderation/ban", "--input=-"}, banOfRaider, 0, `{"success":true,"message":"success"}`, ""},
		{[]string{"DELETE", "/v1/moderation/ban", "-f", channel, "-f", "banUsername=lootgoblin77"}, "", 1, `"code":"NOT_BANNED"`, "moderato: The user is not banned in this channel, so nothing needs to be done; GET /v1/moderation/users shows whether a user is banned (NOT_BANNED)\n"},
		{[]string{"POST", "/v1/channels/info", "-f", "title=12", "-f", "lang=en", "-F", "categoryId=0"}, "", 0, `"title":"12"`, ""},
		{[]string{"POST", "/v1/webhooks", "-f", "url=https://hooks.example.com/", "-f", "type[]=channel.ban", "-f", "type[]=channel.unban"}, "", 0, `"type":["channel.ban","channel.unban"]`, ""},
		{[]string{"GET", "/v1/nothing"}, "", 1, `"code":"PATH_NOT_FOUND"`, "PATH_NOT_FOUND"},
		{[]string{"GET", "/v1/users/profile", "-i"}, "", 0, "\nX-Request-Id: ", ""},
		{[]string{"HEAD", "/v1/users/profile", "-i"}, "", 0, "HTTP/1.1 200 OK\nContent-Length: ", ""},
		{[]string{"HEAD", "/v1/nothing"}, "", 1, "", "404 Not Found"},
		{[]string{"GET", "/.well-known/oauth-authorization-server"}, "", 0, `"issuer"`, ""},
	} {
		code, out, errs := s.run(c.in, c.args...)
		if code != c.code || !strings.Contains(out, c.want) || !strings.Contains(errs, c.errs) || (c.errs == "") != (errs == "") {
			t.Errorf("%q: exit code %d, prints %s, errors %q; want %d, %s, %q", c.args, code, out, errs, c.code, c.want, c.errs)
		}
	}
}

func TestAPIPaginates(t *testing.T) {
	t.Parallel()
	s := newCalling(t)
	for _, user := range servertest.AddUsers(t, s.Store, 30) {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{ChannelId: servertest.Owner.String(), UserId: user.String()}}})
	}
	count := func(args ...string) (pages, rows int) {
		code, out, errs := s.run("", append(args, "GET", "/v1/channels/followers", "-f", "limit=7")...)
		if code != 0 {
			t.Fatalf("%s%s", out, errs)
		}
		for line := range strings.Lines(out) {
			var page struct {
				Data struct{ Rows []struct{ ID string } }
			}
			if err := json.Unmarshal([]byte(line), &page); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			pages, rows = pages+1, rows+len(page.Data.Rows)
		}
		return pages, rows
	}
	if pages, rows := count(); pages != 1 || rows != 7 {
		t.Errorf("without --paginate: %d rows in %d pages", rows, pages)
	}
	pages, rows := count("--paginate")
	if pages < 3 || pages != (rows+6)/7 {
		t.Errorf("%d rows in %d pages", rows, pages)
	}
	var stats struct{ Data struct{ FollowerCount int } }
	_, out, _ := s.run("", "GET", "/v1/channels/stats")
	if err := json.Unmarshal([]byte(out), &stats); err != nil || stats.Data.FollowerCount != rows {
		t.Errorf("%d rows, want %d (%v)", rows, stats.Data.FollowerCount, err)
	}
}

// TestAPIPaginatesCompleteLists requests pages of a list whose data are the rows themselves.
func TestAPIPaginatesCompleteLists(t *testing.T) {
	t.Parallel()
	s := newCalling(t)
	var want []string
	for _, user := range servertest.AddUsers(t, s.Store, 5) {
		s.Load(t, &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{ChannelId: servertest.Owner.String(), UserId: user.String(), Role: "vip"}}})
		want = append(want, user.String())
	}
	code, out, errs := s.run("", "GET", "/v1/channels/roles/vips", "-f", "limit=2", "--paginate")
	for _, id := range want {
		if strings.Count(out, id) != 1 {
			t.Errorf("exit code %d: the user %s is not there once: %s%s", code, id, out, errs)
		}
	}
}

func TestAPIActsAsUser(t *testing.T) {
	t.Parallel()
	s := newCalling(t)
	code, out, errs := s.as(s.AsService(t)).run("", "GET", "/v1/users/profile", "--acting-user="+servertest.Viewer.String())
	if code != 0 || !strings.Contains(out, servertest.Viewer.String()) {
		t.Errorf("exit code %d, prints %s%s", code, out, errs)
	}
}

func TestAPIStreamsEvents(t *testing.T) {
	t.Parallel()
	s := newCalling(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs servertest.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, slices.Concat([]string{"api"}, s.flags, []string{"GET", "/v1/events"}), strings.NewReader(""), &out, &errs)
	}()
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "channel.ban"); {
		if time.Now().After(deadline) {
			t.Fatalf("no ban is printed: %s%s", &out, &errs)
		}
		// The stream may not be open yet.
		_, _, _ = s.run(banOfRaider, "POST", "/v1/moderation/ban", "--input=-")
		_, _, _ = s.run(banOfRaider, "DELETE", "/v1/moderation/ban", "--input=-")
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d after Ctrl-C: %s", code, &errs)
	}
}

func TestAPIExplainsArguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"must be GET, HEAD, POST or DELETE": {"PUT", "/v1/x"},
		"must begin with /":                 {"GET", "http://127.0.0.1/v1/x"},
		"only GET lists have pages":         {"POST", "/v1/x", "--paginate"},
		"--input is the whole body":         {"POST", "/v1/x", "--input=x", "-f", "a=b"},
		"which have a body; use --field":    {"GET", "/v1/x", "-F", "a=1"},
		"must be KEY=VALUE":                 {"GET", "/v1/x", "-f", "a"},
		"must be KEY=JSON":                  {"POST", "/v1/x", "-F", "a=b"},
		"no such file":                      {"POST", "/v1/x", "--input=/nothing"},
	} {
		var out, errs servertest.Buffer
		code := cli.Run(t.Context(), append([]string{"api", "--client=x", "--token=x"}, args...), strings.NewReader(""), &out, &errs)
		if code == 0 || out.String() != "" || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit code %d, prints %s", args, code, fmt.Sprint(&out, &errs))
		}
	}
}
