package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent/user"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestInvalidSettingNamesFlagAndAllowedValues(t *testing.T) {
	for name, c := range map[string]struct {
		args, env []string
		want      []string
	}{
		"rate limit is no number":     {args: []string{"serve", "--rate-limit=many"}, want: []string{"--rate-limit", `"many"`, "whole number of 0 or more"}},
		"rate limit is negative":      {args: []string{"serve", "--rate-limit=-1"}, want: []string{"--rate-limit", `"-1"`, "0 or more"}},
		"rate limit by environment":   {args: []string{"serve"}, env: []string{"MODERATO_RATE_LIMIT=x"}, want: []string{"MODERATO_RATE_LIMIT", `"x"`, "0 or more"}},
		"longest list is 0":           {args: []string{"serve", "--max-results=0"}, want: []string{"--max-results", `"0"`, "1 or more"}},
		"address without a port":      {args: []string{"serve", "--http-addr=localhost"}, want: []string{"--http-addr", `"localhost"`, "HOST:PORT"}},
		"database of another kind":    {args: []string{"serve", "--db=postgres://x"}, want: []string{"--db", "sqlite:FILE or mysql://"}},
		"unknown option of the URL":   {args: []string{"migrate", "--db=mysql://u:secret@h/n?foo=1"}, want: []string{"--db", `"foo"`}},
		"database by environment":     {args: []string{"migrate"}, env: []string{"MODERATO_DB=nonsense"}, want: []string{"MODERATO_DB", "sqlite:FILE"}},
		"password in the environment": {args: []string{"migrate"}, env: []string{"MODERATO_DB=mysql://u:secret@/n"}, want: []string{"MODERATO_DB", "a host and a database name"}},
		"origin without a scheme":     {args: []string{"serve", "--cors-origins=https://a.example,dash.example.com"}, want: []string{"--cors-origins", `"dash.example.com"`, "such as https://dash.example.com"}},
		"origin with a path":          {args: []string{"serve"}, env: []string{"MODERATO_CORS_ORIGINS=https://a.example/"}, want: []string{"MODERATO_CORS_ORIGINS", `"https://a.example/"`}},
		"origin of pictures by http":  {args: []string{"serve", "--picture-origins=https://a.example,http://b.example"}, want: []string{"--picture-origins", `"http://b.example"`, "such as https://cdn.example.com"}},
		"origin with a directive":     {args: []string{"serve", "--picture-origins=https://a.example;script-src"}, want: []string{"--picture-origins", `"https://a.example;script-src"`}},
		"unknown log level":           {args: []string{"serve", "--log-level=loud"}, want: []string{"--log-level", `"loud"`, `"debug"`, `"error"`}},
		"certificate without a key":   {args: []string{"serve", "--http-tls-cert=/dev/null"}, want: []string{"--http-tls-cert needs --http-tls-key"}},
		"key without a certificate":   {args: []string{"serve"}, env: []string{"MODERATO_GRPC_TLS_KEY=/dev/null"}, want: []string{"--grpc-tls-key needs --grpc-tls-cert"}},
		"client authority alone":      {args: []string{"serve", "--grpc-client-ca=/dev/null"}, want: []string{"--grpc-client-ca needs --grpc-tls-cert"}},
		"missing certificate":         {args: []string{"serve", "--http-tls-cert=/none.pem", "--http-tls-key=/dev/null"}, want: []string{"--http-tls-cert", "/none.pem"}},
		"empty certificate":           {args: []string{"serve", "--grpc-tls-cert=/dev/null", "--grpc-tls-key=/dev/null", "--http-addr=127.0.0.1:0", "--grpc-addr=127.0.0.1:0"}, want: []string{"--grpc-tls-cert", "/dev/null"}},
		"demo with TLS":               {args: []string{"serve", "--demo", "--http-tls-cert=/dev/null", "--http-tls-key=/dev/null"}, want: []string{"--demo", "--http-tls-cert"}},
		"authority without https":     {args: []string{"api", "GET", "/v1/tokens/self", "--client=x", "--token=x", "--tls-ca=/dev/null"}, want: []string{"--tls-ca", "https://", "--server"}},
		"authority without TLS":       {args: []string{"events", "trigger", "channel.ban", "--client=x", "--token=x", "--tls-ca=/dev/null"}, want: []string{"--tls-ca", "--grpc-tls"}},
		"half a client certificate":   {args: []string{"demo", "raid", "--grpc-tls", "--tls-cert=/dev/null"}, want: []string{"--tls-cert needs --tls-key"}},
		"authority of the database":   {args: []string{"migrate", "--db=mysql://u:secret@127.0.0.1:1/n?tls=true&tls-ca=/none.pem"}, want: []string{"tls-ca", "/none.pem"}},
		"drain delay is no duration":  {args: []string{"serve", "--drain-delay=soon"}, want: []string{"--drain-delay", "soon"}},
		"unknown flag":                {args: []string{"serve", "--rate-limits=1"}, want: []string{"--rate-limits"}},
		"unknown variable":            {args: []string{"version"}, env: []string{"MODERATO_RATELIMIT=1"}, want: []string{"MODERATO_RATELIMIT"}},
		"unknown command":             {args: []string{"server"}, want: []string{"server"}},
		"token for nobody":            {args: []string{"token", "issue", "--client=x"}, want: []string{"--user", "--app", "--service"}},
		"token of two kinds":          {args: []string{"token", "issue", "--client=x", "--app", "--service"}, want: []string{"--app", "--service"}},
		"token of a negative time":    {args: []string{"token", "issue", "--client=x", "--app", "--ttl=-1h"}, want: []string{"--ttl", "more than 0"}},
		"user is no UUID":             {args: []string{"token", "issue", "--client=x", "--user=ines"}, want: []string{"--user", `"ines"`, "UUID"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := process.Run(t, c.env, "", c.args...)
			if got.Code == 0 || got.Out != "" {
				t.Errorf("exit code %d, standard output %q", got.Code, got.Out)
			}
			for _, want := range c.want {
				if !strings.Contains(got.Err, want) {
					t.Errorf("the error does not name %s:\n%s", want, got.Err)
				}
			}
			if strings.Contains(got.Err, "secret") {
				t.Errorf("the error reveals the password:\n%s", got.Err)
			}
		})
	}
}

