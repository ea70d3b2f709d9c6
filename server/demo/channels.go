package demo

import "strings"

// channel is a channel with the lines that its owner says in chat. The lines of other
// users are in topics, by the channel's category.
type channel struct {
	owner            Person
	title, bio, lang string
	category         string // the slug
	host             []string
}

// base returns the channel's language without its region.
func (c channel) base() string {
	lang, _, _ := strings.Cut(c.lang, "-")
	return lang
}

// channels are the channels of the first users, in the order of the users. The first
// channel belongs to the cast's owner.
var channels = []channel{
	{
		owner:    Person{Username: "inescarvalho", DisplayName: "Ines Carvalho"},
		title:    "Any% attempts until the sun comes up, then bingo with chat",
		bio:      "Speedrunner from Porto. Platformers mostly, and whatever lost the last vote. Runs on weekdays from 19:00 UTC, races on Saturdays. Be kind, backseat only when asked.",
		lang:     "en",
		category: "speedrunning",
		host: []string{
			"back in two, putting the kettle on", "thanks for having me on in the background, all of you",
			"that one's on me, I got greedy", "okay chat, one more attempt. ONE.", "mods, you're doing a lovely job tonight",
			"pb pace is not a personality, I keep telling myself",
		},
	},
	{
		owner:    Person{Username: "PriyaPlaysE4", DisplayName: "Priya Raghunathan"},
		title:    "Rapid games with viewers, on the road to 2000",
		bio:      "Club player, part-time coach. I explain what I think while I play, which is why I lose on time. Challenges open every Tuesday and Thursday.",
		lang:     "en-GB",
		category: "chess",
		host: []string{
			"next challenger please, the queue is open", "please no engine moves in chat while the game is on",
			"I saw it the moment I let go of the piece", "we'll go over that one afterwards, promise",
		},
	},
	{
		owner:    Person{Username: "zoe.lindqvist", DisplayName: "Zoë Lindqvist"},
		title:    "Drawing a tiny harbour, 32 colours, no undo",
		bio:      "Pixel artist in Göteborg. I make tilesets for small games and take requests on Fridays. The palette of the day is under the stream.",
		lang:     "en",
		category: "pixel-art",
		host: []string{
			"I'll post the palette at the end", "requests on Friday, hold on to that idea",
			"stretching my hands, you do it too", "no undo means no undo. send help.",
		},
	},
	{
		owner:    Person{Username: "jose_niguez", DisplayName: "José Ñíguez"},
		title:    "Arroz caldoso de domingo y charla tranquila",
		bio:      "Cocinero en Alicante los días de diario, aquí los fines de semana. Recetas de casa, sin prisas y con lo que haya en la nevera.",
		lang:     "es",
		category: "cooking",
		host: []string{
			"os dejo la receta al terminar", "bajo el fuego y leo el chat", "gracias por pasaros un domingo más", "la cebolla, sin prisa, siempre sin prisa",
		},
	},
	{
		owner:    Person{Username: "LukasBaut", DisplayName: "Lukas Brandl"},
		title:    "Eine Stadt ganz ohne Autos – klappt das diesmal?",
		bio:      "Städtebauer aus Leidenschaft, Verkehrsplaner von Beruf. Dienstags und donnerstags ab 20 Uhr. Fragen sind immer willkommen.",
		lang:     "de",
		category: "city-builders",
		host: []string{
			"bin gleich wieder da, hole nur Tee", "ich lese gleich alles nach, Moment", "gut, die Brücke reißen wir nochmal ab", "danke fürs Zuschauen, ihr Lieben",
		},
	},
	{
		owner:    Person{Username: "camilarocha", DisplayName: "Camila Rocha"},
		title:    "Violão e café: pedidos da galera na segunda hora",
		bio:      "Toco MPB, samba e o que vocês pedirem. Moro em Recife, com dois gatos que às vezes cantam junto.",
		lang:     "pt-BR",
		category: "live-music",
		host: []string{
			"já já abro os pedidos", "só afinando aqui, um segundinho", "obrigada por estarem aqui, gente", "o gato derrubou o microfone de novo",
		},
	},
	{
		owner:    Person{Username: "haruka_mizuno", DisplayName: "水野はるか"},
		title:    "レトロゲームをのんびり初見プレイ",
		bio:      "週末の夜に古いゲームをゆっくり遊んでいます。ネタバレはなしでお願いします。初見さん大歓迎！",
		lang:     "ja",
		category: "retro-games",
		host: []string{
			"ちょっと飲み物を取ってきます", "来てくれてありがとう！", "ネタバレはなしでお願いします〜", "もう一回だけやらせてください",
		},
	},
	{
		owner:    Person{Username: "elodie-tourne", DisplayName: "Élodie Marchand"},
		title:    "On tourne des bols, et on rate des bols",
		bio:      "Céramiste à Nantes. Tournage, émaillage, et ouverture du four le premier dimanche du mois. On papote, on pose des questions, on se détend.",
		lang:     "fr",
		category: "ceramics",
		host: []string{
			"je me rince les mains et je réponds", "merci d'être là ce soir", "celui-là, on ne va pas le garder", "le four s'ouvre dimanche !",
		},
	},
	{
		owner:    Person{Username: "seoyeon_han", DisplayName: "한서연"},
		title:    "퇴근 후 수다방 | 오늘 하루 어땠어요?",
		bio:      "평일 밤 아홉 시, 하루 이야기를 나누는 방송입니다. 처음 오신 분들도 편하게 인사해 주세요.",
		lang:     "ko",
		category: "just-chatting",
		host: []string{
			"와 주셔서 고마워요", "물 좀 마시고 올게요", "다들 저녁은 드셨어요?", "그 이야기 더 해 주세요",
		},
	},
	{
		owner:    Person{Username: "amakanwankwo", DisplayName: "Amaka Nwankwo"},
		title:    "Building a tide clock from scratch: today, the motor driver",
		bio:      "Embedded engineer in Lagos. I write firmware in the open and solder in a hurry. Everything ends up on the bench eventually.",
		lang:     "en",
		category: "software-and-electronics",
		host: []string{
			"found it. it was the ground wire. it is always the ground wire", "tests first, then we let it spin",
			"reading chat while this compiles", "please nobody tell me about the typo",
		},
	},
	{
		owner:    Person{Username: "giulia.in.salita", DisplayName: "Giulia Ferraro"},
		title:    "Rulli, caffè e le grandi salite: oggi lo Stelvio",
		bio:      "Ciclista della domenica tutti i giorni della settimana. Allenamenti sui rulli, percorsi e chiacchiere da Bergamo.",
		lang:     "it",
		category: "cycling",
		host: []string{
			"scusate il fiatone, leggo appena spiana", "grazie a tutti di essere qui", "ancora due tornanti, giuro", "pausa borraccia",
		},
	},
	{
		owner:    Person{Username: "RawiriSpins", DisplayName: "Rāwiri Te Hau"},
		title:    "Slow disco and dub from the garage, requests welcome",
		bio:      "Records from op shops all over Aotearoa. Two turntables, one dog, no plan. Mixes go up the day after.",
		lang:     "en-NZ",
		category: "dj-sets",
		host: []string{
			"track list goes up tomorrow", "the dog says hi", "flipping the record, talk amongst yourselves", "cheers for hanging out, team",
		},
	},
}
