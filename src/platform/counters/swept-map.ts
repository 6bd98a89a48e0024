/** A map that lets go of what is spent, a few entries at a time, and never grows beyond a maximum. */
export type SweptMap<V> = {
  get(key: string): V | undefined;
  /** At the maximum, a new key makes the map forget the entry that is next in turn. */
  add(key: string, value: V, nowUs: number): void;
  delete(key: string): void;
  /** Looks at the next entry. Called now and then, it empties a map to which nothing is added. */
  sweep(nowUs: number): void;
};

/** Two for each new one: the round is over before the map has grown by half, so at most as many are spent as are not. */
const lookedAtPerAddition = 2;

export function createSweptMap<V>(parts: {
  entriesMax: number;
  isSpent(value: V, nowUs: number): boolean;
}): SweptMap<V> {
  const entries = new Map<string, V>();
  let round = entries.keys();

  function nextInTurn(): string | undefined {
    const { done, value } = round.next();
    if (done !== true) return value;
    round = entries.keys();
    return round.next().value;
  }

  function sweep(nowUs: number): void {
    const key = nextInTurn();
    const value = key === undefined ? undefined : entries.get(key);
    if (key !== undefined && value !== undefined && parts.isSpent(value, nowUs)) entries.delete(key);
  }

  return {
    get: (key) => entries.get(key),
    add(key, value, nowUs) {
      for (let look = 0; look < lookedAtPerAddition; look += 1) sweep(nowUs);
      if (entries.size >= parts.entriesMax) {
        const forgotten = nextInTurn();
        if (forgotten !== undefined) entries.delete(forgotten);
      }
      entries.set(key, value);
    },
    delete(key) {
      entries.delete(key);
    },
    sweep,
  };
}
