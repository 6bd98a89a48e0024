export type Language = "en" | "de" | "fr" | "es" | "zh" | "ja";

type Phrases = {
  greeting: string;
  identity: string;
  /** The answer about a topic that no rule knows. */
  echo: (topic: string) => string;
};

export const phrases: Record<Language, Phrases> = {
  en: {
    greeting: "Hello! How can I help you today?",
    identity: "I am the sandbox model: I answer by simple rules, always the same way, and without any network.",
    echo: (topic) => `You asked about “${topic}”. A real model would have more to say; the sandbox has understood.`,
  },
  de: {
    greeting: "Hallo! Wie kann ich helfen?",
    identity: "Ich bin das Sandbox-Modell: Ich antworte nach einfachen Regeln, immer gleich und ohne Netz.",
    echo: (topic) => `Es geht um „${topic}“. Ein echtes Modell wüsste mehr; die Sandbox hat verstanden.`,
  },
  fr: {
    greeting: "Bonjour ! Comment puis-je vous aider ?",
    identity: "Je suis le modèle bac à sable : je réponds selon des règles simples, sans réseau.",
    echo: (topic) => `Il s’agit de « ${topic} ». Un vrai modèle en dirait plus ; le bac à sable a compris.`,
  },
  es: {
    greeting: "¡Hola! ¿En qué puedo ayudarte?",
    identity: "Soy el modelo de pruebas: respondo con reglas sencillas, siempre igual y sin red.",
    echo: (topic) => `Se trata de «${topic}». Un modelo real diría más; el de pruebas ha entendido.`,
  },
  zh: {
    greeting: "你好！有什么可以帮你？",
    identity: "我是沙盒模型：按简单的规则回答，每次都一样，不需要网络。",
    echo: (topic) => `你问的是“${topic}”。真正的模型会说得更多；沙盒已经明白了。`,
  },
  ja: {
    greeting: "こんにちは！ご用件は何でしょうか。",
    identity: "私はサンドボックスモデルです。簡単な規則で、いつも同じように、ネットワークなしで答えます。",
    echo: (topic) => `「${topic}」についてですね。本物のモデルならもっと詳しく答えますが、内容は理解しました。`,
  },
};

const greetings = new Set(
  "hi hello hey hiya greetings hallo moin servus guten bonjour salut hola buenos buenas 你好 您好 こんにちは".split(
    " ",
  ),
);

const markers: [Language, ReadonlySet<string>][] = [
  ["en", new Set("the is are what how who why where when you and of to can my a please tell hello hi".split(" "))],
  ["de", new Set("der die das und ist nicht wie was wer wo warum ich du ein eine bitte hallo guten mir".split(" "))],
  ["fr", new Set("le la les est et que quoi comment pourquoi je vous une des bonjour salut merci quelle".split(" "))],
  ["es", new Set("el los las es y qué que cómo por dónde cuál una del hola buenos buenas gracias puedes".split(" "))],
];

/** By script, else by common words; English by default. */
export function detectLanguage(text: string): Language {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Han}/u.test(text)) return "zh";
  const words = listWords(text);
  let found: Language = "en";
  let countMax = 0;
  for (const [language, known] of markers) {
    const count = words.filter((word) => known.has(word)).length;
    if (count > countMax) [found, countMax] = [language, count];
  }
  return found;
}

/** A few words that start with a greeting and ask for nothing else. */
export function isGreeting(text: string): boolean {
  const words = listWords(text);
  return words.length > 0 && words.length <= 4 && greetings.has(words[0] ?? "") && !text.includes("?");
}

/** In lower case, without punctuation. */
export function listWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
