/** How many series a chart tells apart; the others are joined. */
export const seriesMax = 6;

const colourCount = 12;

/** The colour of all those that have none of their own. */
export const restColour = colourCount;

export function getSeriesColour(colour: number): string {
  return `var(--series-${colour < colourCount ? colour + 1 : "rest"})`;
}

/**
 * The colours of the series of one chart. A series has its colour by its id, so that a model has the same one on every
 * page and every day; where two of a chart would have the same, the one whose id comes later takes the next that is free.
 */
export function assignColours(ids: readonly string[]): ReadonlyMap<string, number> {
  const taken = new Map<number, string>();
  for (const id of ids.slice(0, colourCount).toSorted()) {
    let colour = chooseColour(id);
    while (taken.has(colour)) colour = (colour + 1) % colourCount;
    taken.set(colour, id);
  }
  return new Map([...taken].map(([colour, id]) => [id, colour]));
}

/** FNV-1a, by whose lower bits alone similar ids would be alike. */
function chooseColour(id: string): number {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return ((hash ^ (hash >>> 24)) >>> 0) % colourCount;
}
