import { calculate } from "./sandbox-arithmetic.ts";
import { detectLanguage, isGreeting, phrases } from "./sandbox-languages.ts";
import type { SandboxPrompt } from "./sandbox-prompt.ts";
import { countTokens } from "./sandbox-tokens.ts";
import { explainTopic } from "./sandbox-topics.ts";
import { writeCode, writePoem, writeTable } from "./sandbox-writing.ts";

/** Answers a question, or returns `null` for the next rule. */
type Rule = (question: string, prompt: SandboxPrompt) => string | null;

/** Rules read only the start of a question, so that none takes long. */
const ruleCharactersMax = 2000;
const longQuestionTokens = 600;
const timesMax = 100;
const resultCharactersMax = 1000;

const numberWords = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

const knownLists: Record<string, string> = {
  animals: "cat dog horse owl fox whale bee otter crane frog",
  colors: "red orange yellow green blue violet white black brown pink",
  colours: "red orange yellow green blue violet white black brown pink",
  cities: "Paris Tokyo Lima Cairo Oslo Delhi Boston Quito Berlin Seoul",
  countries: "France Japan Peru Egypt Norway India Canada Kenya Spain Chile",
  fruits: "apple banana cherry grape lemon mango orange peach pear plum",
  planets: "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
};

/** Exact answers, without any other words. */
const exactRules: Rule[] = [
  answerCalculation,
  sayTimes,
  sayAfter,
  countUp,
  listThings,
  writeTable,
  writeCode,
  writePoem,
];
/** Conversation, which may mention the role from the instructions. */
const talkRules: Rule[] = [greet, introduce, recallName, recallWords, summarize, explainTopic];

/** Deterministic: the same prompt has the same answer. */
export function writeAnswer(prompt: SandboxPrompt): string {
  if (prompt.toolResults.length > 0) return prompt.toolResults.map(presentResult).join("\n");
  const question = prompt.question.slice(0, ruleCharactersMax);
  const exact = findAnswer(exactRules, question, prompt);
  if (exact !== null) return exact;
  const talk = findAnswer(talkRules, question, prompt) ?? echo(question, prompt);
  return [presentRole(prompt.systemText), talk, presentImages(prompt.imageCount)].filter(Boolean).join(" ");
}

function findAnswer(rules: readonly Rule[], question: string, prompt: SandboxPrompt): string | null {
  for (const rule of rules) {
    const answer = rule(question, prompt);
    if (answer !== null) return answer;
  }
  return null;
}

function answerCalculation(question: string): string | null {
  const found = calculate(question);
  if (found === null) return null;
  return Number.isFinite(found.result) ? `${found.expression} = ${found.result}` : "Nobody can divide by zero.";
}

function sayTimes(question: string): string | null {
  const pattern = /^(?:please )?(?:say|write|repeat) ["“']?(.{1,200}?)["”']? (\d{1,6}|[a-z]{3,5}) times[.!]?$/is;
  const [, words = "", times = ""] = pattern.exec(question) ?? [];
  const count = readNumber(times);
  return count === null ? null : Array.from({ length: count }, () => words).join(" ");
}

function sayAfter(question: string): string | null {
  const asking =
    "repeat(?: after me| this)?|echo|say|(?:reply|answer|respond)(?: only)? with(?: exactly| only| the words?)?";
  const pattern = new RegExp(`^(?:please )?(?:${asking})(?:\\s*:\\s*|\\s+["“])(.+?)["”]?$`, "is");
  return pattern.exec(question)?.[1] ?? null;
}

function countUp(question: string): string | null {
  const pattern = /^(?:please |can you |could you )?count (?:from (\w{1,6}) )?(?:up )?to (\w{1,6})\W*$/i;
  const [, from = "1", to = ""] = pattern.exec(question) ?? [];
  const [first, last] = [readNumber(from), readNumber(to)];
  if (first === null || last === null || last < first) return null;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).join(", ");
}

