package cli

import (
	"bytes"
	"testing"
)

func TestWriteJSON(t *testing.T) {
	for _, c := range []struct {
		body     string
		isPretty bool
		want     string
	}{
		{`{"b":9007199254740993,"a":[]}`, false, "{\"b\":9007199254740993,\"a\":[]}\n"},
		{`{"b":9007199254740993,"a":[]}`, true, "{\n  \"b\": 9007199254740993,\n  \"a\": []\n}\n"},
		{"no JSON\n", true, "no JSON\n"},
	} {
		var out bytes.Buffer
		writeJSON(&out, []byte(c.body), c.isPretty)
		if out.String() != c.want {
			t.Errorf("%s, pretty: %t: wrote %q, want %q", c.body, c.isPretty, &out, c.want)
		}
	}
}
