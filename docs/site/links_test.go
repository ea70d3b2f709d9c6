package site_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/docs/openapi"
	"github.com/moderato-live/moderato/docs/site"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/downloads"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/test/doctest"
)

const repository = "https://github.com/moderato-live/moderato/blob/main/"

var (
	hrefPattern = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	idPattern   = regexp.MustCompile(` id="([^"]+)"`)
)

// crawl requests every page that the site links to, from its first page on, and returns
// their ids and links.
func crawl(t *testing.T) (ids map[string]map[string]bool, links map[string][]string) {
	t.Helper()
	ids, links = map[string]map[string]bool{}, map[string][]string{}
	for waiting := []string{"/docs/"}; len(waiting) > 0; waiting = waiting[1:] {
		at := waiting[0]
		if ids[at] != nil {
			continue
		}
		r := get(t, at, nil)
		ids[at] = map[string]bool{}
		if r.status != http.StatusOK {
			t.Errorf("%s: got %d", at, r.status)
		}
		if !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, id := range idPattern.FindAllStringSubmatch(r.body, -1) {
			if ids[at][id[1]] {
				t.Errorf("%s has two elements with the id %s", at, id[1])
			}
			ids[at][id[1]] = true
		}
		for _, href := range hrefPattern.FindAllStringSubmatch(r.body, -1) {
			links[at] = append(links[at], href[1])
			if to, _, _ := strings.Cut(href[1], "#"); isServed(to) {
				waiting = append(waiting, to)
			}
		}
	}
	return ids, links
}

// isServed reports whether a path is one of the site.
func isServed(path string) bool { return strings.HasPrefix(path, "/docs/") || path == "/llms.txt" }

func TestLinksOfTheSiteLeadSomewhere(t *testing.T) {
	t.Parallel()
	ids, links := crawl(t)
	if len(links) < 15 {
		t.Fatalf("found %d pages", len(links))
	}
	for page, all := range links {
		for _, link := range all {
			to, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			file, isInRepository := strings.CutPrefix(link, repository)
			switch {
			case isInRepository:
				wantFile(t, page, file)
			case to.Host != "", to.Path == "/openapi.json", to.Path == "/openapi.yaml":
			case strings.HasPrefix(to.Path, downloads.Path):
				if !slices.Contains(downloads.Names(), path.Base(to.Path)) {
					t.Errorf("%s links to %s, which is not served", page, link)
				}
			case to.Path == "":
				wantAnchor(t, page, page, to.Fragment, ids)
			case !isServed(to.Path):
				t.Errorf("%s links to %s, which is not served", page, link)
			default:
				wantAnchor(t, page, to.Path, to.Fragment, ids)
			}
		}
	}
	for number := range moderatov1.Reason_name {
		if reason := moderatov1.Reason(number); reason != moderatov1.Reason_REASON_UNSPECIFIED {
			to, anchor, _ := strings.Cut(apierr.HelpPath(reason), "#")
			wantAnchor(t, "an error", to, anchor, ids)
		}
	}
}

func wantAnchor(t *testing.T, page, to, anchor string, ids map[string]map[string]bool) {
	t.Helper()
	if anchor != "" && !ids[to][anchor] {
		t.Errorf("%s links to %s#%s, which does not exist", page, to, anchor)
	}
}

// wantFile checks that a file, or a directory, of the project exists.
func wantFile(t *testing.T, page, file string) {
	t.Helper()
	file, _, _ = strings.Cut(file, "#")
	if _, err := os.Stat(filepath.Join(doctest.Root(t), file)); err != nil {
		t.Errorf("%s links to a file that does not exist: %v", page, err)
	}
}

// linkPattern and headingPattern find the links and the headings of a Markdown file, and
// mentionPattern what comments of the code say about a section of a page.
var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ (.+)$`)
	mentionPattern = regexp.MustCompile(`docs/([a-z-]+)\.md(?:#([\w.-]+))?`)
)

func TestLinksOfMarkdownFilesLeadSomewhere(t *testing.T) {
	t.Parallel()
	ids, _ := crawl(t)
	root := doctest.Root(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	readmes, err := filepath.Glob(filepath.Join(root, "clients", "*", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, readmes...)
	for _, file := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "SECURITY.md")) {
		name, _ := filepath.Rel(root, file)
		for _, link := range linkPattern.FindAllStringSubmatch(doctest.Read(t, name), -1) {
			to, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "/") {
				continue
			}
			found := path.Join(path.Dir(name), to)
			if to == "" {
				found = name
			}
			wantFile(t, name, found)
			if page, isPage := strings.CutPrefix(found, "docs/"); isPage && path.Ext(page) == ".md" {
				wantAnchor(t, name, pagePath(page), anchor, ids)
			} else if path.Ext(found) == ".md" {
				wantAnchor(t, name, found, anchor, map[string]map[string]bool{found: headings(t, found)})
			}
		}
	}
}

// headings returns the anchors of a Markdown file that is no page of the site.
func headings(t *testing.T, file string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, heading := range headingPattern.FindAllStringSubmatch(doctest.Read(t, file), -1) {
		all[site.Slug(heading[1])] = true
	}
	return all
}

// pagePath returns the path of the page of a Markdown file.
func pagePath(file string) string {
	return "/docs/" + strings.TrimSuffix(strings.TrimSuffix(file, ".md"), "index")
}

func TestMentionsOfPagesInCodeAreRight(t *testing.T) {
	t.Parallel()
	ids, _ := crawl(t)
	root := doctest.Root(t)
	for _, dir := range []string{"cmd", "docs", "ent/schema", "gateway", "internal", "proto", "server", "test"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, entry os.DirEntry, err error) error {
			if extension := filepath.Ext(file); err != nil || entry.IsDir() || extension != ".go" && extension != ".proto" {
				return err
			}
			text, err := os.ReadFile(file)
			for _, mention := range mentionPattern.FindAllStringSubmatch(string(text), -1) {
				wantFile(t, file, "docs/"+mention[1]+".md")
				wantAnchor(t, file, pagePath(mention[1]+".md"), mention[2], ids)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestErrorMessagesNameWhatExists checks the pages and operations that the messages of errors
// name.
func TestErrorMessagesNameWhatExists(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(openapi.JSON(), &document); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:(GET|POST|DELETE) )?(/(?:v1|docs)/[a-z0-9/-]+)`)
	count := 0
	for number := range moderatov1.Reason_name {
		text := apierr.New(moderatov1.Reason(number)).Text()
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			count++
			exists := document.Paths[match[2]][strings.ToLower(match[1])] != nil
			if strings.HasPrefix(match[2], site.Root) {
				exists = get(t, match[2], nil).status == http.StatusOK
			}
			if !exists {
				t.Errorf("%q: there is no %s", text, match[0])
			}
		}
	}
	if count < 5 {
		t.Errorf("the messages name %d pages and operations, want more", count)
	}
}

// TestExamplesNeedOnlyAnAddress finds the pages for developers that call the program, which is
// beside the server: each says what to do with an address alone.
func TestExamplesNeedOnlyAnAddress(t *testing.T) {
	t.Parallel()
	var count int
	for _, p := range site.DeveloperPages() {
		source := get(t, "/docs/"+p+".md", nil).body
		if !strings.Contains(source, "$(bin/moderato") {
			continue
		}
		if count++; p != "start" && !strings.Contains(source, "/docs/start.md#sign-in-with-curl") {
			t.Errorf("%s calls bin/moderato and does not link to the way without it", p)
		}
	}
	if count < 4 {
		t.Errorf("found %d pages that call bin/moderato", count)
	}
}
