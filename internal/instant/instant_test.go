package instant_test

import (
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/moderato-live/moderato/internal/instant"
)

func TestString(t *testing.T) {
	east := time.FixedZone("east", 5*60*60+30*60)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Unix(0, 0), "1970-01-01T00:00:00.000Z"},
		{time.Date(2026, 1, 31, 18, 0, 0, 0, time.UTC), "2026-01-31T18:00:00.000Z"},
		{time.Date(2026, 1, 31, 18, 0, 0, 120e6, time.UTC), "2026-01-31T18:00:00.120Z"},
		{time.Date(2026, 1, 31, 18, 0, 0, 999_999_999, time.UTC), "2026-01-31T18:00:00.999Z"},
		{time.Date(2026, 1, 1, 0, 0, 0, 1e6, east), "2025-12-31T18:30:00.001Z"},
		{time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC), "2024-02-29T23:59:59.000Z"},
		{time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), "1969-12-31T23:59:59.999Z"},
		{time.Date(1969, 12, 31, 23, 59, 59, 999_500_000, time.UTC), "1969-12-31T23:59:59.999Z"},
		{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01T00:00:00.000Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), "9999-12-31T23:59:59.999Z"},
	} {
		i := instant.Of(c.at)
		if got := i.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.at, got, c.want)
		}
		if parsed, err := time.Parse(time.RFC3339, i.String()); err != nil || instant.Of(parsed) != i {
			t.Errorf("%s: got %s, %v back, want %s", c.at, parsed, err, i)
		}
	}
}

func TestTimeAndProtoRoundTrip(t *testing.T) {
	for _, i := range []instant.Instant{0, 1, -1, -1001, 1_800_000_000_123, -62_135_596_800_000, 253_402_300_799_999} {
		if got := i.Time(); instant.Of(got) != i || got.Location() != time.UTC || got.Nanosecond()%1e6 != 0 {
			t.Errorf("%d: got the time %s, want the same in UTC", i, got)
		}
		if got := i.Proto(); instant.OfProto(got) != i || got.CheckValid() != nil || !got.AsTime().Equal(i.Time()) {
			t.Errorf("%d: got the timestamp %s, want the same", i, got)
		}
	}
}

func TestInstantTruncatesToMilliseconds(t *testing.T) {
	for _, c := range []struct {
		seconds int64
		nanos   int32
		want    instant.Instant
	}{
		{0, 999_999, 0}, {0, 1_000_000, 1}, {1, 1_999_999, 1001}, {-1, 999_999_999, -1}, {-1, 0, -1000}, {-1, 500_000, -1000},
	} {
		got := instant.OfProto(&timestamppb.Timestamp{Seconds: c.seconds, Nanos: c.nanos})
		if got != c.want || instant.Of(time.Unix(c.seconds, int64(c.nanos))) != c.want {
			t.Errorf("%d s and %d ns: got %d, want %d", c.seconds, c.nanos, got, c.want)
		}
	}
}

func TestAddAndSub(t *testing.T) {
	now := instant.Of(time.Date(2026, 1, 31, 18, 0, 0, 123e6, time.UTC))
	for _, d := range []time.Duration{0, time.Millisecond, -time.Millisecond, 10 * time.Minute, -24 * time.Hour, 100 * 365 * 24 * time.Hour} {
		later := now.Add(d)
		if !later.Time().Equal(now.Time().Add(d)) || later.Sub(now) != d || now.Sub(later) != -d {
			t.Errorf("%s later: got %s, and %s between", d, later, later.Sub(now))
		}
	}
	if got := now.Add(1_999_999 * time.Nanosecond); got != now+1 {
		t.Errorf("1.999999 ms later: got %s, want %s", got, now+1)
	}
	if now >= now.Add(time.Millisecond) || now.Add(-time.Millisecond) >= now {
		t.Error("instants are not ordered like the times they stand for")
	}
}

func FuzzInstant(f *testing.F) {
	for _, seed := range []int64{0, 1, -1, 1_800_000_000_123, math.MaxInt32, 253_402_300_799_999, -62_135_596_800_000} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, milliseconds int64) {
		i := instant.Instant(milliseconds)
		if got := instant.Of(i.Time()); got != i {
			t.Errorf("%d: got %d back", i, got)
		}
		if year := i.Time().Year(); year < 1 || year > 9999 {
			return // no timestamp can represent it
		}
		parsed, err := time.Parse("2006-01-02T15:04:05.000Z", i.String())
		if err != nil || instant.Of(parsed) != i || len(i.String()) != 24 {
			t.Errorf("%d: got %s, which is %s, %v", i, i, parsed, err)
		}
		if got := instant.OfProto(i.Proto()); got != i {
			t.Errorf("%d: got %d back from the timestamp", i, got)
		}
	})
}
