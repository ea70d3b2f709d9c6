package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// bom is a software bill of materials in the format CycloneDX 1.6. It lists the modules
// that are linked into a binary, as the linker recorded them, and the standard library. It
// has no time, so that it is reproducible, and no graph of dependencies, which a binary
// does not record.
type bom struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// newBOM returns the bill of materials of a binary.
func newBOM(file string) (*bom, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum, err := digest(file)
	if err != nil {
		return nil, err
	}
	return describe(info, sum), nil
}

// describe returns the bill of materials of a binary with a digest.
func describe(info *buildinfo.BuildInfo, digest string) *bom {
	main := componentOf("application", &info.Main)
	main.Hashes = []hash{{"SHA-256", digest}}
	var apache license
	apache.License.ID = "Apache-2.0"
	main.Licenses = []license{apache}
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "vcs.revision", "vcs.time"}, s.Key) {
			main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	std := component{Type: "library", Name: "std", Version: version, PURL: "pkg:golang/std@" + version}
	std.Ref = std.PURL
	b := &bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, SerialNumber: serialOf(digest),
		Metadata: metadata{main}, Components: []component{std},
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		b.Components = append(b.Components, componentOf("library", module))
	}
	return b
}

// componentOf describes a module. Its go.sum is not a hash of any file, so it is a property.
func componentOf(kind string, module *debug.Module) component {
	c := component{Type: kind, Name: module.Path, Version: module.Version, PURL: "pkg:golang/" + module.Path + "@" + strings.ReplaceAll(module.Version, "+", "%2B")}
	c.Ref = c.PURL
	if module.Sum != "" {
		c.Properties = []property{{"go:sum", module.Sum}}
	}
	return c
}

// serialOf derives the serial number, which is a UUID, from the digest of the binary.
func serialOf(digest string) string {
	sum := sha256.Sum256([]byte("moderato SBOM " + digest))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: of the application's own making
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// write writes the bill of materials to a file.
func (b *bom) write(file string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
