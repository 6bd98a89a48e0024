/** Number of distinct series colours; further series are merged. */
export const seriesMax = 6;

const colourCount = 12;

/** The colour of merged series. */
export const restColour = colourCount;

export function getSeriesColour(colour: number): string {
  return `var(--series-${colour < colourCount ? colour + 1 : "rest"})`;
}

/**
 * Colours by id, so a model has the same colour on every page. On a collision within a chart, the later id takes the
 * next free colour.
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

/** FNV-1a with the high bits folded in: the low bits alone collide for similar ids. */
function chooseColour(id: string): number {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return ((hash ^ (hash >>> 24)) >>> 0) % colourCount;
}