func TestVersionIsThatOfTheChangelog(t *testing.T) {
	release := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindStringSubmatch(doctest.Read(t, "CHANGELOG.md"))
	if release == nil {
		t.Fatal("CHANGELOG.md has no release")
	}
	got := process.Run(t, nil, "", "version")
	if want := "moderato " + release[1] + " (commit "; got.Code != 0 || !strings.HasPrefix(got.Out, want) {
		t.Errorf("moderato version: exit code %d, prints %q, want %q…", got.Code, got.Out, want)
	}
}

func TestHelpListsCommandsFlagsAndVariables(t *testing.T) {
	got := process.Run(t, nil, "", "--help")
	for _, want := range []string{"serve", "migrate", "import", "client create", "token issue", "token revoke", "version"} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("--help does not mention %q:\n%s", want, got.Out)
		}
	}
	got = process.Run(t, nil, "", "serve", "--help")
	for _, want := range []string{"--db", "MODERATO_DB", "sqlite:moderato.db", "--rate-limit", "MODERATO_RATE_LIMIT", "1200", "127.0.0.1:9091", "=24h", "moderato.events"} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("serve --help does not mention %q:\n%s", want, got.Out)
		}
	}
}

func TestHelpOfCommand(t *testing.T) {
	for command, option := range map[string][]string{
		"help": {"--help"}, "help token issue": {"token", "issue", "--help"}, "help help": {"help", "--help"},
	} {
		got, want := process.Run(t, nil, "", strings.Fields(command)...), process.Run(t, nil, "", option...)
		if got != want || got.Code != 0 || !strings.HasPrefix(got.Out, "Usage: moderato ") {
			t.Errorf("%s: got %+v, want %+v", command, got, want)
		}
	}
	for _, command := range []string{"help ban", "help token ban", "help version x"} {
		if got := process.Run(t, nil, "", strings.Fields(command)...); got.Code != 1 || got.Out != "" || !strings.Contains(got.Err, "'moderato help' lists the commands") {
			t.Errorf("%s: got %+v", command, got)
		}
	}
}

