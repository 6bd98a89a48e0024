/** Parts of a prompt for sample values, so that tool arguments relate to the question. */
export type SampleHints = {
  question: string;
  answer: string;
  /** Capitalised words, such as names. */
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
  // A number in the answer is the best value for a number field.
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

/** Adjacent words form one name, as in "New York". */
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
