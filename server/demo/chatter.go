package demo

// chatter is English small talk that fits in any channel. {name} stands for a user in
// the chat, {city} for a place and {n} for a small number.
var chatter = []string{
	"hi everyone", "evening all", "hello from {city}!", "hey {name}, long time no see", "just got here, what did I miss?",
	"first time catching this live", "good morning from {city}, it's far too early", "made it before the end for once",
	"back, what happened?", "welcome in {name}", "@{name} hi!! how was the trip?", "hello hello", "notifications actually worked today",
	"sorry I'm late, the bus was a saga", "new here, this looks cosy", "greetings from a very rainy {city}",

	"audio is perfect tonight", "is it only me or did it freeze for a second?", "refreshed and it's fine now", "can you turn the mic up a touch?",
	"love the new overlay", "the camera angle is great", "nice mug", "is that a new chair?", "the lighting is so warm today",
	"any chance of captions? they helped a lot last time", "quality dropped to potato for me, back now", "chat is moving fast today",

	"that was close", "no way", "how did that work", "okay that was beautiful", "I can't look", "called it", "clip that please",
	"somebody clip that", "rewind, I blinked", "I was making toast and I missed it?!", "absolute scenes", "my heart", "so satisfying",
	"you've got this", "never in doubt", "always in doubt", "that's one for the highlights", "the confidence!", "lovely stuff",
	"I believe in you, mostly", "worth the wait", "I need a minute after that", "deep breath", "we do not talk about that one",
	"what a save", "honestly impressive", "ten out of ten",

	"how long have you been doing this?", "what time do you usually start?", "is there a VOD of yesterday?", "what's the plan for today?",
	"have you tried it the other way round?", "where did you learn that?", "what would you tell a beginner?", "do you have a favourite so far?",
	"question for later: what got you started?", "is the schedule still the same next week?", "how many hours are we in?",
	"what's the song?", "does anyone have the link from before?", "@{name} what was the name of the thing you mentioned?", "are the mods taking suggestions?",

	"@{name} same here", "@{name} that's what I thought too", "@{name} haha exactly", "{name} knows", "listen to {name}", "@{name} thanks, that helped",
	"{name} with the good question", "@{name} it's in the panels below", "@{name} agree to disagree :)", "what {name} said", "@{name} happy birthday!! 🎂",
	"@{name} get well soon", "did {name} really just say that", "well said {name}",

	"watching this with my cat", "my cat has opinions about this", "got this on while I fold laundry", "perfect company for marking homework",
	"dinner's ready, back in ten", "brb, tea", "anyone else eating crisps right now?", "I should be asleep", "it's 3 am here and I regret nothing",
	"one more and then bed", "night all, up early tomorrow", "lurking while I work, carry on", "on the train, hope the tunnel is short",
	"tunnel was not short", "my kid says hi", "my exam went well, by the way!", "what a week", "inbox zero, barely",
	"started learning this because of you", "this channel got me through the winter", "best chat on the site, honestly",
	"{n} months here already, time flies", "day {n} of asking for the other camera", "that's {n} in a row", "{n} minutes left on my break",
	"I bet it takes {n} tries", "told my flatmate and now there are two of us", "such a nice crowd tonight", "mods are on it today, thank you",
	"be nice please :)", "let's keep the spoilers out", "take a break if you need one!", "drink some water, everyone", "posture check",
	"thanks for the stream", "this made my day", "same time tomorrow?", "see you all next week", "that's me done, bye all", "goodnight from {city}",
}