func TestServeRejectsUnmigratedDatabase(t *testing.T) {
	storetest.EachNewOnServer(t, func(t *testing.T, url store.URL) {
		got := process.Run(t, nil, "", "serve", process.DBFlag(url), "--http-addr=127.0.0.1:0", "--grpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
		if got.Code != 1 || !strings.Contains(got.Err, "moderato migrate") {
			t.Errorf("got %+v, want the command to run", got)
		}
		if got := process.Run(t, nil, "", "migrate", process.DBFlag(url)); got.Code != 0 {
			t.Fatalf("migrate: %+v", got)
		}
		p := process.Serve(t, url)
		if code := p.Terminate(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func TestServeAcceptsOriginsAsBrowsersSendThem(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, storetest.SQLite(t), "--cors-origins=*,https://dash.example.com:8443,https://*.example.com,chrome-extension://abcdef")
	if code := p.Terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestServeReportsAddressInUse(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, storetest.SQLite(t))
	file := filepath.Join(t.TempDir(), "moderato.db")
	got := process.Run(t, nil, "", "serve", "--db=sqlite:"+file, "--http-addr="+p.REST, "--grpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
	if got.Code != 1 || !strings.Contains(got.Err, p.REST) || !strings.Contains(got.Err, "--http-addr") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a database was created before the server listened")
	}
}

func TestClientsAndTokens(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		prepare(t, url)
		if got := process.Run(t, nil, "", "client", "create", process.DBFlag(url), "--id=bot", "--name=A bot"); got.Code != 0 || got.Out != "" {
			t.Fatalf("client create: %+v", got)
		}
		var told string // on standard error
		token := func(args ...string) string {
			t.Helper()
			got := process.Run(t, nil, "", append([]string{"token", "issue", process.DBFlag(url)}, args...)...)
			told = got.Err
			if got.Code != 0 || !regexp.MustCompile(`^md[uas]_[0-9A-Za-z]{36}\n$`).MatchString(got.Out) {
				t.Fatalf("token issue %v: %+v", args, got)
			}
			return strings.TrimSpace(got.Out)
		}
		user := token("--client=bot", "--user="+servertest.Owner.String(), "--scope=users.read", "--scope=channel.moderate")
		if want := "user token of Inês Carvalho (Ines), client bot\n"; told != want {
			t.Errorf("token issue tells %q, want %q", told, want)
		}
		app := token("--client=bot", "--app", "--ttl=1h")
		token("--client="+servertest.ChatServer, "--service")

		p := process.Serve(t, url)
		if got := status(t, p, user); got != 200 {
			t.Errorf("the user token is answered with %d", got)
		}
		if got := status(t, p, app); got != 200 {
			t.Errorf("the app token is answered with %d", got)
		}
		if got := process.Run(t, nil, user+"\n", "token", "revoke", process.DBFlag(url), "-"); got.Code != 0 {
			t.Errorf("token revoke: %+v", got)
		}
		if got := statusAfterRevocation(t, p, user); got != 401 {
			t.Errorf("the revoked token is answered with %d", got)
		}
	})
}

func TestTokenIssueReportsMissingFlags(t *testing.T) {
	url := storetest.SQLite(t)
	prepare(t, url)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"client":         {[]string{"--client=nobody", "--app"}, "moderato client create --id nobody"},
		"user":           {[]string{"--client=" + servertest.Dashboard, "--user=" + servertest.Nobody.String()}, "There is no user"},
		"service client": {[]string{"--client=" + servertest.Dashboard, "--service"}, "no service client"},
	} {
		got := process.Run(t, nil, "", append([]string{"token", "issue", process.DBFlag(url)}, c.args...)...)
		if got.Code != 1 || got.Out != "" || !strings.Contains(got.Err, c.want) {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

func TestImportReportsInvalidLine(t *testing.T) {
	url := storetest.SQLite(t)
	prepare(t, url)
	const user = `{"user": {"id": "0b6feeee-0000-4000-8000-000000000001", "username": "kaito"}}`
	for line, want := range map[string]string{
		`{"channel": {"id": "0b6fffff-0000-4000-8000-0000000000ff", "title": "x"}}`: `channel.id "0b6fffff-0000-4000-8000-0000000000ff": There is no such user;`,
		`{"role": {"channelId": "x"}}`:                                              `role.channelId must be a UUID in its 36-character form, not "x"; role.userId is required; role.role `,
		`{"user": {"nickname": "x"}}`:                                               `user.nickname is not a known field (it is "x");`,
	} {
		file := writeFile(t, user+"\n"+line+"\n")
		got := process.Run(t, nil, "", "import", process.DBFlag(url), "--max-errors=1", file)
		want = file + ": line 2: " + want
		if got.Code != 1 || !strings.Contains(got.Err, want) || !strings.Contains(got.Err, "; correct the line") || strings.Contains(got.Err, "stored") {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	got := process.Run(t, nil, "", "client", "create", process.DBFlag(url), "--id=a b", "--name=x")
	if got.Code != 1 || !strings.Contains(got.Err, "create client: id must be 1 to 64 of") {
		t.Errorf("got %+v", got)
	}
}

// TestImportReportsEveryBadLine imports a file with bad lines, first as a dry run.
func TestImportReportsEveryBadLine(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		prepare(t, url)
		file := writeFile(t, `{"user": {"id": "0b6feeee-0000-4000-8000-000000000001", "username": "kaito"}}
{"channel": {"id": "0b6fffff-0000-4000-8000-0000000000ff", "title": "x"}}
{"follow": {"channelId": "`+servertest.Owner.String()+`", "userId": "0b6fffff-0000-4000-8000-0000000000ff"}}
{"user": {"id": "0b6feeee-0000-4000-8000-000000000002", "username": "INES"}}
{"channel": {"id": "0b6feeee-0000-4000-8000-000000000001", "title": "x", "categoryId": 77}}
{"user":
{"channel": {"id": "0b6feeee-0000-4000-8000-000000000001", "title": "x"}}
`)
		want := []string{
			`line 2: channel.id "0b6fffff-0000-4000-8000-0000000000ff": There is no such user`,
			`line 3: follow.userId "0b6fffff-0000-4000-8000-0000000000ff": There is no such user`,
			`line 4: user.username "INES": Another user has this username`,
			`line 5: channel.categoryId 77: There is no category`,
			`line 6: `,
		}
		for _, args := range [][]string{{"--dry-run"}, nil} {
			got := process.Run(t, nil, "", append([]string{"import", process.DBFlag(url), file}, args...)...)
			at := 0
			for _, line := range want {
				i := strings.Index(got.Err[at:], file+": "+line)
				if i < 0 {
					t.Errorf("%v: the lines do not have %q in their order:\n%s", args, line, got.Err)
					continue
				}
				at += i
			}
			if got.Code != 1 || !strings.Contains(got.Err, " 2 records in ") || !strings.Contains(got.Err, "5 bad lines: "+map[bool]string{true: "left out", false: "reported above"}[args == nil]) {
				t.Errorf("%v: %+v", args, got)
			}
			db, err := store.Open(context.Background(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			n, err := db.Read.User.Query().Where(user.Username("kaito")).Count(t.Context())
			if isStored := args == nil; err != nil || (n == 1) != isStored {
				t.Errorf("%v: %d users are stored (%v)", args, n, err)
			}
		}
		got := process.Run(t, nil, "", "import", process.DBFlag(url), file, "--max-errors=3")
		if got.Code != 1 || !strings.Contains(got.Err, "line 4: ") || strings.Contains(got.Err, "line 5: ") {
			t.Errorf("--max-errors=3: %+v", got)
		}
	})
}

func TestImport(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		prepare(t, url)
		lines := `{"category": {"id": 12, "parentId": null, "name": "Chess", "slug": "chess", "imageUrl": ""}}

{"user": {"id": "0B6FEEEE-0000-4000-8000-000000000001", "username": "Kaito", "displayName": "海斗", "avatarUrl": ""}}
{"channel": {"id": "0b6feeee-0000-4000-8000-000000000001", "title": "Go and chess", "bio": "", "lang": "ja", "categoryId": 12}}
{"role": {"channelId": "0b6feeee-0000-4000-8000-000000000001", "userId": "` + servertest.Viewer.String() + `", "role": "vip"}}
`
		for range 2 { // an import can be repeated
			got := process.Run(t, nil, lines, "import", process.DBFlag(url), "-")
			if got.Code != 0 || !strings.Contains(got.Err, "imported 4 records") {
				t.Fatalf("got %+v", got)
			}
		}
		got := process.Run(t, nil, "", "import", process.DBFlag(url), writeFile(t, lines))
		if got.Code != 0 {
			t.Errorf("from a file: %+v", got)
		}
		db, err := store.Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if n, err := db.Read.Event.Query().Count(context.Background()); err != nil || n != 0 {
			t.Errorf("the import wrote %d events (%v), want none", n, err)
		}
	})
}
