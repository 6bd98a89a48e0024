import { parseArgs } from "node:util";
import pg from "pg";
import { checkEverything, checkSinceSeals } from "../src/features/ledger/index.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createDatabase } from "../src/platform/database/database.ts";
import { type ChatLoadName, chatLoads, measureRound } from "./chat-rounds.ts";
import { type ChatTarget, describeModels, describeSluice } from "./chat-targets.ts";
import { readClusterAddress } from "./cluster-address.ts";
import { type Fill, fillAccounts, fillCharges } from "./fill-ledger.ts";
import { forkServer } from "./fork-server.ts";
import { findMedian } from "./measure-cpu.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const hotPathGoalMax = 1.2;
const pageGoalMsMax = 300;
const dayGoalMsMax = 60_000;
const pageReads = 5;
const roundMs = 1_000;
const warmUpMs = 3_000;
/** The single caller comes last: background work of the server weighs most beside few calls. */
const hotLoads: readonly ChatLoadName[] = ["whole32", "stream32", "whole1"];
const lastDay = 29 / 30;

/** The requests of the console's pages for the large account; the console's own API has the same under another path. */
const pages: readonly [name: string, path: string][] = [
  ["usage: 30 days", "/usage"],
  ["usage: 30 days by model and key", "/usage?group_by=day,model,key"],
  ["usage: 7 days by the hour", "/usage?group_by=hour,model&from=$week"],
  ["usage: one key", "/usage?group_by=day&key_id=key_bench1"],
  ["charges: newest", "/charges?limit=50"],
  ["charges: one key", "/charges?limit=50&key_id=key_bench1"],
  ["statement: newest", "/ledger?limit=50"],
  ["holds", "/holds?limit=50"],
  ["balance", "/balance"],
  ["tasks: newest", "/tasks?limit=50"],
  ["tasks: of a state", "/tasks?limit=50&status=canceled"],
  ["events: newest", "/events?limit=50"],
];

type Row = [what: string, figure: string, goal: string, verdict: string];

/**
 * The cost of a grown database: `npm run bench -- growth --scale 10` has ten million charges, a million tasks and a
 * hundred thousand accounts. Calls are measured in turns with a gateway on an empty database.
 */
export async function measureGrowth(words: string[]): Promise<void> {
  const options = { scale: { type: "string", default: "1" }, rounds: { type: "string", default: "8" } } as const;
  const { values } = parseArgs({ args: words, options });
  const scale = Number(values.scale);
  const fill = { charges: 1_000_000 * scale, tasks: 100_000 * scale, accounts: Math.ceil(10_000 * scale) };
  const upstream = await forkServer("fixed-upstream.ts");
  const gateways: SluiceGateway[] = [];
  try {
    for (const _ of ["empty", "full"]) gateways.push(await startSluice(describeModels(upstream.port)));
    const [empty, full] = gateways.map((gateway) => describeSluice("other", gateway));
    const gateway = gateways[1];
    if (empty === undefined || full === undefined || gateway === undefined) throw new Error("There is no gateway.");
    const rows = await growAndVerify(gateway, fill);
    for (const page of pages) rows.push(await measurePage(gateway, page));
    for (const load of hotLoads)
      rows.push(...(await compareLoad(load, { empty, full, rounds: Number(values.rounds) })));
    const count = (number: number): string => number.toLocaleString("en");
    const sentence = `${count(fill.charges)} charges, ${count(fill.tasks)} tasks, ${count(fill.accounts)} accounts; one account has a tenth of everything.`;
    writeResults("growth", `${sentence}\n\n${presentTable(["what", "figure", "goal", "verdict"], rows)}`);
    if (rows.some(([, , , verdict]) => verdict === "MISSED")) process.exitCode = 1;
  } finally {
    for (const gateway of gateways) await gateway.close();
    await upstream.close();
  }
}

