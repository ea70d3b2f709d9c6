package jsonapi_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

// allTypes returns the project's message types and the test types.
func allTypes() []protoreflect.MessageType {
	var types []protoreflect.MessageType
	for _, file := range []protoreflect.FileDescriptor{
		moderatov1.File_moderato_v1_common_proto, moderatov1.File_moderato_v1_events_proto,
		moderatov1.File_moderato_v1_moderation_proto, platformv1.File_moderato_platform_v1_chat_proto,
		platformv1.File_moderato_platform_v1_records_proto,
	} {
		for i := range file.Messages().Len() {
			types = append(types, generated(file.Messages().Get(i)))
		}
	}
	return append(types, kindTypes...)
}

// TestRoundTrip writes and reads random messages of every type.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, typ := range allTypes() {
		t.Run(string(typ.Descriptor().FullName()), func(t *testing.T) {
			for range 200 {
				m := typ.New()
				fill(m, random, 3)
				text := jsonapi.Marshal(m.Interface())
				got := typ.New().Interface()
				if err := jsonapi.Unmarshal(text, got, jsonapi.Options{RejectUnknown: true}); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				canonical(m)
				if !proto.Equal(got, m.Interface()) {
					t.Fatalf("%s:\ngot  %v\nwant %v", text, got, m.Interface())
				}
			}
		})
	}
}

// TestRoundTripAtTheDepthLimit covers unset fields that are written as empty objects and
// arrays.
func TestRoundTripAtTheDepthLimit(t *testing.T) {
	nested := func(levels int) []byte {
		return []byte(strings.Repeat(`{"child":`, levels-1) + "{}" + strings.Repeat("}", levels-1))
	}
	m := empty(nodeType)
	if err := jsonapi.Unmarshal(nested(32), m, jsonapi.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := jsonapi.Unmarshal(jsonapi.Marshal(m), m, jsonapi.Options{}); err != nil {
		t.Error(err)
	}
	if err := jsonapi.Unmarshal(nested(33), m, jsonapi.Options{}); err == nil {
		t.Error("33 levels were taken")
	}
}

// TestGeneratedInDynamicMessages uses a message with two descriptors of one name.
func TestGeneratedInDynamicMessages(t *testing.T) {
	file, err := protodesc.NewFile(protodesc.ToFileDescriptorProto(timestamppb.File_google_protobuf_timestamp_proto), nil)
	if err != nil {
		t.Fatal(err)
	}
	stamp := dynamicpb.NewMessage(file.Messages().Get(0))
	stamp.Set(stamp.Descriptor().Fields().ByName("seconds"), protoreflect.ValueOfInt64(1))
	m := set(optType, "at", stamp.ProtoReflect())
	want := `"at":"1970-01-01T00:00:01.000Z"`
	if got := string(jsonapi.Marshal(m)); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

// TestConcurrentUse uses types for the first time in several goroutines.
func TestConcurrentUse(t *testing.T) {
	messages := newKindsFile().Messages()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range messages.Len() {
				m := dynamicpb.NewMessage(messages.Get(i))
				text := jsonapi.Marshal(m)
				if err := jsonapi.Unmarshal(text, m, jsonapi.Options{RejectUnknown: true}); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
	wait.Wait()
}

// canonical reduces m to what JSON preserves: timestamps are truncated to milliseconds,
// and an unset Struct becomes an empty one.
func canonical(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	if m.Descriptor().FullName() == "google.protobuf.Timestamp" {
		nanos := fields.ByName("nanos")
		m.Set(nanos, protoreflect.ValueOfInt32(int32(m.Get(nanos).Int()/1e6*1e6)))
		return
	}
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.IsMap() && f.MapValue().Message() != nil:
			for _, v := range m.Get(f).Map().Range {
				canonical(v.Message())
			}
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for j := range m.Get(f).List().Len() {
				canonical(m.Get(f).List().Get(j).Message())
			}
		case m.Has(f):
			canonical(m.Get(f).Message())
		case f.Message().FullName() == "google.protobuf.Struct" && f.ContainingOneof() == nil:
			m.Mutable(f)
		}
	}
}

// fill sets random fields of m, down to a depth.
func fill(m protoreflect.Message, random *rand.Rand, depth int) {
	fields := m.Descriptor().Fields()
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		m.Set(fields.ByName("seconds"), protoreflect.ValueOfInt64(random.Int64N(253402300799+62135596800)-62135596800))
		m.Set(fields.ByName("nanos"), protoreflect.ValueOfInt32(random.Int32N(1e9)))
		return
	case "google.protobuf.Value":
		f := fields.Get(random.IntN(4)) // one of the scalars, because a value must have a kind
		m.Set(f, scalarAt(f, random))
		return
	}
	for i := range fields.Len() {
		f := fields.Get(i)
		nested := f.Message() != nil
		if random.IntN(3) == 0 || nested && depth == 0 || f.Message() != nil && f.Message().FullName() == "google.protobuf.Value" && !f.IsList() {
			continue
		}
		switch {
		case f.IsMap():
			for range random.IntN(4) {
				key := scalarAt(f.MapKey(), random).MapKey()
				if f.MapValue().Message() != nil {
					fill(m.Mutable(f).Map().Mutable(key).Message(), random, depth-1)
				} else {
					m.Mutable(f).Map().Set(key, scalarAt(f.MapValue(), random))
				}
			}
		case f.IsList():
			for range random.IntN(4) {
				if nested {
					fill(m.Mutable(f).List().AppendMutable().Message(), random, depth-1)
				} else {
					m.Mutable(f).List().Append(scalarAt(f, random))
				}
			}
		case nested:
			fill(m.Mutable(f).Message(), random, depth-1)
		default:
			m.Set(f, scalarAt(f, random))
		}
	}
}

func scalarAt(f protoreflect.FieldDescriptor, random *rand.Rand) protoreflect.Value {
	bits := random.Uint64() >> random.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(bits&1 == 1)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(f.Enum().Values().Get(random.IntN(f.Enum().Values().Len())).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(bits))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(bits))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(bits))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(bits)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(random.NormFloat64()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(random.NormFloat64() * 1e20)
	case protoreflect.BytesKind:
		b := make([]byte, random.IntN(6))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return protoreflect.ValueOfBytes(b)
	default:
		alphabet := []rune("ab\"\\/\n\x00\u007fé\u2028😀")
		runes := make([]rune, random.IntN(6))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		return protoreflect.ValueOfString(string(runes))
	}
}
