// Package instant holds points in time as the stores keep them: whole
// milliseconds since 1970 in UTC, which every store orders, compares and rounds
// alike.
package instant

import (
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Instant is milliseconds since the Unix epoch.
type Instant int64

// Of is the instant of a time, cut to the millisecond.
func Of(t time.Time) Instant { return Instant(t.UnixMilli()) }

// OfProto is the instant of a timestamp, cut to the millisecond.
func OfProto(t *timestamppb.Timestamp) Instant { return Of(t.AsTime()) }

// Add is the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Millisecond }

// Time is the instant in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Proto is the instant as a message.
func (i Instant) Proto() *timestamppb.Timestamp { return timestamppb.New(i.Time()) }

// String is the instant as the REST facade writes it: ISO 8601 in UTC with
// three fraction digits.
func (i Instant) String() string { return i.Time().Format("2006-01-02T15:04:05.000Z") }

// Scan reads the instant's form in the database.
func (i *Instant) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*i = Instant(v)
		return nil
	case []byte: // of statements that were not prepared
		n, err := strconv.ParseInt(string(v), 10, 64)
		*i = Instant(n)
		return err
	}
	return fmt.Errorf("instant: cannot read an instant from %T", src)
}
