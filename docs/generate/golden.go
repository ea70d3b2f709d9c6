package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// golden holds what the tests have seen the server send.
type golden struct {
	// bodies are the bodies of responses, by the name of the operation, such as ban_user.
	bodies map[string]any
	// payloads are payloads of events, by type.
	payloads map[string]object
}

// placeholders are what the golden files have instead of values that differ at every run.
var placeholders = strings.NewReplacer(
	"(an id)", exampleEventID, "(a cursor)", exampleCursor, `"sequence":0`, `"sequence":1042`,
)

// relativeTime matches a time in a golden file of payloads.
var relativeTime = regexp.MustCompile(`now([+-]\d+)s`)

func readGolden(responses, payloads string) (*golden, error) {
	g := &golden{bodies: map[string]any{}, payloads: map[string]object{}}
	files, err := filepath.Glob(filepath.Join(responses, "*.http"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		_, body, _ := bytes.Cut(text, []byte("\n\n"))
		value, err := unmarshal([]byte(placeholders.Replace(string(body))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		g.bodies[strings.TrimSuffix(filepath.Base(file), ".http")] = value
	}
	g.readLog()
	return g, g.readPayloads(payloads)
}

// readLog takes the payloads from the moderation log.
func (g *golden) readLog() {
	rows, _ := get(g.bodies["list_log"], "data", "rows").([]any)
	for _, row := range rows {
		name, _ := get(row, "type").(string)
		g.payloads[name], _ = get(row, "payload").(object)
	}
}

// readPayloads takes the payloads from a file with one type and payload in a line.
func (g *golden) readPayloads(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	now, err := time.Parse(time.RFC3339, "2026-11-20T12:00:00Z")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		name, payload, _ := strings.Cut(line, " ")
		payload = relativeTime.ReplaceAllStringFunc(payload, func(relative string) string {
			seconds, _ := strconv.Atoi(relativeTime.FindStringSubmatch(relative)[1])
			return now.Add(time.Duration(seconds) * time.Second).Format("2006-01-02T15:04:05.000Z")
		})
		value, err := unmarshal([]byte(payload))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", file, name, err)
		}
		g.payloads[name], _ = value.(object)
	}
	return nil
}

// get returns the value at a path of members; nil if there is none.
func get(value any, path ...string) any {
	for _, name := range path {
		o, _ := value.(object)
		value = nil
		for _, m := range o {
			if m.name == name {
				value = m.value
			}
		}
	}
	return value
}
