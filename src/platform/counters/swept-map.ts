/** A map that lets go of what is spent, a few entries at a time, and never grows beyond a maximum. */
export type SweptMap<V> = {
  get(key: string): V | undefined;
  /** The key is not there yet. At the maximum, it makes the map forget the entry that is next in turn. */
  add(key: string, value: V, nowUs: number): void;
  /** Looks at the next entry. Called now and then, it empties a map to which nothing is added. */
  sweep(nowUs: number): void;
};

/** Two for each new one: the round is over before the map has grown by half, so at most as many are spent as are not. */
const lookedAtPerAddition = 2;

export function createSweptMap<V>(options: {
  entriesMax: number;
  isSpent(value: V, nowUs: number): boolean;
}): SweptMap<V> {
  const values = new Map<string, V>();
  // The keys once more, as a list: going on through a map where one stopped would make two objects for each look.
  const round: string[] = [];
  let next = 0;

  /** The last of the list takes the place, and so the turn, of the one that goes. */
  function forgetNext(): void {
    const key = round[next];
    const last = round.pop();
    if (key === undefined || last === undefined) return;
    values.delete(key);
    if (next < round.length) round[next] = last;
  }

  function moveOn(): void {
    if (next >= round.length) next = 0;
  }

  function sweep(nowUs: number): void {
    moveOn();
    const key = round[next];
    const value = key === undefined ? undefined : values.get(key);
    if (value === undefined) return;
    if (options.isSpent(value, nowUs)) forgetNext();
    else next += 1;
  }

  return {
    get: (key) => values.get(key),
    add(key, value, nowUs) {
      for (let look = 0; look < lookedAtPerAddition; look += 1) sweep(nowUs);
      moveOn();
      if (values.size >= options.entriesMax) forgetNext();
      values.set(key, value);
      round.push(key);
    },
    sweep,
  };
}
