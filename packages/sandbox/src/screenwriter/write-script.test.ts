import { expect, test } from "vitest";
import { type WrittenScript, writeScript } from "./write-script.ts";

function write(
  script: string,
  { characters = [] as string[], title = "The Letter", seconds = 120 } = {},
): WrittenScript {
  return writeScript({ title, characters, filmSecondsMax: seconds, script });
}

/** As in "Anna: Hello." with ~ for the narrator. */
function listLines({ scenes }: WrittenScript): string[] {
  return scenes.flatMap(({ lines }) => lines.map(({ speaker, text }) => `${speaker ?? "~"}: ${text}`));
}

test("a screenplay keeps its scenes, places, times and lines, without directions", () => {
  const script = write(
    `Title: The Letter
Author: Somebody

FADE IN:

INT. KITCHEN - NIGHT

ANNA (30, red coat) leans on the table. A kettle whistles.

ANNA (V.O.)
(quietly)
It came this morning.

MR. SMITH
What did?

ANNA (CONT'D)
The letter. (beat) From
the lighthouse.

CUT TO:

12. EXT. SEASIDE - DAWN

They walk along the water.

ANNA
I will not open it.`,
    { characters: ["Anna"] },
  );
  expect(script.language).toBe("en");
  expect(script.logline).toBe("ANNA leans on the table. A kettle whistles.");
  expect(script.scenes.map(({ lines: _, ...scene }) => scene)).toEqual([
    {
      heading: "INT. KITCHEN - NIGHT",
      place: "A kitchen at night.",
      time: "night",
      action: "ANNA (30, red coat) leans on the table. A kettle whistles.",
    },
    {
      heading: "EXT. SEASIDE - DAWN",
      place: "The seaside at dawn.",
      time: "dawn",
      action: "They walk along the water.",
    },
  ]);
  expect(listLines(script)).toEqual([
    "Anna: It came this morning.",
    "Mr. Smith: What did?",
    "Anna: The letter. From the lighthouse.",
    "Anna: I will not open it.",
  ]);
});

test("a screenplay without empty lines is recognised", () => {
  const script = write(`INT. OFFICE - DAY
Tom packs his things.
TOM
I quit, and this time
I mean it.
BOSS
(laughs)
Sit down.
EXT. STREET - LATER
TOM
Free!`);
  expect(listLines(script)).toEqual(["Tom: I quit, and this time I mean it.", "Boss: Sit down.", "Tom: Free!"]);
  expect(script.scenes.map(({ time }) => time)).toEqual(["day", "day"]);
});

test("a name right below a heading speaks", () => {
  expect(listLines(write("Scene 1: The kitchen\nMARIE\nYou are late.\n\nPAUL\nI know."))).toEqual([
    "Marie: You are late.",
    "Paul: I know.",
  ]);
});

test("a play may mark its speakers in any of the usual ways", () => {
  const script = write(
    `ANNA: Hello there.
Ben (softly): I did not hear you (he turns) come in.
**Anna:** That is the idea.
- Ben – I see.
voice over: They laughed.
(Anna sits down.)
anna: Fine!`,
    { characters: ["Anna", "Ben"] },
  );
  expect(listLines(script)).toEqual([
    "Anna: Hello there.",
    "Ben: I did not hear you come in.",
    "Anna: That is the idea.",
    "Ben: I see.",
    "~: They laughed.",
    "Anna: Fine!",
  ]);
  expect(script.scenes[0]?.action).toBe("Anna sits down.");
});

test("a speaker is matched to the caller's character, also by the first name", () => {
  const script = write("ANNA: One.\nBEN: Two.\nANNA & BEN: Three.", { characters: ["Anna Schmidt", "ben"] });
  expect(listLines(script)).toEqual(["Anna Schmidt: One.", "ben: Two.", "Anna Schmidt: Three."]);
});

test("a narrator among the caller's characters is a character", () => {
  expect(listLines(write("Narrator: Once.\nAnna: Now.", { characters: ["Narrator"] }))[0]).toBe("Narrator: Once.");
});

