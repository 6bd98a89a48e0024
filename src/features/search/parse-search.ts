/** What a search is for: the beginning of an id, or words that names may contain. */
export type Search =
  | { kind: "id"; prefix: SearchPrefix; beginning: string }
  /** In small letters for names, and as they were written for ids that callers chose. */
  | { kind: "words"; words: string; text: string };

/** The ids that lead somewhere. */
const searchPrefixes = ["req", "task", "txn", "key", "file", "evt", "whe"] as const;

export type SearchPrefix = (typeof searchPrefixes)[number];

/**
 * Eight of the ten characters of an id that tell its time: whatever begins so was made within one second, so that there
 * is little to look at even where ids are not in the order of accounts.
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
