/**
 * A registry of short-lived objects. A `Set` that changes with every request retains removed entries until the next major
 * garbage collection.
 */
export type Registry<T> = {
  /** Returns the remove function; call it once. */
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
        // Swap-remove.
        if (last === undefined || last === place) return;
        places[place.index] = last;
        last.index = place.index;
      };
    },
    list: () => places.map(({ thing }) => thing),
  };
}