test("a chat is a play", () => {
  expect(listLines(write("anna: hi\nben: hey\nanna: how are you"))).toEqual([
    "Anna: hi",
    "Ben: hey",
    "Anna: how are you",
  ]);
  expect(listLines(write("🐱: Meow!\n🐶: Woof!"))).toEqual(["🐱: Meow!", "🐶: Woof!"]);
});

test("labels set place and time; times, links and remarks are not speech", () => {
  const script = write(`Scene: A beach
Time: sunset
Characters: Anna, Ben
Anna: It is 12:30. See https://example.com now.
At 12:30 the bell rings.
Ben: ...`);
  expect(script.scenes).toHaveLength(1);
  expect(script.scenes[0]).toMatchObject({ place: "A beach at sunset.", time: "sunset" });
  expect(listLines(script)).toEqual(["Anna: It is 12:30. See https://example.com now."]);
  expect(script.scenes[0]?.action).toContain("At 12:30 the bell rings.");
});

test("a Chinese screenplay is understood", () => {
  const script = write(
    `第一场 咖啡馆 夜 内
人物：小明、小红
△ 小明走进咖啡馆，看见小红。
小明：你好，好久不见！
小红（笑）：是啊，（停顿）三年了。
旁白：谁也没有再说话。
场景2：海边 日 外
两人在海边散步。
小红说：你还记得这里吗？`,
    { characters: ["小明"] },
  );
  expect(script.language).toBe("zh");
  expect(script.scenes.map(({ place, time, action }) => ({ place, time, action }))).toEqual([
    { place: "咖啡馆，夜。", time: "night", action: "小明走进咖啡馆，看见小红。" },
    { place: "海边，日。", time: "day", action: "两人在海边散步。" },
  ]);
  expect(listLines(script)).toEqual([
    "小明: 你好，好久不见！",
    "小红: 是啊，三年了。",
    "~: 谁也没有再说话。",
    "小红: 你还记得这里吗？",
  ]);
});

test.each([
  [
    "KÜCHE\n\nLENA\nWo warst du?\n\nMAX\nIch habe dich gesucht, den ganzen Tag.",
    ["Lena: Wo warst du?", "Max: Ich habe dich gesucht, den ganzen Tag."],
  ],
  ["ANA: ¿Lo ves?\nLUIS: (susurrando) Sí, es el mar.", ["Ana: ¿Lo ves?", "Luis: Sí, es el mar."]],
  ["سارة: مرحبا يا أحمد.\nأحمد: (يبتسم) مرحبا، كيف حالك؟", ["سارة: مرحبا يا أحمد.", "أحمد: مرحبا، كيف حالك؟"]],
  ["ЛЕС\n\nАННА\nКто здесь?\n\nИван: Это я.", ["Анна: Кто здесь?", "Иван: Это я."]],
  ["민수: 안녕하세요.\n지영: 네, 반가워요.", ["민수: 안녕하세요.", "지영: 네, 반가워요."]],
  ["花子：もう来ないと思った。\n太郎：約束したから。", ["花子: もう来ないと思った。", "太郎: 約束したから。"]],
])("speakers are found in unknown languages: %s", (text, lines) => {
  expect(listLines(write(text)).filter((line) => !line.startsWith("~"))).toEqual(lines);
});

test("a story becomes a narrated video, with quotations spoken by their speakers", () => {
  const script =
    write(`Anna opened the door of the old house. It was night, and the rain would not stop. "Come in," said Anna. "You are wet."

"I have been worse," Ben replied, and shook the rain from his coat.

The next morning they walked to the sea. Anna said: "I am going away." He did not answer.`);
  expect(listLines(script)).toEqual([
    "~: Anna opened the door of the old house.",
    "~: It was night, and the rain would not stop.",
    "Anna: Come in.",
    "Anna: You are wet.",
    "Ben: I have been worse.",
    "~: The next morning they walked to the sea.",
    "Anna: I am going away.",
    "~: He did not answer.",
  ]);
  expect(script.scenes.map(({ heading, place, time }) => ({ heading, place, time }))).toEqual([
    { heading: "EXT. OLD HOUSE – NIGHT", place: "An old house at night.", time: "night" },
    { heading: "EXT. SEA – MORNING", place: "The sea in the morning.", time: "morning" },
  ]);
  expect(script.scenes[0]?.action).toContain("Ben shook the rain from his coat.");
});

