/**
 * Things that come and go many times a second. A set would do, but one that takes and loses an entry with every request
 * keeps what has gone in memory until the next great collection of garbage.
 */
export type Registry<T> = {
  /** Answers how to take it out again, once. */
  add(thing: T): () => void;
  list(): T[];
};

export function createRegistry<T>(): Registry<T> {
  const places: { thing: T; index: number }[] = [];
  return {
    add(thing) {
      const place = { thing, index: places.length };
      places.push(place);
      return () => {
        const last = places.pop();
        // The last one takes the place that is free.
        if (last === undefined || last === place) return;
        places[place.index] = last;
        last.index = place.index;
      };
    },
    list: () => places.map(({ thing }) => thing),
  };
}
