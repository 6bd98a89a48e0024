import type { StoryLanguage } from "./story-language.ts";

/** Phrases for scripts that are too short for a video, by language. */
type SmallPhrases = {
  /** For a script of one word. */
  fromWord: (word: string) => string;
  /** For a script without words. */
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

const chinese: SmallPhrases = {
  fromWord: (word) => `故事从一个词开始：${word}。`,
  fromTitle: (title) => `这是《${title}》的故事。`,
  wordless: "这是一个没有语言的故事。",
  question: "你也看见了吗？",
  reply: "看见了，我可不想错过。",
};

const emojiWords: Readonly<Record<string, string>> = Object.fromEntries(
  "🐱 a cat,🐈 a cat,🐶 a dog,🐕 a dog,🦊 a fox,🐻 a bear,🐳 a whale,🐋 a whale,🐟 a fish,🐦 a bird,🦉 an owl,🐴 a horse,🚀 a rocket in space,🛸 a spaceship in space,🌙 the moon,🌕 the moon,⭐ a star at night,🌟 a star at night,☀ the sun,🌞 the sun,🌅 a sunrise over the sea,🌊 the sea,🏖 a beach,🏝 an island in the sea,⛵ a sailing boat on the sea,🚢 a ship on the sea,🏔 mountains,⛰ mountains,🗻 a mountain,🌋 a mountain,🏜 a desert,🌵 a desert,🌲 a forest,🌳 a tree,🌸 flowers in spring,🌹 a rose,🌻 flowers,🌷 flowers,🍂 autumn leaves,❄ snow,⛄ snow,☃ snow,🌧 rain,⛈ a storm,🌈 a rainbow,🔥 a fire,🏠 a house,🏡 a house,🏰 a castle,🏙 a city,🌃 a city at night,🌆 a city at sunset,🎈 a balloon,🚗 a car,🚂 a train,☕ a café,🍕 a restaurant,🎬 a film,🎵 music,🎶 music,❤ love,💔 a broken heart,💕 love,😀 a happy person,😊 a happy person,😂 laughter,😢 a sad person,😭 a sad person,😱 a scream,👻 a ghost,🤖 a robot,👽 a traveller from space,👑 a king,👸 a girl with a crown,🧙 an old man with a staff,🎉 a feast,🎂 a birthday"
    .split(",")
    .map((entry) => [entry.slice(0, entry.indexOf(" ")), entry.slice(entry.indexOf(" ") + 1)]),
);

export function findSmallPhrases(language: StoryLanguage): SmallPhrases {
  return language === "zh" ? chinese : english;
}

/** What the emoji of a text show, in order, each once. */
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