function listThings(question: string): string | null {
  const pattern = /^(?:please )?(?:list|name|give me|tell me)(?: me)? (\w{1,6}) (\p{L}{1,20})\W*$/iu;
  const [, howMany = "", noun = ""] = pattern.exec(question) ?? [];
  const count = readNumber(howMany);
  if (count === null) return null;
  const known = Object.hasOwn(knownLists, noun.toLowerCase()) ? (knownLists[noun.toLowerCase()] ?? "").split(" ") : [];
  const lines = Array.from(
    { length: count },
    (_, index) => `${index + 1}. ${known[index] ?? `${noun}, number ${index + 1}`}`,
  );
  return lines.join("\n");
}

function greet(question: string): string | null {
  return isGreeting(question) ? phrases[detectLanguage(question)].greeting : null;
}

function introduce(question: string): string | null {
  const pattern =
    /who are you|what are you|which model|what model|wer bist du|was bist du|qui es-tu|qui êtes-vous|quién eres|你是谁|あなたは(?:誰|だれ)/i;
  return pattern.test(question) ? phrases[detectLanguage(question)].identity : null;
}

function recallName(question: string, { earlierTexts }: SandboxPrompt): string | null {
  if (!/what(?:'s| is) my name|who am i/i.test(question)) return null;
  for (const text of earlierTexts.toReversed()) {
    const name = /\b(?:my name is|i am called|call me) (\p{L}{1,40})/iu.exec(text.slice(0, ruleCharactersMax))?.[1];
    if (name !== undefined) return `Your name is ${name}.`;
  }
  return "You have not told me your name.";
}

function recallWords(question: string, { earlierTexts }: SandboxPrompt): string | null {
  const which = /what did i (?:say|ask|write|tell you)(?: \w{1,20}){0,3}? ?(first|last|before|earlier)/i.exec(
    question,
  )?.[1];
  if (which === undefined) return null;
  const said = which.toLowerCase() === "first" ? earlierTexts[0] : earlierTexts.at(-1);
  if (said === undefined) return "This is the first thing that you said to me.";
  return `You said: “${shorten(said, 40)}”`;
}

function summarize(question: string): string | null {
  const [, text = ""] = /^(?:please )?(?:summari[sz]e|sum up)\b[^:\n]{0,60}[:\n]\s*(.+)$/is.exec(question) ?? [];
  if (text === "") return null;
  const [sentence = text] = text.split(/(?<=[.!?。！？])\s*/);
  return `In one sentence: ${shorten(sentence, 25)}`;
}

function echo(question: string, prompt: SandboxPrompt): string {
  const language = detectLanguage(question);
  if (question === "") return phrases[language].greeting;
  const tokens = countTokens(prompt.question);
  const length = tokens > longQuestionTokens ? ` Your message is long: about ${tokens} tokens.` : "";
  return phrases[language].echo(shorten(question, 12)) + length;
}

function presentRole(systemText: string): string {
  const role = /\byou(?: are|'re) (an? [\p{L} -]{1,40})/iu.exec(systemText.slice(0, ruleCharactersMax))?.[1];
  return role === undefined ? "" : `Speaking as ${role.trim()}:`;
}

function presentImages(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "I was shown one image." : `I was shown ${count} images.`;
}

/** The fields of an object as a list; anything else unchanged. */
function presentResult({ name, text }: { name: string; text: string }): string {
  const fields = parseFields(text);
  const told = fields === null ? text : fields.map(([key, value]) => `${key}: ${presentValue(value)}`).join(", ");
  return `The answer of ${name}: ${told.slice(0, resultCharactersMax)}`;
}

function presentValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function parseFields(text: string): [string, unknown][] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
  } catch {
    // A tool may return anything; if it is not JSON, it is text.
    return null;
  }
}

function readNumber(word: string): number | null {
  const value = /^\d+$/.test(word) ? Number(word) : numberWords.indexOf(word.toLowerCase());
  return value < 1 ? null : Math.min(value, timesMax);
}

/** The first words without surrounding punctuation; for scripts without spaces, as many characters. */
function shorten(text: string, wordsMax: number): string {
  const words = text.trim().split(/\s+/);
  const first = words.slice(0, wordsMax).join(" ");
  const signs = Array.from(first);
  const cut = signs.slice(0, wordsMax * 12).join("");
  const isWhole = words.length <= wordsMax && cut.length === first.length;
  return isWhole ? cut.replace(/^[¿¡]+|[\s.?!。？！]+$/gu, "") : `${cut}…`;
}
