import { type LoadConnection, openLoadConnection, requireWhole } from "./load-connection.ts";

export type LoadFigures = {
  requests: number;
  tookMs: number;
  /** From sending a request to the end of its answer, and to its first data, for each request. */
  wholeMs: number[];
  firstDataMs: number[];
};

/** The request is the same each time, or created for each call. */
type Load = { port: number; request: Buffer | (() => Buffer); isStream: boolean; connections: number };

/** Connections that send one request after another, each as soon as the last is answered. */
export async function openLoad({ port, request, isStream, connections }: Load) {
  const opened = await Promise.all(Array.from({ length: connections }, () => openLoadConnection(port)));

  async function askOnce(index: number, figures: LoadFigures): Promise<void> {
    const startedAtMs = performance.now();
    const answer = await getConnection(index).ask(typeof request === "function" ? request() : request);
    requireWhole(answer, isStream);
    figures.requests += 1;
    figures.wholeMs.push(performance.now() - startedAtMs);
    if (answer.firstDataAtMs !== null) figures.firstDataMs.push(answer.firstDataAtMs - startedAtMs);
    if (answer.isLast) opened[index] = await openLoadConnection(port);
  }

  function getConnection(index: number): LoadConnection {
    const connection = opened[index];
    if (connection === undefined) throw new Error("There are not so many connections.");
    return connection;
  }

  return {
    /** One request on each connection, so that all upstream connections are open too. */
    warmUp: () => runAll(connections, (index) => askOnce(index, createFigures())),
    /** Throws when any call fails, with the number of failures. */
    async run(lastsMs: number): Promise<LoadFigures> {
      const figures = createFigures();
      const startedAtMs = performance.now();
      await runAll(connections, async (index) => {
        do await askOnce(index, figures);
        while (performance.now() - startedAtMs < lastsMs);
      });
      return { ...figures, tookMs: performance.now() - startedAtMs };
    },
    close(): void {
      for (const connection of opened) connection.close();
    },
  };
}

async function runAll(count: number, work: (index: number) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)));
  const failures = outcomes.filter(({ status }) => status === "rejected");
  const [first] = failures;
  if (first?.status !== "rejected") return;
  throw new Error(`${failures.length} of ${count} connections failed: ${first.reason}`);
}

function createFigures(): LoadFigures {
  return { requests: 0, tookMs: 0, wholeMs: [], firstDataMs: [] };
}
