package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/moderato-live/moderato/server/rpc/authz"
)

// comments holds the comments of the .proto files, which the generated code does not have.
type comments struct {
	files *protoregistry.Files
	// names maps what comments call fields and methods to their names over REST.
	names map[string]string
}

func readComments(image string) (*comments, error) {
	text, err := os.ReadFile(image)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("%s: %w", image, err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", image, err)
	}
	c := &comments{files: files, names: map[string]string{}}
	for method := range authz.Methods() {
		if method.ParentFile().Package() == "moderato.v1" {
			c.names[string(method.Name())] = "`" + operationID(method) + "`"
		}
	}
	for _, file := range contractFiles() {
		for i := range file.Messages().Len() {
			fields := file.Messages().Get(i).Fields()
			for j := range fields.Len() {
				c.names["`"+string(fields.Get(j).Name())+"`"] = "`" + fields.Get(j).JSONName() + "`"
			}
		}
	}
	return c, nil
}

var (
	// citation matches a reference to a section of docs/interface.md.
	citation = regexp.MustCompile(`\s*\((?:docs/interface\.md,\s+)?section(?:[^()"]|"[^"]*")*\)`)
	// ofGRPC matches what holds for gRPC alone, and the status that a comment repeats.
	ofGRPC = regexp.MustCompile(`\s*\([^()]*over gRPC\)|^\d+ \(REST only\)\. |^[A-Z_]+\. `)
	// named matches a name in backticks, or what may be the name of a method.
	named = regexp.MustCompile("`[^`]*`|\\b[A-Z][A-Za-z]+\\b")
)

// of returns the comment of an element as Markdown.
func (c *comments) of(element protoreflect.Descriptor) string {
	found, err := c.files.FindDescriptorByName(element.FullName())
	if err != nil {
		return ""
	}
	text := found.ParentFile().SourceLocations().ByDescriptor(found).LeadingComments
	text = ofGRPC.ReplaceAllString(unwrap(citation.ReplaceAllString(text, "")), "")
	return named.ReplaceAllStringFunc(text, func(name string) string {
		if known := c.names[name]; known != "" {
			return known
		}
		return name
	})
}

// unwrap joins the lines of each paragraph. Indented lines are code.
func unwrap(text string) string {
	var paragraphs []string
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(block, "     ") {
			paragraphs = append(paragraphs, "```\n"+strings.TrimSpace(strings.ReplaceAll(block, "\n     ", "\n"))+"\n```")
			continue
		}
		lines := strings.Split(block, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		paragraphs = append(paragraphs, strings.ReplaceAll(strings.Join(lines, " "), " - ", "\n- "))
	}
	return strings.Join(paragraphs, "\n\n")
}

// operationID returns the name of a method as in JSON, such as banUser.
func operationID(method protoreflect.MethodDescriptor) string {
	name := string(method.Name())
	return strings.ToLower(name[:1]) + name[1:]
}

// words returns the words of a name in camel case, such as "Ban user".
func words(name string) string {
	var text strings.Builder
	for i, r := range name {
		if i > 0 && 'A' <= r && r <= 'Z' {
			text.WriteByte(' ')
			r += 'a' - 'A'
		}
		text.WriteRune(r)
	}
	return text.String()
}
