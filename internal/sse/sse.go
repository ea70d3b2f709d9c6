// Package sse writes Server-Sent Events.
package sse

// Append appends an event with data of one line. The cursor becomes its id; an event without
// a cursor has none.
func Append(b []byte, cursor string, data []byte) []byte { return AppendNamed(b, cursor, "", data) }

// AppendNamed is Append for an event with a name; an event without a name is a "message".
func AppendNamed(b []byte, cursor, name string, data []byte) []byte {
	if cursor != "" {
		b = append(append(append(b, "id: "...), cursor...), '\n')
	}
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}
