export type LoneWorker = {
  /** Has the work done from now on: at once, or once more after what is being done. */
  ask(): void;
  /** Settles when nothing is being done. */
  settle(): Promise<void>;
};

/** Does some work one time after another, never twice at once. However often it is asked meanwhile, once more will do. */
export function createLoneWorker(work: () => Promise<void>, onTrouble: (error: unknown) => void): LoneWorker {
  let isAsked = false;
  let working: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (isAsked) {
      isAsked = false;
      // Whoever needs it done asks again; here nobody is left to hear of it.
      await work().catch(onTrouble);
    }
    working = null;
  }

  return {
    ask() {
      isAsked = true;
      working ??= run();
    },
    async settle() {
      await working;
    },
  };
}
