export type Turnstile = {
  /** Does the work as soon as there is a place, in the order of asking. */
  pass<T>(work: () => Promise<T>): Promise<T>;
};

/** Lets so many do their work at a time; the others wait. */
export function createTurnstile(placesMax: number): Turnstile {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async pass(work) {
      if (taken >= placesMax) await new Promise<void>((proceed) => waiting.push(proceed));
      else taken += 1;
      try {
        return await work();
      } finally {
        // Whoever is next takes the place as it is.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
}
