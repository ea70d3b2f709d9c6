package main

import (
	"fmt"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// comments holds the comments of the .proto files, which the generated Go code does not
// have.
type comments struct{ files *protoregistry.Files }

// readComments reads what `buf build -o path` writes.
func readComments(path string) (comments, error) {
	image, err := os.ReadFile(path)
	if err != nil {
		return comments{}, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(image, &set); err != nil {
		return comments{}, fmt.Errorf("%s: %w", path, err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return comments{}, fmt.Errorf("%s: %w", path, err)
	}
	return comments{files}, nil
}

// paragraphs returns the paragraphs of a descriptor's comment, each in one line.
func (c comments) paragraphs(d protoreflect.Descriptor) []string {
	found, err := c.files.FindDescriptorByName(d.FullName())
	if err != nil {
		return nil
	}
	text := found.ParentFile().SourceLocations().ByDescriptor(found).LeadingComments
	var all []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		all = append(all, strings.Join(strings.Fields(paragraph), " "))
	}
	return all
}

// text returns the comment of a descriptor in one line, for a cell of a table.
func (c comments) text(d protoreflect.Descriptor) string {
	return strings.ReplaceAll(strings.Join(c.paragraphs(d), " "), "|", `\|`)
}
