package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/gateway/static"
)

// reference is every operation of the REST API.
type reference struct {
	Groups []group
	// Prefilled is what the console sends at first.
	Prefilled Credentials
}

// service is the page of a service, with a console.
type service struct {
	*group

	Prefilled Credentials
}

// urlMember finds the address of a receiver in the body of a request.
var urlMember = regexp.MustCompile(`("url": ")[^"]*`)

// Body returns what the console sends at first as the body of a request.
func (s *service) Body(example string) string {
	if s.Prefilled.Receiver == "" {
		return example
	}
	return urlMember.ReplaceAllString(example, "${1}"+s.Prefilled.Receiver)
}

// group is the operations of one tag.
type group struct {
	ID, Label  string
	Operations []operation

	description string
}

// operation is an operation as the reference shows it.
type operation struct {
	ID, Method, Path, Summary string
	Deprecated                bool
	About                     template.HTML
	// Tokens are the accepted kinds of token, and Scopes what they need; nil if the
	// description names them.
	Tokens, Scopes []string
	// Query, with the variables of the path, and Headers are the parameters; Body and Response are fields of objects.
	Query, Headers, Body, Response []field
	Errors                         []failure
	BodyExample, ResponseExample   string
	// HasForm is true if the console can make the call.
	HasForm bool

	description string
}

type field struct {
	Name, Type, Example string
	Required            bool
	About               template.HTML

	description string
	choices     []any
}

// failure is the errors that an operation returns with one status.
type failure struct {
	Status string
	Codes  []string
}

// kinds are the kinds of token, by their security schemes.
var kinds = map[string]string{"userToken": "user", "appToken": "app", "serviceToken": "service", "eventTicket": "ticket"}

// codeItem finds the codes of errors in the description of a response.
var codeItem = regexp.MustCompile("(?m)^- `([A-Z_]+)`")

// readReference reads an OpenAPI document.
func readReference(text []byte) (*reference, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("the OpenAPI document: %w", err)
	}
	r := &reference{}
	for _, tag := range d.Tags {
		r.Groups = append(r.Groups, group{ID: slug(tag.Name), Label: tag.Name, description: tag.Description})
	}
	for _, path := range d.Paths {
		for _, o := range path.Value {
			i := slices.IndexFunc(r.Groups, func(g group) bool { return len(o.Value.Tags) > 0 && g.Label == o.Value.Tags[0] })
			if i < 0 {
				return nil, fmt.Errorf("%s %s has no tag of the document", o.Name, path.Name)
			}
			r.Groups[i].Operations = append(r.Groups[i].Operations, d.operation(path.Name, o.Name, o.Value))
		}
	}
	return r, nil
}

func (d *document) operation(path, method string, o operationObject) operation {
	shown := operation{
		ID: o.ID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, Deprecated: o.Deprecated, description: o.Description,
		HasForm: strings.HasPrefix(path, "/v1/") && path != "/v1/events",
	}
	if !strings.Contains(o.Description, "Tokens: ") {
		shown.Tokens, shown.Scopes = rights(o.Security)
	}
	for _, p := range o.Parameters {
		p = d.parameterOf(p)
		s := d.resolved(p.Schema)
		f := field{Name: p.Name, Type: d.typeOf(s), Example: p.exampleText(), Required: p.Required, description: p.Description, choices: s.Enum}
		if p.In == "header" {
			shown.Headers = append(shown.Headers, f)
		} else {
			shown.Query = append(shown.Query, f)
		}
	}
	if len(o.RequestBody.Content) > 0 {
		body := o.RequestBody.Content[0].Value
		shown.Body, shown.BodyExample = d.fieldsOf(body.Schema, "", 0), indented(body.Example)
	}
	for _, r := range o.Responses {
		shown.answer(d, r.Name, r.Value)
	}
	return shown
}

