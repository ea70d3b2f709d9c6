package uid_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/moderato-live/moderato/internal/uid"
)

const text = "0b6f0001-0a2c-4d3e-8f4b-0123456789ab"

func TestParseIgnoresCase(t *testing.T) {
	want := uid.ID{0x0b, 0x6f, 0x00, 0x01, 0x0a, 0x2c, 0x4d, 0x3e, 0x8f, 0x4b, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab}
	for _, s := range []string{text, strings.ToUpper(text), "0B6f0001-0a2C-4D3e-8F4b-0123456789Ab"} {
		got, err := uid.Parse(s)
		if got != want || err != nil || got.String() != text {
			t.Errorf("%q: got %s, %v, want %s", s, got, err, text)
		}
		if uid.MustParse(s) != want {
			t.Errorf("MustParse(%q): got %s, want %s", s, uid.MustParse(s), text)
		}
	}
}

// malformed are texts that are not a UUID of 36 characters.
var malformed = map[string]string{
	"nothing":          "",
	"35 characters":    text[:35],
	"37 characters":    text + "0",
	"braces":           "{" + text + "}",
	"a URN":            "urn:uuid:" + text,
	"no hyphens":       strings.ReplaceAll(text, "-", ""),
	"no hexadecimal":   "g" + text[1:],
	"the last is none": text[:35] + "G",
	"a moved hyphen":   "0b6f000-10a2c-4d3e-8f4b-0123456789ab",
	"a fifth hyphen":   text[:30] + "-" + text[31:],
	"underscores":      strings.ReplaceAll(text, "-", "_"),
	"a space for one":  " " + text[1:],
	"a sign":           "+" + text[1:],
	"a zero byte":      text[:35] + "\x00",
	"wide digits":      text[:33] + "１",
	"only hyphens":     strings.Repeat("-", 36),
	"invalid UTF-8":    text[:35] + "\xff",
}

func TestParseRejectsOtherForms(t *testing.T) {
	for name, s := range malformed {
		got, err := uid.Parse(s)
		if !errors.Is(err, uid.ErrSyntax) || !got.IsZero() {
			t.Errorf("%s, %q: got %s, %v, want the zero ID and %v", name, s, got, err, uid.ErrSyntax)
		}
	}
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if p := recover(); p == nil {
			t.Error("MustParse of no UUID: got no panic")
		}
	}()
	uid.MustParse("ines")
}

func TestJSONRoundTrip(t *testing.T) {
	id := uid.MustParse(text)
	written, err := json.Marshal(map[string]uid.ID{"id": id})
	if want := `{"id":"` + text + `"}`; err != nil || string(written) != want {
		t.Errorf("got %s, %v, want %s", written, err, want)
	}
	var read struct{ ID uid.ID }
	if err := json.Unmarshal(written, &read); err != nil || read.ID != id {
		t.Errorf("read again: got %s, %v, want %s", read.ID, err, id)
	}
	for name, s := range malformed {
		body, _ := json.Marshal(map[string]string{"id": s})
		if err := json.Unmarshal(body, &read); err == nil {
			t.Errorf("%s: got %s from %s, want an error", name, read.ID, body)
		}
	}
}

func TestIsZero(t *testing.T) {
	if !(uid.ID{}).IsZero() || !uid.MustParse("00000000-0000-0000-0000-000000000000").IsZero() {
		t.Error("the zero ID: got IsZero false, want true")
	}
	for i := range 16 {
		var id uid.ID
		id[i] = 1
		if id.IsZero() {
			t.Errorf("%s: got IsZero true, want false", id)
		}
	}
}

func TestNewIDsSortByTime(t *testing.T) {
	before := time.Now().Add(-time.Millisecond)
	previous := uid.New()
	for range 100_000 {
		id := uid.New()
		if bytes.Compare(previous[:], id[:]) >= 0 || previous.String() >= id.String() {
			t.Fatalf("got %s after %s, want one that sorts after it", id, previous)
		}
		previous = id
	}
	u := uuid.UUID(previous)
	if u.Version() != 7 || u.Variant() != uuid.RFC4122 {
		t.Errorf("got %s of version %d and %s, want version 7 and %s", u, u.Version(), u.Variant(), uuid.RFC4122)
	}
	seconds, nanos := u.Time().UnixTime()
	if at := time.Unix(seconds, nanos); at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now().Add(time.Minute)) {
		t.Errorf("got the time %s, want about %s", at, before)
	}
}

func TestNewIsUniqueAcrossGoroutines(t *testing.T) {
	const routines, each = 8, 10_000
	made := make([][]uid.ID, routines)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], uid.New())
			}
		})
	}
	all.Wait()
	seen := map[uid.ID]bool{}
	for _, ids := range made {
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("got %s twice", id)
			}
			seen[id] = true
		}
	}
}

func TestScanReadsValue(t *testing.T) {
	var _ sql.Scanner = (*uid.ID)(nil)
	var _ driver.Valuer = uid.ID{}
	id := uid.MustParse(text)
	value, err := id.Value()
	stored, ok := value.([]byte)
	if err != nil || !ok || !bytes.Equal(stored, id[:]) {
		t.Fatalf("Value: got %T %v, %v, want its 16 bytes", value, value, err)
	}
	var got uid.ID
	if err := got.Scan(stored); err != nil || got != id {
		t.Errorf("Scan: got %s, %v, want %s", got, err, id)
	}
	clear(stored) // a driver may reuse its buffer
	if got != id || id.String() != text {
		t.Errorf("after the buffer changed: got %s and %s, want %s", got, id, text)
	}
}

func TestScanRejectsOtherValues(t *testing.T) {
	id := uid.MustParse(text)
	for name, src := range map[string]any{
		"nothing": nil, "a text": text, "the text's bytes": []byte(text), "15 bytes": make([]byte, 15), "17 bytes": make([]byte, 17),
		"no bytes": []byte{}, "a number": int64(7),
	} {
		got := id
		if err := got.Scan(src); err == nil || got != id {
			t.Errorf("%s: got %s, %v, want an error and no change", name, got, err)
		}
	}
}

// FuzzParse compares Parse with google/uuid, which also accepts other forms than the one
// of 36 characters.
func FuzzParse(f *testing.F) {
	f.Add(text)
	f.Add(strings.ToUpper(text))
	for _, s := range malformed {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := uid.Parse(s)
		want, wantErr := uuid.Parse(s)
		if len(s) != 36 {
			wantErr = uid.ErrSyntax
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", s, err, wantErr)
		}
		if err != nil {
			return
		}
		if got != uid.ID(want) || got.String() != want.String() || got.String() != strings.ToLower(s) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	})
}
