package demo

// cheers are understood in every channel.
var cheers = []string{
	"GG", "gg!", "👏👏👏", "😂", "hahaha", "wow", "o/", "❤️", "+1", "🔥🔥", "yes!!", "😮", "hype", "lol", "🎉", "👀",
}

// smalltalk holds lines that fit in any channel of a language, by the language
// without its region. The English lines are in chatter.
var smalltalk = map[string][]string{
	"en": chatter,
	"es": {
		"¡buenas a todos!", "hola {name}, qué alegría verte por aquí", "saludos desde {city}", "primera vez en directo, qué buen ambiente",
		"jajaja no puede ser", "se oye perfecto", "ahora vuelvo, voy a por un café", "¿cuánto tiempo llevas hoy?", "qué ganas tenía de pillarte en directo",
		"yo me voy a dormir, que mañana madrugo", "totalmente de acuerdo", "¡vamos!", "qué risa", "@{name} yo pensaba lo mismo",
		"se me ha cortado un momento, ¿qué ha pasado?", "feliz domingo, gente", "llevo {n} meses por aquí y cada día mejor", "os tengo puestos mientras plancho",
	},
	"de": {
		"moin zusammen", "hallo {name}, schön dich zu sehen", "Grüße aus {city}", "bin gerade erst reingekommen, was hab ich verpasst?",
		"haha, sehr gut", "Ton ist top heute", "ich hol mir schnell was zu trinken", "endlich mal live dabei",
		"so, ich muss leider ins Bett", "sehe ich genauso", "das war knapp", "herrlich 😄", "@{name} genau das wollte ich auch schreiben",
		"bei mir hat's kurz geruckelt", "läuft hier nebenbei beim Kochen", "schon {n} Monate dabei, Wahnsinn", "schönen Feierabend allerseits", "danke für den Tipp!",
	},
	"pt": {
		"boa noite, gente!", "oi {name}, que bom te ver aqui", "salve de {city}", "cheguei agora, o que perdi?",
		"kkkkkk", "o som tá ótimo", "já volto, vou pegar um café", "finalmente consegui ver ao vivo", "vou dormir, amanhã acordo cedo",
		"concordo demais", "que delícia de live", "@{name} eu ia falar a mesma coisa", "travou um pouquinho aqui, mas voltou",
		"deixando de fundo enquanto trabalho", "{n} meses por aqui e não canso", "abraço pra todo mundo do chat", "melhor parte do meu dia", "que energia boa",
	},
	"fr": {
		"bonsoir tout le monde", "coucou {name}, ça fait plaisir", "salut depuis {city}", "je débarque, j'ai raté quoi ?",
		"mdr", "le son est nickel", "je reviens, je mets l'eau à chauffer", "première fois en direct, c'est chouette ici", "allez, je file au lit",
		"tellement d'accord", "trop bien", "@{name} j'allais dire pareil", "ça a coupé deux secondes chez moi",
		"je vous écoute en cuisinant", "déjà {n} mois ici, ça passe vite", "bonne soirée à tous", "merci pour l'astuce", "c'était moins une",
	},
	"it": {
		"ciao a tutti!", "ehi {name}, che bello vederti", "saluti da {city}", "arrivo adesso, cosa mi sono perso?",
		"ahahah", "si sente benissimo", "torno subito, metto su la moka", "prima volta in diretta, bella atmosfera", "buonanotte, domani sveglia presto",
		"d'accordissimo", "grande!", "@{name} stavo per scriverlo io", "mi si è bloccato un attimo",
		"vi ascolto mentre cucino", "{n} mesi qui e non mi stanco", "buona serata a tutti", "grazie del consiglio", "che spettacolo",
	},
	"ja": {
		"こんばんは〜", "初見です、よろしくお願いします", "{name}さん、こんばんは！", "今来ました", "wwww", "音量ちょうどいいです",
		"8888888", "すごい！", "お茶取ってきます", "やっとリアタイできた", "そろそろ寝ます、おやすみなさい", "わかる", "かわいい",
		"作業しながら見てます", "もう{n}か月も見てるのか", "一瞬止まったけど戻りました", "今日も配信ありがとう", "みんな優しいチャットだね",
	},
	"ko": {
		"안녕하세요!", "{name}님 반가워요", "오늘 처음 왔어요", "방금 왔는데 무슨 이야기 중이에요?", "ㅋㅋㅋㅋㅋ", "소리 잘 들려요",
		"저 잠깐 물 마시고 올게요", "드디어 생방송으로 보네요", "내일 일찍 일어나야 해서 먼저 갈게요", "완전 공감해요", "너무 좋다",
		"@{name} 저도 그 생각 했어요", "잠깐 끊겼다가 다시 나와요", "설거지하면서 듣고 있어요", "벌써 {n}개월째 보고 있네요", "다들 좋은 밤 되세요", "ㅠㅠ", "오 대박",
	},
}

// cities are the places from which users say that they watch.
var cities = []string{
	"Porto", "Leeds", "Kraków", "Montréal", "Lima", "Nairobi", "Osaka", "Busan", "Wellington", "Graz",
	"Valparaíso", "Tromsø", "Pune", "Accra", "Lyon", "Bologna", "Belém", "Zürich", "Galway", "Hanoi",
}

// spam holds the messages of the raider and of the users who get banned.
var spam = []string{
	"FREE SKINS at skins.example.com FIRST 100 ONLY!!!", "follow me and I follow back, all day every day", "cheap followers -> followers.example.net <- cheap followers",
	"CLICK MY PROFILE CLICK MY PROFILE", "who wants 10000 coins? coins.example.org, no survey", "spam spam spam spam spam spam spam spam",
	"boring stream, mine is better, come over", "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "FREE SKINS FREE SKINS FREE SKINS", "you can't ban me, I have other accounts",
	"win a phone at giveaway.example.com just sign in with your password", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA", "worst chat ever, get better viewers",
}
