package site

import (
	"html/template"
	"regexp"
	"strings"
)

// jsonHTML returns a text in which each line that is JSON is indented. An example may leave
// things out with an ellipsis, which no parser of JSON accepts. Where a long value may break
// is marked, so that no word is.
func jsonHTML(text string) template.HTML {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
			lines[i] = indentJSON(line)
		}
	}
	escaped := template.HTMLEscapeString(strings.Join(lines, "\n") + "\n")
	return template.HTML(valueEnd.ReplaceAllString(escaped, "$0<wbr>")) //nolint:gosec // it is escaped
}

// valueEnd is where a value in JSON may break.
var valueEnd = regexp.MustCompile(`[/_.?=](?:\b)|&amp;`)

// indentJSON returns a line of JSON with a line for each member and element.
func indentJSON(line string) string {
	var out strings.Builder
	depth, inString := 0, false
	breakLine := func() { out.WriteString("\n" + strings.Repeat("  ", depth)) }
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case inString && c == '\\' && i+1 < len(line):
			out.WriteByte(c)
			i++
			c = line[i]
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			out.WriteByte(c)
			if i+1 < len(line) && (line[i+1] == '}' || line[i+1] == ']') {
				i++
				out.WriteByte(line[i])
				continue
			}
			depth++
			breakLine()
			continue
		case c == '}' || c == ']':
			depth--
			breakLine()
		case c == ',':
			out.WriteByte(c)
			breakLine()
			continue
		case c == ':':
			out.WriteString(": ")
			continue
		case c == ' ':
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
