package demo

// topics holds the lines that users say in the channels of a category, by its slug.
var topics = map[string][]string{
	"speedrunning": {
		"that skip was so clean", "gold split!!", "what's the world record for this category?", "four seconds ahead going into the ice level",
		"NOOO the jump", "reset early, cry never", "is this any% or all keys?", "the timer only looks at you when you're behind",
		"frame perfect and you make it look easy", "remember to breathe on the boss", "that's a run killer, sorry Ines", "why do you menu so fast haha",
		"the lag frames in this room are brutal", "I learned that trick from your VOD, took me a week", "sum of best is going down tonight",
		"bingo after? I've got my card ready", "pace is unreal right now",
	},
	"chess": {
		"knight to f5 looked tempting", "oh that pawn is a monster", "never trust the Caro-Kann", "is it mate in three or am I dreaming",
		"flagging is a skill", "what a defence", "I'd have resigned ten moves ago", "the bishop pair!", "endgames like this teach so much",
		"can I join the queue? 1450 rapid", "rook lift, rook lift, rook lift", "the London again? be brave", "that fork hurt me personally", "20 seconds left, go go go",
	},
	"pixel-art": {
		"the water already moves somehow", "how big is the canvas?", "love the dithering on the roof", "two shades for the shadow, or one?",
		"the tiny crane!!", "no undo is pure evil", "which program is this?", "those lights reflecting on the quay, wow",
		"please add a cat on the pier", "where can I find the palette?", "I could watch you do clouds for hours", "outline or no outline today?", "the seagull is three pixels and I love it",
	},
	"cooking": {
		"qué pinta tiene ese sofrito", "¿cuánto caldo le echas?", "aquí oliendo la pantalla", "el pimentón se quema enseguida, ojo",
		"mi abuela le ponía una ñora", "¿vale con arroz bomba?", "ese punto está perfecto", "con alcachofas también sale buenísimo",
		"¿y sin marisco cómo lo harías?", "me ha entrado un hambre…", "el socarrat es para otro día", "apuntado para el domingo que viene", "¡no pares de remover!",
	},
	"city-builders": {
		"die Straßenbahn fährt wirklich bis zum See?", "mehr Radwege!", "der Kreisel ist eine Katastrophe 😄", "wie viele Einwohner sind es jetzt?",
		"Parkplätze braucht doch keiner", "die Altstadt sieht traumhaft aus", "das Klärwerk steht flussaufwärts, oder?", "zweite U-Bahn-Linie, jetzt oder nie",
		"Budget ist im Minus, Obacht", "bei mir stehen sie immer am Güterbahnhof im Stau", "Fußgängerzone bis zum Hafen bitte", "Feuerwache nicht vergessen", "so eine Brücke hätte ich gern in echt",
	},
	"live-music": {
		"que voz linda", "toca aquela do começo do ano!", "esse acorde foi de arrepiar", "o gato quer participar",
		"que violão é esse?", "arrepiei aqui", "essa minha mãe cantava em casa", "dá pra ouvir a chuva no fundo, que gostoso",
		"mais um samba, por favor", "esse arranjo é seu?", "anotando pra aprender depois", "a segunda voz no refrão 😍", "bis! bis!",
	},
	"retro-games": {
		"このBGM懐かしい", "隠し部屋あるよ…って言わないほうがいいか", "ドット絵がきれい", "そこは難しいよね",
		"初見でここまで来るのすごい", "ボス前に回復しておこう", "昔クリアできなかったやつだ", "説明書がほしいゲームだね",
		"あと一発だったのに！", "パスワードちゃんとメモした？", "この音、耳に残る", "ジャンプの感覚が独特だよね", "おしい〜〜",
	},
	"ceramics": {
		"c'est hypnotisant", "quelle terre tu utilises ?", "la lèvre du bol est superbe", "oh non il s'affaisse",
		"combien de temps de séchage ?", "cet émail bleu, quelle merveille", "je n'arrive jamais à centrer, moi", "tu le tournes à quelle vitesse ?",
		"une anse ou pas d'anse ?", "le raté est joli quand même", "c'est cuit à combien de degrés ?", "vivement l'ouverture du four", "on dirait que c'est facile 😅",
	},
	"just-chatting": {
		"오늘 회의만 다섯 개였어요…", "저는 방금 퇴근했어요", "저녁은 김치찌개 먹었습니다", "그 카페 저도 가 봤어요",
		"목소리 들으니까 마음이 편해져요", "내일 금요일이다!", "강아지 이야기 더 해 주세요", "저도 요즘 산책 시작했어요",
		"비 오는 날엔 파전이죠", "그 책 제목이 뭐였죠?", "이 노래 제목 알려 주세요", "주말에 뭐 하세요?", "오늘 하루도 고생 많으셨어요",
	},
	"software-and-electronics": {
		"have you got a capacitor across the supply?", "it compiled on the first try, suspicious", "what microcontroller is that?", "the logic analyser never lies",
		"off by one in the step table?", "smells like flux in here", "the tide tables are a rabbit hole", "I'd put that in a state machine",
		"that joint looks cold, hit it again", "is the schematic up anywhere?", "watchdog reset again", "bless whoever labelled those drawers",
		"the motor is singing!", "commit before you touch anything else",
	},
	"cycling": {
		"dai dai dai!", "che pendenza adesso?", "quanti watt stai facendo?", "lo Stelvio in estate è un'altra cosa",
		"io a quel tornante mi sono fermata", "cadenza bella regolare", "ricordati di bere", "che rapporto usi in salita?",
		"domani esco anch'io, pioggia permettendo", "il ventilatore merita una medaglia", "ultimi due chilometri, forza", "ma quanto manca?", "complimenti, io sarei già sul divano",
	},
	"dj-sets": {
		"this bassline", "what's this one called?", "smooth blend", "is that the 12 inch?", "kitchen dancing over here", "dog cam when?",
		"the crackle makes it", "dub siren!!", "this takes me back to the flat on Cuba Street", "more delay, always more delay",
		"found this in an op shop too, best two dollars ever", "ID on that last one please", "turn it up, the neighbours love it really",
	},
}