test.each([
  [
    "„Hast du Angst?“, fragte Lena. Dann hörten sie einen Ruf.",
    ["~: Hast du Angst?", "~: fragte Lena.", "~: Dann hörten sie einen Ruf."],
  ],
  [
    "夜晚，小明走进森林。“有人吗？”小明问。门开了。老人笑着说：“进来吧，孩子。”",
    ["~: 夜晚，小明走进森林。", "小明: 有人吗？", "~: 门开了。", "老人: 进来吧，孩子。"],
  ],
  [
    "“Who is there?” asked the old man. “Nobody,” whispered Mrs. Brown.",
    ["Old man: Who is there?", "Mrs. Brown: Nobody."],
  ],
])("quotations are speech, spoken by the narrator in an unknown language: %s", (text, lines) => {
  expect(listLines(write(text))).toEqual(lines);
});

test("known people are preferred, pronouns refer to the last person, and answers alternate", () => {
  const characters = ["Tom", "Mia"];
  expect(listLines(write('Tom ran home. He shouted, "Mum!" Nobody answered.', { characters }))).toEqual([
    "~: Tom ran home.",
    "Tom: Mum!",
    "~: Nobody answered.",
  ]);
  expect(listLines(write('"Is it far?" Tom asked.\n\n"Not at all."\n\n"Then let us go."', { characters }))).toEqual([
    "Tom: Is it far?",
    "Mia: Not at all.",
    "Tom: Then let us go.",
  ]);
  expect(listLines(write('Mia said: "I stay." Tom did not.', { characters }))).toEqual([
    "Mia: I stay.",
    "~: Tom did not.",
  ]);
  const strangers = write('"Is it far?" asked Lea.\n\n"Ask Kim," said Otto.\n\n"I did," said Kim.\n\n"And?"');
  expect(listLines(strangers)).toEqual(["Lea: Is it far?", "Otto: Ask Kim.", "Kim: I did.", "Otto: And?"]);
  expect(listLines(write('Mia looked up. "Hi!" Tom said: "Ho."', { characters }))).toEqual([
    "~: Mia looked up.",
    "Mia: Hi!",
    "Tom: Ho.",
  ]);
});

test("a person without a name is described by a noun", () => {
  expect(listLines(write('A girl in a yellow coat stood on the bridge. "Are you hungry too?" she asked.'))).toEqual([
    "~: A girl in a yellow coat stood on the bridge.",
    "Girl: Are you hungry too?",
  ]);
});

test("a few lines with a colon do not make a long story a play", () => {
  const story = "The fox went on through the snow, and nobody saw it go. ".repeat(2).trim();
  const script = write([story, story, story, story, "Fox: I am hungry."].join("\n\n"));
  expect(listLines(script)).toHaveLength(9);
  expect(listLines(script).at(-1)).toBe("Fox: I am hungry.");
});

test("a quoted word is not speech", () => {
  expect(
    listLines(write('It was the "best" day of all. The sign said "OPEN" in red. They went in and had tea.')),
  ).toEqual(['~: It was the "best" day of all.', '~: The sign said "OPEN" in red.', "~: They went in and had tea."]);
  const play = write('INT. BAR - NIGHT\n\nThe sign says "Come in, friends." Anna waits.\n\nANNA\nHello?');
  expect(listLines(play)).toEqual(["Anna: Hello?"]);
  expect(play.scenes[0]?.action).toBe('The sign says "Come in, friends." Anna waits.');
});

