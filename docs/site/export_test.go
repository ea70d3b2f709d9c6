package site

// JSONHTML is how JSON is shown.
var JSONHTML = jsonHTML

// Slug is how the id of a heading is made.
var Slug = slug

// DeveloperPages returns the names of the pages for those who write a client.
func DeveloperPages() (names []string) {
	for _, p := range pages() {
		if !p.isBackground() {
			names = append(names, p.Name)
		}
	}
	return names
}
