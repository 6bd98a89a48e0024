/** What the sandbox says where a script says too little for a film, by language. */
type SmallPhrases = {
  /** Of a script of one word. */
  fromWord: (word: string) => string;
  /** Of a script without any word. */
  fromTitle: (title: string) => string;
  wordless: string;
  question: string;
  reply: string;
};

const english: SmallPhrases = {
  fromWord: (word) => `This story begins with a single word: ${word}.`,
  fromTitle: (title) => `This is the story of “${title}”.`,
  wordless: "This is a story without words.",
  question: "Do you see it too?",
  reply: "Yes. I would not have missed it.",
};

const phrasesByLanguage: Readonly<Record<string, SmallPhrases>> = {
  en: english,
  de: {
    fromWord: (word) => `Diese Geschichte beginnt mit einem einzigen Wort: ${word}.`,
    fromTitle: (title) => `Das ist die Geschichte von „${title}“.`,
    wordless: "Das ist eine Geschichte ohne Worte.",
    question: "Siehst du es auch?",
    reply: "Ja. Das wollte ich nicht verpassen.",
  },
  fr: {
    fromWord: (word) => `Cette histoire commence par un seul mot : ${word}.`,
    fromTitle: (title) => `Voici l’histoire de « ${title} ».`,
    wordless: "Voici une histoire sans paroles.",
    question: "Tu le vois aussi ?",
    reply: "Oui. Je ne voulais pas manquer ça.",
  },
  es: {
    fromWord: (word) => `Esta historia empieza con una sola palabra: ${word}.`,
    fromTitle: (title) => `Esta es la historia de «${title}».`,
    wordless: "Esta es una historia sin palabras.",
    question: "¿Tú también lo ves?",
    reply: "Sí. No quería perdérmelo.",
  },
  it: {
    fromWord: (word) => `Questa storia comincia con una sola parola: ${word}.`,
    fromTitle: (title) => `Questa è la storia di «${title}».`,
    wordless: "Questa è una storia senza parole.",
    question: "Lo vedi anche tu?",
    reply: "Sì. Non volevo perdermelo.",
  },
  pt: {
    fromWord: (word) => `Esta história começa com uma só palavra: ${word}.`,
    fromTitle: (title) => `Esta é a história de “${title}”.`,
    wordless: "Esta é uma história sem palavras.",
    question: "Você também está vendo?",
    reply: "Sim. Eu não queria perder isso.",
  },
  zh: {
    fromWord: (word) => `故事从一个词开始：${word}。`,
    fromTitle: (title) => `这是《${title}》的故事。`,
    wordless: "这是一个没有语言的故事。",
    question: "你也看见了吗？",
    reply: "看见了，我可不想错过。",
  },
  ja: {
    fromWord: (word) => `物語はひとつの言葉から始まる。${word}。`,
    fromTitle: (title) => `これは「${title}」の物語。`,
    wordless: "これは言葉のない物語。",
    question: "あなたにも見える？",
    reply: "うん、見えるよ。",
  },
  ko: {
    fromWord: (word) => `이야기는 한 단어에서 시작된다. ${word}.`,
    fromTitle: (title) => `이것은 “${title}”의 이야기다.`,
    wordless: "이것은 말이 없는 이야기다.",
    question: "너도 보여?",
    reply: "응, 보여.",
  },
  ar: {
    fromWord: (word) => `تبدأ هذه القصة بكلمة واحدة: ${word}.`,
    fromTitle: (title) => `هذه قصة «${title}».`,
    wordless: "هذه قصة بلا كلمات.",
    question: "هل ترى ذلك أيضاً؟",
    reply: "نعم، أراه.",
  },
  ru: {
    fromWord: (word) => `Эта история начинается с одного слова: ${word}.`,
    fromTitle: (title) => `Это история «${title}».`,
    wordless: "Это история без слов.",
    question: "Ты тоже это видишь?",
    reply: "Да, вижу.",
  },
  he: {
    fromWord: (word) => `הסיפור הזה מתחיל במילה אחת: ${word}.`,
    fromTitle: (title) => `זה הסיפור של „${title}”.`,
    wordless: "זה סיפור בלי מילים.",
    question: "גם את רואה את זה?",
    reply: "כן, אני רואה.",
  },
};

const emojiWords: Readonly<Record<string, string>> = Object.fromEntries(
  "🐱 a cat,🐈 a cat,🐶 a dog,🐕 a dog,🦊 a fox,🐻 a bear,🐳 a whale,🐋 a whale,🐟 a fish,🐦 a bird,🦉 an owl,🐴 a horse,🚀 a rocket in space,🛸 a spaceship in space,🌙 the moon,🌕 the moon,⭐ a star at night,🌟 a star at night,☀ the sun,🌞 the sun,🌅 a sunrise over the sea,🌊 the sea,🏖 a beach,🏝 an island in the sea,⛵ a sailing boat on the sea,🚢 a ship on the sea,🏔 mountains,⛰ mountains,🗻 a mountain,🌋 a mountain,🏜 a desert,🌵 a desert,🌲 a forest,🌳 a tree,🌸 flowers in spring,🌹 a rose,🌻 flowers,🌷 flowers,🍂 autumn leaves,❄ snow,⛄ snow,☃ snow,🌧 rain,⛈ a storm,🌈 a rainbow,🔥 a fire,🏠 a house,🏡 a house,🏰 a castle,🏙 a city,🌃 a city at night,🌆 a city at sunset,🎈 a balloon,🚗 a car,🚂 a train,☕ a café,🍕 a restaurant,🎬 a film,🎵 music,🎶 music,❤ love,💔 a broken heart,💕 love,😀 a happy person,😊 a happy person,😂 laughter,😢 a sad person,😭 a sad person,😱 a scream,👻 a ghost,🤖 a robot,👽 a traveller from space,👑 a king,👸 a girl with a crown,🧙 an old man with a staff,🎉 a feast,🎂 a birthday"
    .split(",")
    .map((entry) => [entry.slice(0, entry.indexOf(" ")), entry.slice(entry.indexOf(" ") + 1)]),
);

export function findSmallPhrases(language: string): SmallPhrases {
  return (Object.hasOwn(phrasesByLanguage, language) ? phrasesByLanguage[language] : undefined) ?? english;
}

/** What the emoji of a text show, in their order, each once. */
export function listEmojiWords(text: string): string[] {
  const found: string[] = [];
  for (const sign of text.slice(0, 2000)) {
    const words = Object.hasOwn(emojiWords, sign) ? emojiWords[sign] : undefined;
    if (words !== undefined && !found.includes(words)) found.push(words);
  }
  return found.slice(0, 6);
}

export function joinList(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
