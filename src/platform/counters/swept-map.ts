/** A bounded map that removes spent entries incrementally. */
export type SweptMap<V> = {
  get(key: string): V | undefined;
  /** The key must be new. At the maximum, evicts the next entry of the sweep. */
  add(key: string, value: V, nowUs: number): void;
  /** Checks the next entry. Call it regularly, so that a map without additions empties too. */
  sweep(nowUs: number): void;
};

/** With two checks per addition, at most half of the entries are spent. */
const sweepsPerAddition = 2;

export function createSweptMap<V>(options: {
  entriesMax: number;
  isSpent(value: V, nowUs: number): boolean;
}): SweptMap<V> {
  const values = new Map<string, V>();
  // The keys again as an array: resuming a map's iterator would allocate two objects per step.
  const round: string[] = [];
  let next = 0;

  /** Swap-removes the current key. */
  function removeNext(): void {
    const key = round[next];
    const last = round.pop();
    if (key === undefined || last === undefined) return;
    values.delete(key);
    if (next < round.length) round[next] = last;
  }

  function wrapAround(): void {
    if (next >= round.length) next = 0;
  }

  function sweep(nowUs: number): void {
    wrapAround();
    const key = round[next];
    const value = key === undefined ? undefined : values.get(key);
    if (value === undefined) return;
    if (options.isSpent(value, nowUs)) removeNext();
    else next += 1;
  }

  return {
    get: (key) => values.get(key),
    add(key, value, nowUs) {
      for (let count = 0; count < sweepsPerAddition; count += 1) sweep(nowUs);
      wrapAround();
      if (values.size >= options.entriesMax) removeNext();
      values.set(key, value);
      round.push(key);
    },
    sweep,
  };
}
