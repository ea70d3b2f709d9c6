package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// printJSON writes a value as one line of JSON.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// writeFields writes names and values for people.
func writeFields(w io.Writer, fields [][2]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, field := range fields {
		fmt.Fprintf(table, "%s\t%s\n", field[0], field[1])
	}
	return table.Flush()
}