// rights returns the accepted kinds of token and the scopes that they need.
func rights(security []map[string][]string) (tokens, scopes []string) {
	isOfUsers := true
	for _, allowed := range security {
		for scheme, needed := range allowed {
			isOfUsers = isOfUsers && scheme != "appToken"
			if kind := kinds[scheme]; kind != "" && !slices.Contains(tokens, kind) {
				tokens = append(tokens, kind)
			}
			scopes = append(scopes, needed...)
		}
	}
	if at := slices.Index(tokens, kinds["serviceToken"]); at >= 0 && isOfUsers {
		tokens[at] += " with acting-user"
	}
	slices.Sort(scopes)
	return tokens, slices.Compact(scopes)
}

// answer adds a response. Responses that many operations share are errors of every call,
// and are not repeated.
func (o *operation) answer(d *document, status string, r response) {
	if strings.HasPrefix(status, "2") && len(r.Content) > 0 && o.ResponseExample == "" {
		content := r.Content[0].Value
		o.Response, o.ResponseExample = d.fieldsOf(content.Schema, "", 0), indented(content.Example)
		return
	}
	failed := failure{Status: status}
	for _, code := range codeItem.FindAllStringSubmatch(r.Description, -1) {
		failed.Codes = append(failed.Codes, code[1])
	}
	if r.Ref == "" && len(failed.Codes) > 0 {
		o.Errors = append(o.Errors, failed)
	}
}

// keyHeader is the header of an idempotency key.
const keyHeader = "Idempotency-Key"

// TakesKey reports whether the operation accepts an idempotency key.
func (o operation) TakesKey() bool {
	return slices.ContainsFunc(o.Headers, func(f field) bool { return f.Name == keyHeader })
}

// StatusText returns the status with its name.
func (f failure) StatusText() string {
	var code int
	_, _ = fmt.Sscan(f.Status, &code)
	return f.Status + " " + http.StatusText(code)
}

// indented returns an example as it is shown: indented JSON, or a text as it is sent.
func indented(example json.RawMessage) string {
	var plain string
	if json.Unmarshal(example, &plain) == nil {
		return plain
	}
	var text bytes.Buffer
	if len(example) == 0 || json.Indent(&text, example, "", "  ") != nil {
		return ""
	}
	return text.String()
}

