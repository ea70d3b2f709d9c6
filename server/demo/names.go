package demo

import "strings"

// culture is a set of first and last names, with the language that people of these
// names chat in. In channels of another language they chat in English.
type culture struct {
	lang        string // empty if no channel uses it
	first, last []string
}

var cultures = []culture{
	{ // Portuguese and Brazilian
		lang:  "pt",
		first: []string{"Beatriz", "João", "Mariana", "Tiago", "Lívia", "Rafael", "Conceição", "Caio", "Inês", "Nuno"},
		last:  []string{"Almeida", "Teixeira", "Magalhães", "Nogueira", "da Silva", "Figueiredo", "Brandão", "Pacheco", "Lemos", "Araújo"},
	},
	{ // Polish
		first: []string{"Zofia", "Paweł", "Agnieszka", "Michał", "Łucja", "Krzysztof", "Hanna", "Bartosz", "Maja", "Jędrzej"},
		last:  []string{"Nowak", "Zając", "Mazur", "Wójcik", "Sikora", "Dudek", "Pawlak", "Gołąb", "Kaczmarek", "Wrona"},
	},
	{ // Nordic
		first: []string{"Freja", "Søren", "Astrid", "Håkon", "Linnéa", "Björn", "Sanna", "Eirik", "Aino", "Oskar"},
		last:  []string{"Bergström", "Nygård", "Lindholm", "Østergaard", "Virtanen", "Sjöberg", "Dahl", "Koskinen", "Holm", "Ångman"},
	},
	{ // Spanish and Latin American
		lang:  "es",
		first: []string{"Lucía", "Andrés", "Ximena", "Joaquín", "Núria", "Mateo", "Valentina", "Íñigo", "Paloma", "Ramón"},
		last:  []string{"Peña", "Ibáñez", "Quispe", "Cordero", "Muñoz", "Salazar", "Echeverría", "Vidal", "Montoya", "Rosales"},
	},
	{ // German and Austrian
		lang:  "de",
		first: []string{"Jürgen", "Annika", "Moritz", "Sieglinde", "Lukas", "Käthe", "Florian", "Johanna", "Götz", "Miriam"},
		last:  []string{"Weiß", "Hofbauer", "Schröder", "Lindner", "Kühn", "Brandt", "Pichler", "Großmann", "Vogel", "Achleitner"},
	},
	{ // French and Belgian
		lang:  "fr",
		first: []string{"Chloé", "Mathis", "Aurélie", "Gaëtan", "Solène", "Benoît", "Noémie", "Loïc", "Manon", "François"},
		last:  []string{"Lefèvre", "Dubois", "Garnier", "Fontaine", "Peeters", "Rousseau", "Bénard", "Mercier", "Delcourt", "Gauthier"},
	},
	{ // Japanese
		lang:  "ja",
		first: []string{"Haruto", "Sakura", "Kenji", "Aoi", "Ren", "Misaki", "Takumi", "Yui", "Sōta", "Emi"},
		last:  []string{"Tanaka", "Fujimoto", "Ōno", "Kobayashi", "Nakajima", "Hayashi", "Ishikawa", "Matsuda", "Endō", "Shimizu"},
	},
	{ // Korean
		lang:  "ko",
		first: []string{"Ji-ho", "Min-seo", "Hyun-woo", "Da-eun", "Joon-young", "Ha-rin", "Tae-yang", "Soo-ah", "Do-yun", "Ye-jin"},
		last:  []string{"Kim", "Park", "Choi", "Jung", "Yoon", "Lim", "Seo", "Kwon", "Bae", "Moon"},
	},
	{ // Nigerian and Ghanaian
		first: []string{"Chidi", "Folake", "Kwame", "Ngozi", "Tunde", "Adaeze", "Kofi", "Yewande", "Emeka", "Abena"},
		last:  []string{"Adeyemi", "Mensah", "Eze", "Boateng", "Balogun", "Nwosu", "Owusu", "Obi", "Asante", "Afolabi"},
	},
	{ // Indian
		first: []string{"Ananya", "Rohan", "Priya", "Arjun", "Meera", "Vikram", "Divya", "Siddharth", "Kavya", "Farhan"},
		last:  []string{"Iyer", "Deshpande", "Banerjee", "Nair", "Chopra", "Reddy", "Kulkarni", "Qureshi", "Menon", "Bhatt"},
	},
	{ // British and Irish
		first: []string{"Imogen", "Callum", "Niamh", "Alfie", "Rhiannon", "Owen", "Siobhán", "Fraser", "Harriet", "Dylan"},
		last:  []string{"O'Connell", "Whitaker", "Pritchard", "Ashworth", "Byrne", "MacLeod", "Hartley", "Gallagher", "Penrose", "Llewellyn"},
	},
	{ // Turkish
		first: []string{"Elif", "Çağrı", "Zeynep", "Emre", "Gülşen", "Barış", "Defne", "Ömer", "İpek", "Kaan"},
		last:  []string{"Yılmaz", "Şahin", "Öztürk", "Doğan", "Aydın", "Koç", "Çelik", "Güneş", "Arslan", "Polat"},
	},
	{ // Vietnamese
		first: []string{"Minh", "Lan", "Đức", "Thảo", "Quang", "Hương", "Tuấn", "Mai", "Khánh", "Ngọc"},
		last:  []string{"Nguyễn", "Trần", "Phạm", "Lê", "Hoàng", "Vũ", "Đặng", "Bùi", "Đỗ", "Hồ"},
	},
	{ // Levantine and North African
		first: []string{"Layla", "Omar", "Yasmine", "Karim", "Nour", "Samir", "Rania", "Idriss", "Salma", "Tariq"},
		last:  []string{"Haddad", "Benali", "Khoury", "Mansour", "El Amrani", "Nassar", "Saleh", "Hamdi", "Farouk", "Aziz"},
	},
	{ // Italian
		lang:  "it",
		first: []string{"Giulia", "Niccolò", "Chiara", "Davide", "Ginevra", "Alessio", "Benedetta", "Matteo", "Noemi", "Lorenzo"},
		last:  []string{"Ricci", "De Luca", "Colombo", "Marchetti", "Bellini", "Greco", "Lombardi", "Fabbri", "Sartori", "Conti"},
	},
	{ // Māori and Pacific
		first: []string{"Aroha", "Tāne", "Mere", "Wiremu", "Leilani", "Sione", "Hana", "Manaia", "Losa", "Rāwiri"},
		last:  []string{"Ngata", "Henare", "Parata", "Fonoti", "Kahananui", "Taumoepeau", "Rangihuna", "Leota", "Paewai", "Tamatea"},
	},
}

