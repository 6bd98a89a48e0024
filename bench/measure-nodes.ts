import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { externalBinaries, startExternalPostgres } from "../test/harness/servers/external-postgres.ts";
import { shortPromptBytes, writeChatRequest } from "./chat-requests.ts";
import { forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import { openLoad } from "./run-load.ts";
import { startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const roundMs = 3_000;
const connectionsOfNode = 32;
const upstreamMs = 20;

const loads = [
  { name: "one node", nodes: 1, isKeyed: false },
  { name: "two nodes", nodes: 2, isKeyed: false },
  { name: "one node, Idempotency-Key", nodes: 1, isKeyed: true },
  { name: "two nodes, Idempotency-Key", nodes: 2, isKeyed: true },
] as const;
type LoadName = (typeof loads)[number]["name"];

const goals: readonly { name: string; of: LoadName; beside: LoadName; atLeast: number }[] = [
  { name: "two nodes on one account", of: "two nodes", beside: "one node", atLeast: 1.6 },
  { name: "calls with a key", of: "one node, Idempotency-Key", beside: "one node", atLeast: 0.7 },
  {
    name: "two nodes, calls with a key",
    of: "two nodes, Idempotency-Key",
    beside: "one node, Idempotency-Key",
    atLeast: 1.5,
  },
];

/**
 * One account on one node and on two, with and without keys, in turns: complete answers of an upstream that takes 20
 * ms, with 32 connections to each node. `--beside <checkout>` measures another checkout as well.
 */
export async function measureNodes(words: string[]): Promise<void> {
  const options = { rounds: { type: "string", default: "7" }, beside: { type: "string" } } as const;
  const { values } = parseArgs({ args: words, options });
  const own = await measureCheckout(undefined, Number(values.rounds));
  const other =
    values.beside === undefined ? null : await measureCheckout(resolve(values.beside), Number(values.rounds));
  const rows = loads.map(({ name }) => [
    name,
    findMedian(own.get(name) ?? []).toFixed(0),
    other === null ? "" : findMedian(other.get(name) ?? []).toFixed(0),
  ]);
  const goalRows = goals.map((goal) => {
    const ratio = compare(own, goal);
    const isMet = ratio >= goal.atLeast;
    const beside = other === null ? "" : `${compare(other, goal).toFixed(2)} ×`;
    return [goal.name, `${ratio.toFixed(2)} ×`, beside, `${goal.atLeast} ×`, isMet ? "met" : "MISSED"];
  });
  const text = [
    `One account, complete answers, an upstream of ${upstreamMs} ms, ${connectionsOfNode} connections to each node, one PostgreSQL.`,
    presentTable(["calls a second", "this", "beside"], rows),
    presentTable(["goal", "this", "beside", "at least", ""], goalRows),
  ].join("\n\n");
  writeResults("nodes", text);
}

type Figures = Map<LoadName, number[]>;

/** The median of the ratios, round by round. */
function compare(figures: Figures, { of, beside }: { of: LoadName; beside: LoadName }): number {
  const base = figures.get(beside) ?? [];
  return findMedian((figures.get(of) ?? []).map((rate, round) => rate / (base[round] ?? Number.NaN)));
}

async function measureCheckout(checkoutDir: string | undefined, rounds: number): Promise<Figures> {
  if (externalBinaries === null)
    throw new Error("This bench needs the system's PostgreSQL: apt-get install postgresql");
  await using server = await startExternalPostgres(externalBinaries);
  const upstream = await forkServer("fixed-upstream.ts", { words: [`--delay-ms=${upstreamMs}`] });
  const models = [{ id: "late", routes: [{ port: upstream.port }] }];
  const gateway = await startSluice(models, { checkoutDir, settings: { SLUICE_DATABASE_URL: server.url } });
  const beside = await gateway.startBeside();
  const figures: Figures = new Map(loads.map(({ name }) => [name, []]));
  try {
    // The first round is warm-up, and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, nodes, isKeyed } of loads) {
        const ports = [gateway.port, beside.port].slice(0, nodes);
        const rates = await Promise.all(ports.map((port) => measureRate(port, gateway.headers, isKeyed)));
        if (round > 0) figures.get(name)?.push(rates.reduce((sum, rate) => sum + rate, 0));
      }
    }
  } finally {
    await beside.close();
    await gateway.close();
    await upstream.close();
  }
  return figures;
}

async function measureRate(port: number, headers: Record<string, string>, isKeyed: boolean): Promise<number> {
  const write = (more: Record<string, string>): Buffer =>
    writeChatRequest(
      { isStream: false, promptBytes: shortPromptBytes },
      { port, model: "late", headers: { ...headers, ...more } },
    );
  const plain = write({});
  const request = isKeyed ? () => write({ "idempotency-key": randomBytes(12).toString("hex") }) : plain;
  const load = await openLoad({ port, request, isStream: false, connections: connectionsOfNode });
  try {
    const { requests, tookMs } = await load.run(roundMs);
    return requests / (tookMs / 1000);
  } finally {
    load.close();
  }
}
