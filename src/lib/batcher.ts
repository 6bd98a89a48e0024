/** Does things together that come at the same time. */
export type Batcher<T, R> = {
  submit(item: T): Promise<R>;
  /** Ends when everything that was submitted is answered. */
  drain(): Promise<void>;
};

type BatcherParts<T, R> = {
  /** Does all of a batch or none of it, and answers in its order. */
  run(batch: readonly T[]): Promise<readonly R[]>;
  batchMax: number;
  waitingMax: number;
  /** What those are told who come when too many wait. */
  createFullError(): Error;
  /** Whether what failed would fail for each alone as well. */
  isCommonFailure(error: unknown): boolean;
};

type Waiting<T, R> = { item: T; resolve(result: R): void; reject(error: unknown): void };

/**
 * One batch is under way at a time, and what comes in meanwhile is the next: one alone waits for nobody, and a thousand
 * share one. When a batch fails, its items are done one by one, so that one cannot fail its neighbours.
 */
export function createBatcher<T, R>(parts: BatcherParts<T, R>): Batcher<T, R> {
  const waiting: Waiting<T, R>[] = [];
  let working: Promise<void> | null = null;

  async function work(): Promise<void> {
    // Whoever submits in this same moment belongs to the same batch.
    await Promise.resolve();
    while (waiting.length > 0) await runBatch(waiting.splice(0, parts.batchMax));
    working = null;
  }

  async function runBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await parts.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      const [first] = batch;
      if (batch.length > 1 && !parts.isCommonFailure(error)) {
        for (const one of batch) await runBatch([one]);
      } else if (batch.length > 1) {
        for (const { reject } of batch) reject(error);
      } else {
        first?.reject(error);
      }
    }
  }

  return {
    submit(item) {
      if (waiting.length >= parts.waitingMax) return Promise.reject(parts.createFullError());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        working ??= work();
      });
    },
    async drain() {
      while (working !== null) await working;
    },
  };
}
