package main

import (
	"fmt"
	"os"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// The examples of the feed, which a test sends to a server in this order: a line of an import
// for each kind of record, and a call of each method with the reason of its error, if the
// example has one.
const (
	recordExamples = "docs/generate/feed.jsonl"
	callExamples   = "docs/generate/calls.txt"
)

// feedPart returns the generated part of docs/feed-reference.md.
func feedPart(c *comments) (string, error) {
	records, err := readExamples(recordExamples, func(line string) (name, example string) {
		name, _, _ = strings.Cut(strings.TrimPrefix(line, `{"`), `"`)
		return name, line
	})
	if err != nil {
		return "", err
	}
	calls, err := readExamples(callExamples, func(line string) (name, example string) {
		called, example, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(called, " ")
		return name, "{" + example
	})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("## Records\n\nA line of an import is one record:\n\n| record | what it is |\n|---|---|\n")
	kinds := (*platformv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	for i := range kinds.Len() {
		fmt.Fprintf(&out, "| [`%s`](#%[1]s) | %s |\n", kinds.Get(i).JSONName(), sentence(c.cell(kinds.Get(i))))
	}
	for i := range kinds.Len() {
		kind := kinds.Get(i)
		if records[kind.JSONName()] == "" {
			return "", fmt.Errorf("%s has no example of %s", recordExamples, kind.JSONName())
		}
		fmt.Fprintf(&out, "\n### `%s`\n\n%s\n\n```json\n%s\n```\n\n", kind.JSONName(), c.of(kind.Message()), records[kind.JSONName()])
		writeFeedFields(&out, c, kind.Message())
	}
	for _, service := range feedServices() {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", service.Name(), c.of(service))
		for i := range service.Methods().Len() {
			m := service.Methods().Get(i)
			name := string(service.Name()) + "." + string(m.Name())
			if calls[name] == "" {
				return "", fmt.Errorf("%s has no example of %s", callExamples, name)
			}
			fmt.Fprintf(&out, "\n### %s\n\n%s\n\n```json\n%s\n```\n\n", m.Name(), c.of(m), calls[name])
			writeFeedFields(&out, c, m.Input())
			if m.Output().Fields().Len() > 0 {
				out.WriteString("The response:\n\n")
				writeFeedFields(&out, c, m.Output())
			}
		}
	}
	return out.String(), nil
}

// feedServices returns the services of the platform's backends, in the order of the contract's
// files.
func feedServices() (all []protoreflect.ServiceDescriptor) {
	for _, file := range contractFiles() {
		for i := range file.Services().Len() {
			if file.Package() == "moderato.platform.v1" {
				all = append(all, file.Services().Get(i))
			}
		}
	}
	return all
}

// readExamples reads a file with an example in each line. The first with a name counts.
func readExamples(path string, split func(line string) (name, example string)) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, example := split(strings.TrimSpace(line)); all[name] == "" {
			all[name] = example
		}
	}
	return all, nil
}

// writeFeedFields writes a table of the fields of a message. A record has a section of its own.
func writeFeedFields(out *strings.Builder, c *comments, m protoreflect.MessageDescriptor) {
	if m.Fields().Len() == 0 {
		return
	}
	out.WriteString("| field | type | meaning |\n|---|---|---|\n")
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", f.JSONName(), feedType(f), c.cell(f))
	}
	out.WriteString("\n")
}

// feedType returns the type of a field in the JSON form of a message.
func feedType(f protoreflect.FieldDescriptor) string {
	name := jsonType(f)
	switch {
	case f.Kind() == protoreflect.EnumKind:
		name = "one of " + enumValues(f.Enum())
	case isObject(f) && strings.HasSuffix(string(f.Message().Name()), "Record"):
		kind := strings.TrimSuffix(string(f.Message().Name()), "Record")
		if kind != "" {
			name = "[record](#" + strings.ToLower(kind) + ")"
		}
	case isObject(f) && f.Message().FullName() == "google.protobuf.Duration":
		name = "duration, such as `3600s`"
	}
	if f.IsList() {
		return "list: " + name
	}
	return name
}

func enumValues(e protoreflect.EnumDescriptor) string {
	var names []string
	for i := 1; i < e.Values().Len(); i++ { // the first is unspecified
		names = append(names, "`"+string(e.Values().Get(i).Name())+"`")
	}
	return strings.Join(names, ", ")
}

// sentence returns the first sentence of a text.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return first
}
