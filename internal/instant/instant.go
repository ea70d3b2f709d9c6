// Package instant holds points in time as they are stored: whole milliseconds since
// 1970 in UTC, which every database orders, compares and rounds in the same way.
package instant

import (
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Instant is a point in time, in milliseconds since the Unix epoch.
type Instant int64

// Of returns the instant of a time, truncated to the millisecond.
func Of(t time.Time) Instant { return Instant(t.UnixMilli()) }

// OfProto returns the instant of a timestamp, truncated to the millisecond.
func OfProto(t *timestamppb.Timestamp) Instant { return Of(t.AsTime()) }

// Add returns the instant plus d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// Sub returns the duration from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Millisecond }

// Time returns the instant as a time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Proto returns the instant as a protobuf timestamp.
func (i Instant) Proto() *timestamppb.Timestamp { return timestamppb.New(i.Time()) }

// String returns the instant in the format of the REST transport: ISO 8601 in UTC with
// three fraction digits.
func (i Instant) String() string { return i.Time().Format("2006-01-02T15:04:05.000Z") }

// Scan reads the form of the instant in the database.
func (i *Instant) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*i = Instant(v)
		return nil
	case []byte: // the driver's type for a statement that was not prepared
		n, err := strconv.ParseInt(string(v), 10, 64)
		*i = Instant(n)
		return err
	}
	return fmt.Errorf("instant: cannot read an instant from %T", src)
}