/** Fills the database, checks all of it, adds a day, and checks that. */
async function growAndVerify(gateway: SluiceGateway, fill: Fill): Promise<Row[]> {
  const address = readClusterAddress(gateway.dataDir);
  const client = new pg.Client(address);
  await client.connect();
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const check = {
    now: systemClock.now(),
    onFound: (outcome: object) => {
      throw new Error(`The ledger is wrong: ${JSON.stringify(outcome).slice(0, 1000)}`);
    },
  };
  try {
    const filling = await time("filled", async () => {
      await fillAccounts(client, fill);
      await fillCharges(client, fill, { from: 0, to: lastDay });
    });
    await client.query("vacuum analyze");
    const whole = await time("checked", () => checkEverything(database, { ...check, place: "own" }));
    await fillCharges(client, fill, { from: lastDay, to: 1 });
    const day = await time("checked a day", () => checkSinceSeals(database, check));
    return [
      ["filled in", presentSeconds(filling), "", ""],
      ["ledger verify --whole", presentSeconds(whole), "", ""],
      ["ledger verify, after a day", presentSeconds(day), "≤ 60 s", day <= dayGoalMsMax ? "met" : "MISSED"],
      ...(await listSizes(client)),
    ];
  } finally {
    await database.destroy();
    await client.end();
  }
}

async function listSizes(client: pg.Client): Promise<Row[]> {
  const { rows } = await client.query<{ name: string; size: string }>(`
    select * from (select 'the database' as name, pg_database_size(current_database()) as bytes
      union all
      select coalesce(inhparent, pg_class.oid)::regclass::text, sum(pg_total_relation_size(pg_class.oid))
        from pg_class left join pg_inherits on inhrelid = pg_class.oid
        where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1
    ) sizes cross join lateral (select pg_size_pretty(bytes::bigint) as size) pretty where bytes > 10000000 order by bytes desc`);
  return rows.map(({ name, size }) => [`on disk: ${name}`, size, "", ""]);
}

async function measurePage({ port, headers }: SluiceGateway, [name, path]: (typeof pages)[number]): Promise<Row> {
  const week = new Date(systemClock.now().getTime() - 7 * 24 * 60 * 60_000).toISOString().slice(0, 10);
  const tookMs: number[] = [];
  for (let read = 0; read <= pageReads; read += 1) {
    const startedAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1${path.replace("$week", week)}`, { headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    // The first one warms connections up.
    if (read > 0) tookMs.push(performance.now() - startedAt);
  }
  const medianMs = findMedian(tookMs);
  const goal = `≤ ${pageGoalMsMax} ms`;
  return [`page, ${name}`, `${medianMs.toFixed(0)} ms`, goal, medianMs <= pageGoalMsMax ? "met" : "MISSED"];
}

async function compareLoad(
  load: ChatLoadName,
  { empty, full, rounds }: { empty: ChatTarget; full: ChatTarget; rounds: number },
): Promise<Row[]> {
  for (const target of [empty, full]) await measureRound(target, chatLoads[load], warmUpMs);
  const ratios: { cpu: number[]; whole: number[] } = { cpu: [], whole: [] };
  for (let round = 0; round < rounds; round += 1) {
    const turns = round % 2 === 0 ? [empty, full] : [full, empty];
    const measured = new Map<ChatTarget, { cpuUs: number; wholeMs: number }>();
    for (const target of turns) {
      const { cpuUs, databaseCpuUs, wholeMs } = await measureRound(target, chatLoads[load], roundMs);
      measured.set(target, { cpuUs: cpuUs + (databaseCpuUs ?? 0), wholeMs: findMedian(wholeMs) });
    }
    const [one, other] = [measured.get(full), measured.get(empty)];
    if (one === undefined || other === undefined) continue;
    ratios.cpu.push(one.cpuUs / other.cpuUs);
    ratios.whole.push(one.wholeMs / other.wholeMs);
  }
  const present = (what: string, values: readonly number[]): Row => {
    const ratio = findMedian(values);
    const verdict = ratio <= hotPathGoalMax ? "met" : "MISSED";
    return [`${chatLoads[load].name}: ${what} beside empty`, `${ratio.toFixed(2)} ×`, `≤ ${hotPathGoalMax} ×`, verdict];
  };
  return [present("CPU of a call", ratios.cpu), present("median latency", ratios.whole)];
}

async function time(what: string, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  const tookMs = performance.now() - startedAt;
  console.error(`${what} in ${presentSeconds(tookMs)}`);
  return tookMs;
}

function presentSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
