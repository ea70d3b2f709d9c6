package downloads

import (
	"io/fs"
	"strings"

	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// What the server serves. The packages of the platform and the public ones register
	// their descriptors.
	_ "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	_ "github.com/moderato-live/moderato/gen/moderato/v1"

	"github.com/moderato-live/moderato/proto"
)

// descriptorsName is the name of the set of descriptors, which grpcurl and other tools read.
const descriptorsName = "moderato.binpb"

// protoArchive returns the .proto files, with the set of descriptors.
func protoArchive() ([]byte, error) {
	var files []entry
	err := fs.WalkDir(proto.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".proto") {
			return err
		}
		content, err := fs.ReadFile(proto.Files, name)
		files = append(files, entry{name, content})
		return err
	})
	if err != nil {
		return nil, err
	}
	set, err := descriptors()
	if err != nil {
		return nil, err
	}
	return zipped(append(files, entry{descriptorsName, set}))
}

// descriptors returns the set of descriptors of the contract and of all that it imports, each
// after those that it needs.
func descriptors() ([]byte, error) {
	var set descriptorpb.FileDescriptorSet
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i))
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	err := fs.WalkDir(proto.Files, "moderato", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".proto") {
			return err
		}
		f, err := protoregistry.GlobalFiles.FindFileByPath(name)
		if err == nil {
			add(f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return protobuf.MarshalOptions{Deterministic: true}.Marshal(&set)
}
