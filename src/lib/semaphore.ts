export type Semaphore = {
  /** Does the work as soon as there is a permit, in the order of asking. */
  run<T>(work: () => Promise<T>): Promise<T>;
};

/** Lets so many do their work at a time; the others wait. */
export function createSemaphore(permitsMax: number): Semaphore {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async run(work) {
      if (taken >= permitsMax) await new Promise<void>((proceed) => waiting.push(proceed));
      else taken += 1;
      try {
        return await work();
      } finally {
        // The next in line inherits the permit.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
}