// describe renders the descriptions, which are Markdown of a page.
func (r *reference) describe(m *markdown, file string) error {
	render := func(source string, to *template.HTML) error {
		page, err := m.render(file, []byte(source))
		*to = page.html
		return err
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		for j := range g.Operations {
			o := &g.Operations[j]
			if err := render(o.description, &o.About); err != nil {
				return err
			}
			for _, fields := range [][]field{o.Query, o.Headers, o.Body, o.Response} {
				for k := range fields {
					if err := render(fields[k].text(), &fields[k].About); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// text returns the description of a field with the values that it accepts.
func (f field) text() string {
	if len(f.choices) == 0 {
		return f.description
	}
	values := make([]string, len(f.choices))
	for i, value := range f.choices {
		values[i] = fmt.Sprintf("`%v`", value)
	}
	return strings.TrimSpace(f.description + "\n\nOne of " + strings.Join(values, ", ") + ".")
}

// referenceLabel is what the search calls the pages.
const referenceLabel = "API reference"

// referenceIntroduction begins the list, in both forms.
const referenceIntroduction = "# API reference\n\n" +
	"Every operation of the REST API. The same document is served at [/openapi.json](/openapi.json) and [/openapi.yaml](/openapi.yaml), in OpenAPI 3.1, for generators and tools. " +
	"Beside its own errors, an operation can return those of [every request](errors.md): a missing or wrong token, a limit, and errors of the server.\n"

// page returns the page of a group.
func (g *group) page() page {
	return page{Name: referenceName + "/" + g.ID, Label: g.Label + " API", About: "The operations of the REST API: " + strings.ToLower(g.Label) + "."}
}

// group returns the group that has a page; nil if none has.
func (r *reference) group(p page) *group {
	for i := range r.Groups {
		if r.Groups[i].page().Name == p.Name {
			return &r.Groups[i]
		}
	}
	return nil
}

// withServices returns the navigation with a page for each group, after the list of all.
func withServices(api *reference) []section {
	all := slices.Clone(sections)
	for i := range all {
		if all[i].Pages[0].Name != referenceName {
			continue
		}
		all[i].Pages = slices.Clone(all[i].Pages)
		for j := range api.Groups {
			all[i].Pages = append(all[i].Pages, api.Groups[j].page())
		}
	}
	return all
}

// addReference adds the page that lists all operations.
func (b *builder) addReference(m *markdown, v view, api *reference) error {
	source := api.list("")
	r, err := m.render(v.source(), []byte(source))
	if err != nil {
		return err
	}
	b.addPassages(page{Name: v.Name, Label: referenceLabel}, r.passages[:1])
	v.Title, v.Headings, v.Content = r.title, r.headings, r.html
	b.files[Root+v.Name+".md"] = static.New(markdownType, static.Revalidated, []byte(api.list(".md")))
	return b.addHTML(v.URL(), v)
}

// list returns the list of all operations as Markdown. The suffix ends the paths of pages.
func (r *reference) list(suffix string) string {
	var out strings.Builder
	out.WriteString(referenceIntroduction)
	for i := range r.Groups {
		g := &r.Groups[i]
		fmt.Fprintf(&out, "\n## %s\n\n| operation | what it does |\n|---|---|\n", g.Label)
		for _, o := range g.Operations {
			fmt.Fprintf(&out, "| `%s %s` | [%s](%s%s#%s) |\n", o.Method, o.Path, o.Summary, g.page().URL(), suffix, o.ID)
		}
	}
	return out.String()
}

// addService adds the page of a service, and its Markdown.
func (b *builder) addService(m *markdown, v view, s *service) error {
	title := s.page().Label
	introduction, err := m.render(v.source(), []byte("# "+title+"\n\n"+s.description))
	if err != nil {
		return err
	}
	b.addPassages(page{Name: v.Name, Label: referenceLabel + " › " + s.Label}, introduction.passages[:1])
	for _, o := range s.Operations {
		h := heading{o.ID, o.Summary, 2}
		v.Headings = append(v.Headings, h)
		b.addPassages(page{Name: v.Name, Label: referenceLabel}, []passage{{h, o.Method + " " + o.Path + " " + strings.ReplaceAll(o.description, "`", "")}})
	}
	v.Title, v.Content, v.API = title, introduction.html, s
	b.files[Root+v.Name+".md"] = static.New(markdownType, static.Revalidated, []byte(s.markdown(title)))
	return b.addHTML(v.URL(), v)
}

// markdown returns the page of a service as Markdown.
func (s *service) markdown(title string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n", title, s.description)
	for _, o := range s.Operations {
		fmt.Fprintf(&out, "\n## %s\n\n`%s %s`\n\n%s\n", o.Summary, o.Method, o.Path, o.description)
		writeFields(&out, "Query", o.Query)
		writeFields(&out, "Headers", o.Headers)
		writeFields(&out, "Body", o.Body)
		writeFields(&out, "Response", o.Response)
		for _, example := range []string{o.BodyExample, o.ResponseExample} {
			if example != "" {
				fmt.Fprintf(&out, "\n```%s\n%s\n```\n", languageOf(example), strings.TrimSpace(example))
			}
		}
	}
	return out.String()
}

// languageOf returns how an example is marked in Markdown.
func languageOf(example string) string {
	if json.Valid([]byte(example)) {
		return "json"
	}
	return "text"
}

func writeFields(out *strings.Builder, title string, all []field) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s:\n\n", title)
	for _, f := range all {
		required := ""
		if f.Required {
			required = ", required"
		}
		fmt.Fprintf(out, "- `%s` (%s%s): %s\n", f.Name, f.Type, required, strings.Join(strings.Fields(f.text()), " "))
	}
}