test("an outline has a scene for each point, narrated by its sentence", () => {
  const script = write(`# The Lighthouse
- A keeper lights the lamp for the last time.
- A storm breaks over the sea.
  - The boats turn back.
- At dawn a child is found on the beach.`);
  expect(script.scenes.map(({ lines }) => lines.map(({ text }) => text))).toEqual([
    ["A keeper lights the lamp for the last time."],
    ["A storm breaks over the sea.", "The boats turn back."],
    ["At dawn a child is found on the beach."],
  ]);
  expect(script.scenes.map(({ place }) => place)).toEqual([
    "A keeper lights the lamp for the last time.",
    "The sea by day.",
    "A beach at dawn.",
  ]);
  expect(write("1. A boy finds a key.\n2. He opens a door.\n3. It snows inside.").scenes).toHaveLength(3);
});

test("Markdown headings are scenes, and the first is the title", () => {
  const script = write(
    "# My Film\n\n## The Kitchen\nAnna waits by the window.\n\n---\n\nShe waits on.\n\n## At the Sea\nThe wind is loud.",
  );
  expect(script.scenes.map(({ heading }) => heading)).toEqual(
    ["The Kitchen", "EXT. THE KITCHEN – DAY", "At the Sea"].map((heading, index) =>
      index === 1 ? expect.any(String) : heading,
    ),
  );
  expect(listLines(script)).toEqual(["~: Anna waits by the window.", "~: She waits on.", "~: The wind is loud."]);
});

test("the title gives the place if the story does not", () => {
  expect(write("Anna: Who is there?\nBen: Me.", { title: "Night in the Forest" }).scenes[0]?.place).toBe(
    "A forest by day.",
  );
});

test("one word, an emoji, a sentence or nothing becomes a small scene with a line", () => {
  expect(listLines(write("Lighthouse", { characters: ["Anna", "Ben"] }))).toEqual([
    "~: This story begins with a single word: Lighthouse.",
    "Anna: Do you see it too?",
    "Ben: Yes. I would not have missed it.",
  ]);
  expect(listLines(write("灯塔"))).toEqual(["~: 故事从一个词开始：灯塔。"]);
  expect(listLines(write("🐱🐱🚀🌙"))).toEqual(["~: This is a story of a cat, a rocket in space and the moon."]);
  expect(listLines(write("🎭", { title: "The Mask" }))).toEqual(["~: This is the story of “The Mask”."]);
  expect(listLines(write("A robot learns to paint in a ruined city.", { characters: ["Robo"] }))).toEqual([
    "~: A robot learns to paint in a ruined city.",
    "Robo: Do you see it too?",
  ]);
  expect(listLines(write("…", { title: "🎬" }))).toEqual(["~: This is a story without words."]);
  expect(write("").scenes[0]?.place).toBe("A quiet room by day.");
  expect(listLines(write("INT. KITCHEN - NIGHT"))).toEqual(["~: This story begins with a single word: kitchen."]);
});

test("a long speech is split into parts that lose no word", () => {
  const speech = "I have been thinking about this for a long time and I cannot say it. ".repeat(9).trim();
  const script = write(`ANNA: ${speech}`);
  const lines = script.scenes.flatMap(({ lines }) => lines);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.every(({ speaker, text }) => speaker === "Anna" && text.length <= 260)).toBe(true);
  expect(lines.map(({ text }) => text).join(" ")).toBe(speech);
});

test("there are at most forty roles; later speakers become the narrator", () => {
  const script = write(Array.from({ length: 60 }, (_, index) => `Guest${index}: Hi.`).join("\n"), { seconds: 3600 });
  const lines = script.scenes.flatMap(({ lines }) => lines);
  expect(lines).toHaveLength(60);
  expect(new Set(lines.flatMap(({ speaker }) => speaker ?? [])).size).toBe(40);
});

test("writers' notes are neither seen nor spoken", () => {
  expect(listLines(write("Anna: One. /* cut */\n[[ask Ben]]\nBen: Two.<!-- why? -->"))).toEqual([
    "Anna: One.",
    "Ben: Two.",
  ]);
});

test("a place that somebody only tells about does not move the story", () => {
  const { scenes } = write("The platform is empty. He tells her that the last train is never the last one. He plays.");
  expect(scenes.map(({ place }) => place)).toEqual(["A platform by day."]);
});
