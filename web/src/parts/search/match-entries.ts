/** A searchable entry; `alias` is matched but not shown. */
type Searchable = { title: string; detail?: string | undefined; alias?: string | undefined };

type Matches<Item> = {
  /** Best first, up to the limit. */
  entries: Item[];
  /** Rank of the best match; lower is better. */
  rank: number;
};

const beforeWords = [" ", "-", "/", "_", "."] as const;

/** Entries with every word, ranked: title prefix, word prefixes, then matches anywhere. */
export function matchEntries<Item extends Searchable>(
  items: readonly Item[],
  text: string,
  countMax: number,
): Matches<Item> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = items
    .map((item) => ({ item, rank: rankItem(item, words) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.rank - b.rank);
  return {
    entries: ranked.slice(0, countMax).map(({ item }) => item),
    rank: ranked[0]?.rank ?? Number.POSITIVE_INFINITY,
  };
}

function rankItem({ title, detail = "", alias = "" }: Searchable, words: readonly string[]): number {
  const shown = ` ${title.toLowerCase()}`;
  const all = `${shown} ${detail} ${alias}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return Number.POSITIVE_INFINITY;
  if (shown.startsWith(` ${words.join(" ")}`)) return 0;
  if (words.every((word) => beforeWords.some((mark) => shown.includes(mark + word)))) return 1;
  return words.every((word) => shown.includes(word)) ? 2 : 3;
}
