import { parseArgs } from "node:util";
import { createDatabase } from "../src/platform/database/database.ts";
import { listGatewayProcesses } from "../test/harness/gateway-processes.ts";
import { createPaidCaller } from "../test/harness/rollout/paid-caller.ts";
import { externalBinaries, startExternalPostgres } from "../test/harness/servers/external-postgres.ts";
import { shortPromptBytes, writeChatRequest } from "./chat-requests.ts";
import { forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import { readProcessCpuUs } from "./process-figures.ts";
import { openLoad } from "./run-load.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const roundMs = 3_000;
const connectionsOfProcess = 32;
const upstreamMs = 20;
const accountsMany = 8;
const ratioAtLeast = 1.7;

const loads = [
  { name: "one account", accounts: 1 },
  { name: "eight accounts", accounts: accountsMany },
] as const;

const gateways = [1, 2] as const;
type Processes = (typeof gateways)[number];

/** One round. `busiestUs` and `supervisorUs` are CPU time; with one process there is no supervisor. */
type Round = { calls: number; tookMs: number; busiestUs: number; allUs: number; supervisorUs: number };

/**
 * A gateway of one process and one of two, in turns: 32 connections per process request complete answers of an upstream
 * that takes 20 ms, beside one PostgreSQL. If the machine has too few cores for all of this, calls per second mean
 * little; so the goal is calls per second of CPU time of the busiest process, including the supervisor: the throughput
 * if each process has a core.
 */
export async function measureProcesses(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { rounds: { type: "string", default: "7" } } });
  if (externalBinaries === null)
    throw new Error("This bench needs the system's PostgreSQL: apt-get install postgresql");
  await using server = await startExternalPostgres(externalBinaries);
  await using stack = new AsyncDisposableStack();
  const upstream = await forkServer("fixed-upstream.ts", { words: [`--delay-ms=${upstreamMs}`] });
  stack.defer(() => upstream.close());
  const models = [{ id: "late", routes: [{ port: upstream.port }] }];
  const own = { SLUICE_DATABASE_URL: server.url };
  const first = await startSluice(models, { settings: own });
  stack.defer(() => first.close());
  const second = await first.startBeside({ SLUICE_PROCESSES: "2" });
  stack.defer(() => second.close());
  const places = { 1: first, 2: second };
  const keys = await createKeys(server.url);
  const figures = new Map<string, Round[]>();
  // The first round is warm-up, and is not counted.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const { name, accounts } of loads) {
      for (const processes of gateways) {
        const measured = await measureRound(places[processes], {
          ...{ keys: keys.slice(0, accounts), connections: processes * connectionsOfProcess },
        });
        if (round > 0) figures.set(`${name} ${processes}`, [...(figures.get(`${name} ${processes}`) ?? []), measured]);
      }
    }
  }
  present(figures);
}

function present(figures: ReadonlyMap<string, readonly Round[]>): void {
  const find = (load: string, processes: Processes, read: (round: Round) => number): number[] =>
    (figures.get(`${load} ${processes}`) ?? []).map(read);
  const readRate = ({ calls, tookMs }: Round): number => calls / (tookMs / 1000);
  const readCapacity = ({ calls, busiestUs }: Round): number => calls / (busiestUs / 1_000_000);
  const rows = loads.flatMap(({ name }) =>
    gateways.map((processes) => [
      `${name}, ${processes === 1 ? "one process" : "two processes"}`,
      findMedian(find(name, processes, readRate)).toFixed(0),
      findMedian(find(name, processes, readCapacity)).toFixed(0),
      findMedian(find(name, processes, ({ calls, allUs }) => allUs / calls)).toFixed(0),
      findMedian(find(name, processes, ({ calls, supervisorUs }) => supervisorUs / calls)).toFixed(0),
    ]),
  );
  const compare = (load: string, read: (round: Round) => number): number => {
    const base = find(load, 1, read);
    return findMedian(find(load, 2, read).map((value, round) => value / (base[round] ?? Number.NaN)));
  };
  const goals = loads.map(({ name }) => {
    const ratio = compare(name, readCapacity);
    const isMet = ratio >= ratioAtLeast;
    const rates = `${compare(name, readRate).toFixed(2)} ×`;
    return [name, rates, `${ratio.toFixed(2)} ×`, `${ratioAtLeast} ×`, isMet ? "met" : "MISSED"];
  });
  const text = [
    `Complete answers, an upstream of ${upstreamMs} ms, ${connectionsOfProcess} connections for each process, to one port, one PostgreSQL, everything on this machine.`,
    presentTable(
      [
        "",
        "calls a second",
        "calls a second of the busiest process's CPU",
        "CPU of a call, µs",
        "of it the supervisor's",
      ],
      rows,
    ),
    presentTable(["two processes beside one", "calls a second", "by the busiest process's CPU", "at least", ""], goals),
  ].join("\n\n");
  writeResults("processes", text);
}

async function createKeys(url: string): Promise<string[]> {
  const database = createDatabase({ address: { connectionString: url }, connectionsMax: 1, onConnectionError() {} });
  try {
    return await Promise.all(Array.from({ length: accountsMany }, () => createPaidCaller(database)));
  } finally {
    await database.destroy();
  }
}

async function measureRound(
  { port, processId }: Pick<SluiceGateway, "port" | "processId">,
  { keys, connections }: { keys: readonly string[]; connections: number },
): Promise<Round> {
  const requests = keys.map((key) =>
    writeChatRequest(
      { isStream: false, promptBytes: shortPromptBytes },
      { port, model: "late", headers: { authorization: `Bearer ${key}` } },
    ),
  );
  let asked = 0;
  const request = (): Buffer => {
    asked += 1;
    return requests[asked % requests.length] ?? Buffer.alloc(0);
  };
  const serving = await listGatewayProcesses(processId);
  const readAll = (): number[] => [processId, ...serving].map(readProcessCpuUs);
  const load = await openLoad({ port, request, isStream: false, connections });
  try {
    // Long enough for the supervisor to distribute connections that arrived at once.
    await load.run(roundMs);
    const before = readAll();
    const { requests: calls, tookMs } = await load.run(roundMs);
    const usedUs = readAll().map((after, index) => after - (before[index] ?? 0));
    const allUs = usedUs.reduce((sum, used) => sum + used, 0);
    const supervisorUs = serving.length === 0 ? 0 : (usedUs[0] ?? 0);
    return { calls, tookMs, allUs, supervisorUs, busiestUs: Math.max(...usedUs) };
  } finally {
    load.close();
  }
}
