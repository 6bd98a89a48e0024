/** Coalesces concurrent items into batches. One batch runs at a time; items that arrive meanwhile form the next. */
export type Coalescer<T, R> = {
  /** Resolves with the item's result after its batch ran. Rejects if the queue is full. */
  submit(item: T): Promise<R>;
  /** Fire and forget. Drops the item if the queue is full, so a limit of one merges requests. */
  tell(item: T): void;
  /** The oldest item, running or waiting; `null` when idle. */
  oldest(): T | null;
  /** The number of waiting items. */
  length(): number;
  /** Resolves when all accepted items are done. */
  drain(): Promise<void>;
  /** Rejects new items and drains. */
  close(): Promise<void>;
};

type CoalescerOptions<T, R> = {
  /** Runs a batch atomically and returns the results in its order. */
  run(batch: readonly T[]): Promise<readonly R[]>;
  batchMax: number;
  waitingMax: number;
  /** Maximum weight of a batch; a single item may exceed it. */
  weight?: { of(item: T): number; max: number };
  /**
   * Awaited before each batch to collect more items; by default a batch contains the items of the current tick. The signal
   * aborts on close.
   */
  gather?(hurry: AbortSignal): Promise<unknown>;
  /**
   * Decides about an item of a failed batch: run it alone, retry it with the next batch, or reject it with an error. By
   * default all items are rejected with the failure.
   */
  judge?(failure: unknown, item: T): "alone" | "again" | Error;
  /** The error for items that can wait no longer after a failed batch; `null` keeps them waiting. */
  expire?(failure: unknown, item: T): Error | null;
  /** The error when the queue is full. */
  createFullError?(): Error;
  /** Called once per failed batch with items that no caller awaits. */
  onTrouble?(failure: unknown): void;
  /** Called with each item that no caller awaits, if it was dropped or rejected. */
  onLost?(item: T): void;
};

type Waiting<T, R> = { item: T; resolve(result: R): void; reject(error: unknown): void };

const noWaiter = { resolve() {}, reject() {} };

/** A single item runs at once; concurrent items share a batch. */
export function createCoalescer<T, R>(options: CoalescerOptions<T, R>): Coalescer<T, R> {
  const { run, batchMax, waitingMax, gather = () => Promise.resolve(), judge, onTrouble = () => {} } = options;
  const { createFullError = () => new Error("The queue is full."), expire, weight, onLost = () => {} } = options;
  const waiting: Waiting<T, R>[] = [];
  let working: Promise<void> | null = null;
  let underWay: Waiting<T, R> | null = null;
  let hurry = new AbortController();
  let isClosed = false;

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      await gather(hurry.signal);
      await runBatch(waiting.splice(0, countNext()));
    }
    underWay = null;
    working = null;
  }

  function countNext(): number {
    if (weight === undefined) return batchMax;
    let sum = 0;
    const tooMany = waiting.findIndex(({ item }, index) => {
      sum += weight.of(item);
      return index === batchMax || (index > 0 && sum > weight.max);
    });
    return tooMany === -1 ? batchMax : tooMany;
  }

  async function runBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    underWay = batch[0] ?? null;
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => void resolve(results[index] as R));
    } catch (error) {
      await passOn(batch, error);
    }
  }

  async function passOn(batch: readonly Waiting<T, R>[], failure: unknown): Promise<void> {
    const again: Waiting<T, R>[] = [];
    const alone: Waiting<T, R>[] = [];
    for (const one of batch) {
      const next = judge === undefined ? failure : judge(failure, one.item);
      if (next === "again") again.push(one);
      else if (next === "alone" && batch.length > 1) alone.push(one);
      else giveUp(one, next === "alone" ? failure : next, onLost);
    }
    if (batch.some(({ reject }) => reject === noWaiter.reject)) onTrouble(failure);
    for (const one of expire === undefined ? [] : waiting.splice(0)) {
      const error = expire?.(failure, one.item) ?? null;
      if (error === null) waiting.push(one);
      else giveUp(one, error, onLost);
    }
    waiting.unshift(...again);
    for (const one of alone) await runBatch([one]);
  }

  function add(one: Waiting<T, R>): void {
    waiting.push(one);
    working ??= work();
  }

  async function drain(): Promise<void> {
    hurry.abort();
    while (working !== null) await working;
    hurry = new AbortController();
  }

  return {
    submit(item) {
      if (isClosed || waiting.length >= waitingMax) return Promise.reject(createFullError());
      return new Promise((resolve, reject) => add({ item, resolve, reject }));
    },
    tell(item) {
      if (isClosed || waiting.length >= waitingMax) onLost(item);
      else add({ item, resolve: noWaiter.resolve, reject: noWaiter.reject });
    },
    oldest: () => (underWay ?? waiting[0])?.item ?? null,
    length: () => waiting.length,
    drain,
    async close() {
      isClosed = true;
      await drain();
    },
  };
}

function giveUp<T, R>({ item, reject }: Waiting<T, R>, error: unknown, onLost: (item: T) => void): void {
  if (reject === noWaiter.reject) onLost(item);
  else reject(error);
}

/** Single-flight work: requests during a run are merged into one further run. */
export function createSingleFlight(
  work: () => Promise<void>,
  onTrouble: (error: unknown) => void,
): Coalescer<void, void> {
  const run = async (): Promise<[]> => {
    await work();
    return [];
  };
  return createCoalescer({ run, batchMax: 1, waitingMax: 1, onTrouble });
}
