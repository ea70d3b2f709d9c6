package demo

// category is a category of channels. Its slug also names its picture.
type category struct {
	id, parent int64 // parent is 0 if there is none
	name, slug string
}

// categories lists parents before their children.
var categories = []category{
	{id: 1, name: "Games", slug: "games"},
	{id: 2, name: "Creative", slug: "creative"},
	{id: 3, name: "Talk", slug: "talk"},
	{id: 4, name: "Music", slug: "music"},
	{id: 5, name: "Sports", slug: "sports"},

	{id: 11, parent: 1, name: "Speedrunning", slug: "speedrunning"},
	{id: 12, parent: 1, name: "Chess", slug: "chess"},
	{id: 13, parent: 1, name: "Retro Games", slug: "retro-games"},
	{id: 14, parent: 1, name: "City Builders", slug: "city-builders"},
	{id: 15, parent: 1, name: "Indie Games", slug: "indie-games"},

	{id: 21, parent: 2, name: "Pixel Art", slug: "pixel-art"},
	{id: 22, parent: 2, name: "Cooking", slug: "cooking"},
	{id: 23, parent: 2, name: "Ceramics", slug: "ceramics"},
	{id: 24, parent: 2, name: "Software & Electronics", slug: "software-and-electronics"},
	{id: 25, parent: 2, name: "Woodworking", slug: "woodworking"},

	{id: 31, parent: 3, name: "Just Chatting", slug: "just-chatting"},
	{id: 32, parent: 3, name: "Travel & Outdoors", slug: "travel-and-outdoors"},

	{id: 41, parent: 4, name: "Live Music", slug: "live-music"},
	{id: 42, parent: 4, name: "DJ Sets", slug: "dj-sets"},

	{id: 51, parent: 5, name: "Cycling", slug: "cycling"},
	{id: 52, parent: 5, name: "Climbing", slug: "climbing"},
}

// categoryIDs returns the ids of the categories by slug.
func categoryIDs() map[string]int64 {
	ids := make(map[string]int64, len(categories))
	for _, c := range categories {
		ids[c.slug] = c.id
	}
	return ids
}
