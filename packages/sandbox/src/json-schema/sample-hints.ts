/** What of a prompt may go into a made-up value, so that arguments of tools have to do with what was said. */
export type SampleHints = {
  question: string;
  answer: string;
  /** Words with a capital letter, as names have. */
  names: readonly string[];
  numbers: readonly number[];
  mail: string | null;
  url: string | null;
  date: string | null;
};

const readCharactersMax = 2000;
const hintCharactersMax = 200;
const hintsMax = 32;

const commonWords = new Set(
  "A Add An Are Book Call Can Could Do Does Find For From Get Give How I In Is Look My On Please Search Show Tell The Use What When Where Which Who Why".split(
    " ",
  ),
);

export function readHints(question: string, answer: string): SampleHints {
  const text = question.slice(0, readCharactersMax);
  // An answer that is a number is what a field for a number is about.
  const result = /= (-?\d+(?:\.\d+)?)$/.exec(answer)?.[1] ?? [];
  const said = text.replace(/\d{4}-\d{2}-\d{2}/g, "").match(/-?\d{1,15}(?:\.\d{1,10})?/g) ?? [];
  return {
    question: text.slice(0, hintCharactersMax),
    answer: answer.slice(0, hintCharactersMax),
    names: listNames(text).slice(0, hintsMax),
    numbers: [result, said].flat().map(Number).slice(0, hintsMax),
    mail: /[\w.+-]{1,60}@[\w-]{1,60}(?:\.[a-z]{2,20}){1,3}/i.exec(text)?.[0] ?? null,
    url: /https?:\/\/[^\s"'<>]{3,150}/i.exec(text)?.[0] ?? null,
    date: /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0] ?? null,
  };
}

/** Neighbours belong together, as in "New York". */
function listNames(text: string): string[] {
  const runs = text.match(/\p{Lu}[\p{L}\p{M}’'-]{0,40}(?: \p{Lu}[\p{L}\p{M}’'-]{0,40}){0,3}/gu) ?? [];
  const names = runs.map((run) =>
    run
      .split(" ")
      .filter((word) => !commonWords.has(word))
      .join(" "),
  );
  return names.filter((name) => name !== "");
}
