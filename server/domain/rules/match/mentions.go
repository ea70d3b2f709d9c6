package match

import (
	"regexp"

	"github.com/moderato-live/moderato/internal/textmatch"
)

// Mentions is the kind of rules about how many users a message mentions.
const Mentions Kind = "mentions"

func mentions(r *Rule, b *builder) {
	b.number("max", r.Max, 1, 50)
	b.addMatcher(mentioned{r.Max})
}

// mentioned matches texts that mention more users than some number. A user who is mentioned
// again does not count.
type mentioned struct{ most int }

// mention is a name after an @ that no word comes before, as in an address of mail. Usernames may have
// dots and hyphens: at the end, they are taken for those of the sentence.
var mention = regexp.MustCompile(`(?:^|[^\pL\pN_])(@[\pL\pN_]+(?:[.-]+[\pL\pN_]+)*)`)

func (m mentioned) find(t *textmatch.Text) (spans []textmatch.Span, _ bool) {
	text := t.Plain()
	users := map[string]bool{}
	for _, at := range mention.FindAllSubmatchIndex(text, -1) {
		users[string(text[at[2]:at[3]])] = true
		if len(users) > m.most {
			spans = append(spans, t.PlainSpan(at[2], at[3]))
		}
	}
	return spans, len(users) > m.most
}

func (m mentioned) steps() int { return 2 }
func (m mentioned) size() int  { return 16 }
