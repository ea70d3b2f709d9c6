package downloads

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/moderato-live/moderato/clients"
)

// read returns a file of the client libraries, which are part of the program.
func read(name string) string {
	text, err := clients.Files.ReadFile(name)
	if err != nil {
		panic("downloads: " + err.Error()) // not embedded: no program of this kind starts
	}
	return string(text)
}

// npmName returns the name that npm pack gives the package for JavaScript.
func npmName() string {
	var about struct{ Name, Version string }
	if err := json.Unmarshal([]byte(read("typescript/package.json")), &about); err != nil {
		panic("downloads: package.json: " + err.Error())
	}
	return strings.NewReplacer("@", "", "/", "-").Replace(about.Name) + "-" + about.Version + ".tgz"
}

// npmPackage returns the package for JavaScript, as npm installs it.
func npmPackage() ([]byte, error) {
	files, err := entries(clients.Files, "typescript", "package", "package.json", "README.md", "LICENSE", "dist/*")
	if err != nil {
		return nil, err
	}
	return tarred(files)
}

var setting = regexp.MustCompile(`(?m)^([a-z-]+) = "(.*)"$`)

// project returns the settings of pyproject.toml that are texts.
func project() map[string]string {
	all := map[string]string{}
	for _, found := range setting.FindAllStringSubmatch(read("python/pyproject.toml"), -1) {
		all[found[1]] = found[2]
	}
	return all
}

func wheelName() string { return project()["name"] + "-" + project()["version"] + "-py3-none-any.whl" }

// wheel returns the package for Python, in the format of PEP 427.
func wheel() ([]byte, error) {
	about := project()
	files, err := entries(clients.Files, "python", "", "moderato/*")
	if err != nil {
		return nil, err
	}
	info := about["name"] + "-" + about["version"] + ".dist-info/"
	files = append(files,
		entry{info + "METADATA", fmt.Appendf(nil, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\n"+
			"Classifier: Typing :: Typed\nRequires-Python: %s\nDescription-Content-Type: text/markdown\n\n%s",
			about["name"], about["version"], about["description"], about["requires-python"], read("python/README.md"))},
		entry{info + "LICENSE", []byte(read("python/LICENSE"))},
		entry{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: moderato\nRoot-Is-Purelib: true\nTag: py3-none-any\n")},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, entry{info + "RECORD", []byte(record.String())}))
}
