/** The beginning of an id, or words in a name. */
export type Search =
  | { kind: "id"; prefix: SearchPrefix; beginning: string }
  /** `words` in lower case for names; `text` as typed for ids that callers chose. */
  | { kind: "words"; words: string; text: string };

/** The searchable kinds of ids. */
const searchPrefixes = ["req", "task", "txn", "key", "file", "evt", "whe"] as const;

export type SearchPrefix = (typeof searchPrefixes)[number];

/**
 * Eight of the ten time characters of an id cover one second, so few rows match even without an index on the account.
 */
const beginningMin = 8;

const idPattern = new RegExp(`^(${searchPrefixes.join("|")})_[0-9a-z]{${beginningMin},64}$`);

export function parseSearch(text: string): Search {
  const trimmed = text.trim();
  const words = trimmed.toLowerCase();
  const prefix = idPattern.exec(words)?.[1];
  const known = searchPrefixes.find((each) => each === prefix);
  return known === undefined
    ? { kind: "words", words, text: trimmed }
    : { kind: "id", prefix: known, beginning: words };
}
