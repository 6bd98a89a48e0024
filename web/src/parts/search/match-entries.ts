/** Something that words can be looked for in; what people also call it is looked through, but not shown. */
type Searchable = { title: string; detail?: string | undefined; alias?: string | undefined };

const beforeWords = [" ", "-", "/", "_", "."] as const;

/** Those that have every word, best first: a title that begins so, then words that do, then the others. */
export function matchEntries<Item extends Searchable>(items: readonly Item[], text: string, countMax: number): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = items.flatMap((item) => {
    const rank = rankItem(item, words);
    return rank === null ? [] : [{ item, rank }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, countMax)
    .map(({ item }) => item);
}

function rankItem({ title, detail = "", alias = "" }: Searchable, words: readonly string[]): number | null {
  const shown = title.toLowerCase();
  const all = `${shown} ${detail} ${alias}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return null;
  if (shown.startsWith(words.join(" "))) return 0;
  return words.every((word) => beforeWords.some((mark) => ` ${all}`.includes(mark + word))) ? 1 : 2;
}
