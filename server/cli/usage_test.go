package cli_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestBareCommandPrintsHelp(t *testing.T) {
	got, want := process.Run(t, nil, ""), process.Run(t, nil, "", "--help")
	if got != want || got.Code != 0 || !strings.HasPrefix(got.Out, "Usage: moderato ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestVersionIsAlsoAFlag(t *testing.T) {
	got, want := process.Run(t, nil, "", "--version"), process.Run(t, nil, "", "version")
	if got != want || got.Code != 0 || !strings.HasPrefix(got.Out, "moderato ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestUsageErrors gives flags values that they cannot have. No command looks at a database or
// a server before it refuses them.
func TestUsageErrors(t *testing.T) {
	grpc := []string{"--client=x", "--token=x"}
	for line, want := range map[string]string{
		"serve --rate-limit -1":                             `--rate-limit: "-1" must be a whole number of 0 or more`,
		"serve --rate-limit=-1":                             `--rate-limit: "-1" must be a whole number of 0 or more`,
		"serve --log-level loud":                            "--log-level must be one of",
		"serve --db mysql://u:p/w@db/name":                  "percent-encode",
		"import x --max-errors -5":                          "--max-errors -5: must be 1 or more",
		"events tail --type channel.bann":                   `--type "channel.bann": must be one of channel.`,
		"events tail --channel x":                           "must be a UUID",
		"events receive --client=x --token=x --type banned": `--type "banned": must be one of`,
		"events trigger channel.ban --channel ines":         "must be a UUID",
		"events trigger channel.bann":                       "channel.bann",
		"events trigger channel.ban --times 0":              "--times 0: must be 1 or more",
		"token issue --client x --app --scope all":          `--scope "all": must be one of users.read, channel.moderate`,
		"token issue --client x":                            "one of --user UUID, --app and --service is required",
		"token issue --client x --user me":                  `--user "me": must be a UUID`,
		"token issue --client x --app --ttl -1h":            "--ttl -1h0m0s: must be more than 0",
		"client create --id x --name x --scope all":         `--scope "all": must be one of`,
		"client update x --scope all":                       `--scope "all": must be one of`,
		"client rotate-secret x --overlap -1h":              "--overlap -1h0m0s: must be 0 to 720h",
		"archive write x --from 2026-02-30 --to 2026-03-01": `--from: "2026-02-30" must be a time such as`,
		"archive write x --from 2026-02-01":                 "missing flags: --to=TIME",
		"archive erase ines x":                              `"ines" must be the UUID of a user`,
		"completion tcsh":                                   "must be one of",
	} {
		args := strings.Fields(line)
		if args[0] == "events" && args[1] == "trigger" {
			args = append(args, grpc...)
		}
		got := process.Run(t, nil, "", args...)
		if got.Code != 2 || got.Out != "" || !strings.Contains(got.Err, want) || !strings.Contains(got.Err, "moderato --help") {
			t.Errorf("%s: exit code %d, want 2 and %q:\n%s%s", line, got.Code, want, got.Out, got.Err)
		}
	}
}

func TestKeysRotateSaysWhatBecameOfEarlierKeys(t *testing.T) {
	url := storetest.SQLite(t)
	prepare(t, url)
	for flag, want := range map[string]string{"": "earlier cursors stay valid", "--revoke": "deleted the earlier ones"} {
		args := append([]string{"keys", "rotate", process.DBFlag(url)}, strings.Fields(flag)...)
		if got := process.Run(t, nil, "", args...); got.Code != 0 || !strings.Contains(got.Err, want) {
			t.Errorf("%q: %+v, want %q", flag, got, want)
		}
	}
}