// The halves of names such as PixelOtter.
var (
	gamerFirst = []string{
		"Pixel", "Quiet", "Turbo", "Mossy", "Lunar", "Static", "Salty", "Neon", "Sleepy", "Rusty",
		"Cosmic", "Velvet", "Frosty", "Paper", "Hollow", "Copper", "Lucky", "Minty", "Ghost", "Sunny",
		"Crispy", "Nimble", "Stormy", "Wandering",
	}
	gamerLast = []string{
		"Otter", "Comet", "Badger", "Kettle", "Falcon", "Noodle", "Wizard", "Biscuit", "Raven", "Turnip",
		"Goblin", "Lantern", "Marmot", "Pirate", "Waffle", "Golem", "Heron", "Dumpling", "Knight", "Pickle",
		"Fox", "Toaster", "Mango", "Moth",
	}
)

// plainLetters replaces the letters of the names above with ASCII letters, for
// usernames.
var plainLetters = strings.NewReplacer(
	" ", "", "'", "",
	"á", "a", "à", "a", "ã", "a", "ā", "a", "å", "a", "ä", "a", "ą", "a", "ả", "a", "ạ", "a", "ầ", "a", "ấ", "a", "ặ", "a",
	"ç", "c", "đ", "d",
	"é", "e", "è", "e", "ë", "e", "ê", "e", "ę", "e", "ễ", "e",
	"ğ", "g",
	"í", "i", "ì", "i", "ï", "i", "î", "i", "ı", "i",
	"ł", "l", "ñ", "n",
	"ó", "o", "ò", "o", "õ", "o", "ō", "o", "ö", "o", "ø", "o", "ồ", "o", "ỗ", "o", "ọ", "o",
	"ş", "s", "ß", "ss",
	"ú", "u", "ū", "u", "ü", "u", "ũ", "u", "ù", "u", "ư", "u", "ơ", "o",
	"Å", "A", "Ç", "C", "Đ", "D", "Í", "I", "İ", "I", "Ł", "L", "Ö", "O", "Ø", "O", "Ō", "O", "Ş", "S",
)
