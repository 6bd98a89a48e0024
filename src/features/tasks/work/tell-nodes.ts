/** Sends notifications after the commits that they are about, several in one statement. */
export type Teller<T> = {
  add(news: T): void;
  /** Ends when everything is told. */
  drain(): Promise<void>;
};

/**
 * Not in the transactions themselves: one that notifies makes every other one that does wait until it is on disk. What is
 * told meanwhile goes together. Should a process die in between, those who wait look for themselves.
 */
export function createTeller<T>({
  tell,
  onTrouble,
}: {
  tell(news: readonly T[]): Promise<void>;
  onTrouble(error: unknown): void;
}): Teller<T> {
  const untold: T[] = [];
  let telling: Promise<void> | null = null;

  async function tellAll(): Promise<void> {
    while (untold.length > 0) await tell(untold.splice(0)).catch(onTrouble);
    telling = null;
  }

  return {
    add(news) {
      untold.push(news);
      telling ??= tellAll();
    },
    async drain() {
      while (telling !== null) await telling;
    },
  };
}
