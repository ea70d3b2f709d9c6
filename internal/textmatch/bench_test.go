package textmatch_test

import (
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/textmatch"
)

const benchmarkMessages = 100_000

var benchmarkTexts = map[string][]string{
	"ascii": {
		"did anyone catch that last play? it was completely unreal lol",
		"GG everyone, see you all tomorrow at the usual time, thanks!!",
		"why does the map look so different from the one in last week",
		"lets gooooo that was the best boss fight of the year, insane!",
	},
	"mixed": {
		"это был лучший момент за весь стрим, всем спасибо и до завтра",
		"c'était génial à voir, à très bientôt et merci à toi l'équipe",
		"今日の配信も最高でした！また明日も楽しみにしています、おやすみなさい。お疲れさまでした本当にありがとう🎉🎉",
		"did anyone catch that last play? it was completely unreal 😂",
	},
	"disguised": {
		"ｄｉｄ ａｎｙｏｎｅ ｃａｔｃｈ ｔｈａｔ ｌａｓｔ ｐｌａｙ？ ｉｔ ｗａｓ ｕｎｒｅａｌ ｌｏｌ ｏｋ ｔｈｅｎ ｇｇ",
		"d̶i̶d̶ a̶n̶y̶o̶n̶e̶ c̶a̶t̶c̶h̶ t̶h̶a̶t̶ p̶l̶a̶y̶",
		"ᴅɪᴅ ᴀɴʏᴏɴᴇ ᴄᴀᴛᴄʜ ᴛʜᴀᴛ ʟᴀsᴛ ᴘʟᴀʏ? ɪᴛ ᴡᴀs ᴄᴏᴍᴘʟᴇᴛᴇʟʏ ᴜɴʀᴇᴀʟ ʟᴏʟ",
		"𝗱𝗶𝗱 𝗮𝗻𝘆𝗼𝗻𝗲 𝗰𝗮𝘁𝗰𝗵 𝘁𝗵𝗮𝘁 𝗹𝗮𝘀𝘁 𝗽𝗹𝗮𝘆? 𝗶𝘁 𝘄𝗮𝘀 𝗰𝗼𝗺𝗽𝗹𝗲𝘁𝗲𝗹𝘆 𝘂𝗻𝗿𝗲𝗮𝗹 𝗼𝗸",
	},
	"long": {strings.Repeat("tell me why it rains 0n my spam parade ", 13)[:500]},
}

var benchmarkMatchers = []struct {
	name  string
	match func() (textmatch.Matcher, error)
}{
	{"phrase", func() (textmatch.Matcher, error) { return textmatch.Phrase("free sub") }},
	{"pattern", func() (textmatch.Matcher, error) { return textmatch.Pattern(`free\s+subs?\b`) }},
	{"alternatives", func() (textmatch.Matcher, error) {
		return textmatch.Pattern(`\b(?:free|cheap|best)\W+(?:subs?|viewers|follow(?:s|ers))\b`)
	}},
	{"slow-pattern", func() (textmatch.Matcher, error) {
		return textmatch.Pattern(`(?:[a-z ]{1,24}[0-9]?){2,4}!x`)
	}},
}

// BenchmarkMatch measures one sweep of 100,000 messages in each round.
func BenchmarkMatch(b *testing.B) {
	for kind, texts := range benchmarkTexts {
		for _, matcher := range benchmarkMatchers {
			b.Run(kind+"/"+matcher.name, func(b *testing.B) {
				m, err := matcher.match()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					for i := range benchmarkMessages {
						if m.Match(texts[i%len(texts)]) {
							b.Fatal("an innocent text matches")
						}
					}
				}
			})
		}
	}
}
