package moderation_test

import (
	"maps"
	"slices"

	"github.com/moderato-live/moderato/internal/uid"
)

// chatter is a user, and a model of their ban, mute and messages. It knows nothing about
// generations.
type chatter struct {
	id       uid.ID
	isErased bool
	banned   *deed              // the present ban; nil if there is none
	batch    string             // of the latest ban
	muted    *deed              // the present mute; nil if there is none
	texts    map[string][]*deed // what deleted each message that is visible or can be restored
	ids      map[string]string  // ids of messages by text
}

// deed is a ban or mute, which deletes the messages.
type deed struct {
	by    uid.ID
	batch string
}

// forget models a deletion of all messages that is not undone.
func (c *chatter) forget() { c.texts = map[string][]*deed{} }

// delete models a ban or mute.
func (c *chatter) delete(by uid.ID, batch string) *deed {
	d := &deed{by, batch}
	for text := range c.texts {
		c.texts[text] = append(c.texts[text], d)
	}
	return d
}

// end models the end of a ban or mute that restores no messages.
func (c *chatter) end(d *deed) {
	maps.DeleteFunc(c.texts, func(_ string, by []*deed) bool { return slices.Contains(by, d) })
}

// restore models the end of a ban or mute that restores messages.
func (c *chatter) restore(d *deed) {
	for text, by := range c.texts {
		c.texts[text] = slices.DeleteFunc(by, func(other *deed) bool { return other == d })
	}
}

// visible returns the texts that nothing has deleted, oldest first.
func (c *chatter) visible() []string {
	var texts []string
	for text, by := range c.texts {
		if len(by) == 0 {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts
}
