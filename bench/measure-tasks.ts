import pg from "pg";
import { Pool } from "undici";
import { waitUntil } from "../test/harness/wait-until.ts";
import { readClusterAddress } from "./cluster-address.ts";
import { findMedian } from "./measure-cpu.ts";
import { measureWebhooks } from "./measure-webhooks.ts";
import { type MediaUpstream, startMediaUpstream } from "./media-upstream.ts";
import { openPlainTasks, type PlainTasks } from "./plain-tasks.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import type { Figure } from "./task-figures.ts";
import { presentTable, writeResults } from "./write-results.ts";

const callers = 64;
const rounds = 5;
const roundMs = 1_500;
const loneTasks = 200;
const crowdTasks = 1_500;
const openTasks = 100_000;
const pollRounds = 4;
const submissionsGoalMin = 1_000;
const floorShareMin = 0.5;

/** How many tasks can be submitted, started, finished and polled, beside PostgreSQL's own cost of the same rows. */
export async function measureTasks(): Promise<void> {
  const upstream = await startMediaUpstream();
  const rows: Figure[] = [];
  try {
    rows.push(...(await withSluice(upstream, { SLUICE_ROLES: "http" }, measureSubmissions)));
    rows.push(...(await withSluice(upstream, {}, (bench) => measureWork(bench, upstream))));
    rows.push(...(await withSluice(upstream, {}, measurePolling)));
  } finally {
    await upstream.close();
  }
  rows.push(...(await measureWebhooks()));
  const verdict = ({ isMet }: Figure): string => (isMet === null ? "" : isMet ? "met" : "MISSED");
  const table = presentTable(
    ["what", "figure", "plain", "goal", "verdict"],
    rows.map((row) => [row.what, row.figure, row.floor, row.goal, verdict(row)]),
  );
  writeResults("tasks", table);
  if (rows.some(({ isMet }) => isMet === false)) process.exitCode = 1;
}

type Bench = { sluice: SluiceGateway; plain: PlainTasks; client: pg.Client; http: Pool };

async function withSluice(
  upstream: MediaUpstream,
  settings: Record<string, string>,
  measure: (bench: Bench) => Promise<Figure[]>,
): Promise<Figure[]> {
  const sluice = await startSluice({ catalog: writeCatalog(upstream.port) }, { settings });
  const address = readClusterAddress(sluice.dataDir);
  const client = new pg.Client(address);
  await client.connect();
  const plain = await openPlainTasks(address, callers);
  const http = new Pool(`http://127.0.0.1:${sluice.port}`, { connections: callers });
  try {
    return await measure({ sluice, plain, client, http });
  } finally {
    await http.close();
    await plain.close();
    await client.end();
    await sluice.close();
  }
}

function writeCatalog(port: number): object {
  const base_url = `http://127.0.0.1:${port}/v1`;
  const api_keys = ["${BENCH_UPSTREAM_KEY}"];
  const limits = { sizes: ["64x64"], max_n: 1, max_prompt_length: 100 };
  const describe = (id: string) => ({
    ...{ id, name: id, type: "image", capabilities: ["text_to_image"], limits },
    routes: [{ provider: id, upstream_model: "bench/model" }],
  });
  const price = { billing_type: "per_call", unit: "image", price: "0.00002" };
  return {
    currency: "USD",
    providers: [
      { id: "instant", kind: "openai-compatible", base_url, api_keys },
      { id: "slow", kind: "fal", base_url, api_keys },
    ],
    models: [describe("instant"), describe("slow")],
    prices: [
      { model: "instant", ...price },
      { model: "slow", ...price },
    ],
  };
}

let submissions = 0;

/** A submission with everything on: caller, limits, price, hold, idempotency key, job. */
async function submitTask({ http, sluice }: Bench, prompt: string): Promise<void> {
  submissions += 1;
  const { statusCode, body } = await http.request({
    method: "POST",
    path: "/v1/images/generations",
    headers: { ...sluice.headers, "content-type": "application/json", "idempotency-key": `bench-${submissions}` },
    body: JSON.stringify({ model: "instant", prompt }),
  });
  const text = await body.text();
  if (statusCode !== 202) throw new Error(`A submission was answered with ${statusCode}: ${text}`);
}

/** Operations per second, with many concurrent callers. */
async function measureRate(work: (turn: string) => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const run = async (): Promise<void> => {
    while (performance.now() - startedAt < roundMs) {
      await work(`${startedAt}-${count++}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, run));
  return (count / (performance.now() - startedAt)) * 1000;
}

async function measureSubmissions(bench: Bench): Promise<Figure[]> {
  const ours: number[] = [];
  const floor: number[] = [];
  // The first round is warm-up, and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const figures = [await measureRate((turn) => submitTask(bench, turn)), await measureRate(bench.plain.submit)];
    if (round === 0) continue;
    ours.push(figures[0] ?? 0);
    floor.push(figures[1] ?? 0);
  }
  const [rate, floorRate] = [findMedian(ours), findMedian(floor)];
  return [
    {
      what: `submissions of one account, ${callers} callers, by HTTP`,
      figure: `${present(rate)} /s`,
      floor: `${present(floorRate)} /s`,
      goal: `≥ ${floorShareMin} × plain`,
      isMet: rate >= floorShareMin * floorRate,
    },
    {
      what: "the same, in all",
      figure: `${present(rate)} /s`,
      floor: "",
      goal: `≥ ${present(submissionsGoalMin)} /s`,
      isMet: rate >= submissionsGoalMin,
    },
  ];
}

async function measureWork(bench: Bench, { arrivals }: MediaUpstream): Promise<Figure[]> {
  const startMs: number[] = [];
  for (let turn = 0; turn < loneTasks; turn += 1) {
    const prompt = `lone ${turn}`;
    await submitTask(bench, prompt);
    const answeredAt = performance.now();
    await waitUntil("the task at the upstream", () => arrivals.has(prompt));
    // A task that started before its submission was answered started at once.
    startMs.push(Math.max(0, (arrivals.get(prompt) ?? 0) - answeredAt));
  }
  const countDone = async (): Promise<number> =>
    Number((await bench.client.query("select count(*) from tasks where state = 'succeeded'")).rows[0]?.count);
  await waitUntil("all tasks", async () => (await countDone()) === loneTasks, 60_000);
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let turn = caller; turn < crowdTasks; turn += callers) await submitTask(bench, `crowd ${turn}`);
    }),
  );
  await waitUntil("all tasks", async () => (await countDone()) === loneTasks + crowdTasks, 300_000);
  const rate = (crowdTasks / (performance.now() - startedAt)) * 1000;
  const floor = await measureRate(async (turn) => {
    await bench.plain.submit(turn);
    await bench.plain.finish(turn);
  });
  const sorted = startMs.toSorted((a, b) => a - b);
  return [
    {
      what: "from the answer to a submission to the upstream's hearing of it, p50 / p99",
      figure: `${findMedian(sorted).toFixed(1)} / ${(sorted[Math.floor(sorted.length * 0.99)] ?? 0).toFixed(1)} ms`,
      floor: "",
      goal: "",
      isMet: null,
    },
    {
      what: "tasks from submission to stored output, an instant upstream",
      figure: `${present(rate)} /s`,
      floor: `${present(floor)} /s`,
      goal: "",
      isMet: null,
    },
  ];
}

/** Every task is polled once per round; a round slower than the first would show that polling gets slower. */
async function measurePolling(bench: Bench): Promise<Figure[]> {
  const { client } = bench;
  await submitTask(bench, "one to copy");
  await waitUntil("the first task", async () => {
    const { rows } = await client.query("select 1 from tasks where state = 'succeeded'");
    return rows.length === 1;
  });
  const handle = { requestId: "x", statusPath: "/v1/x/status", resultPath: "/v1/x", cancelPath: "/v1/x/cancel" };
  const target = { providerId: "slow", upstreamModel: "bench/model", keyNumber: 0 };
  await client.query(
    `insert into tasks (id, account_id, key_id, type, model, state, phase, progress, version, request, inputs, steps, terms,
        output_ids, output, warnings, charge, units, request_id, tried, target, provider_id, handle,
        deadline_at, created_at, submitted_at, started_at, updated_at)
      select 'task_open' || number, account_id, key_id, type, 'slow', 'processing', 'running', 1, 2, request, inputs, steps, terms,
        output_ids, '[]', '[]', 0, 0, request_id, '[]', $1, 'slow', $2,
        now() + interval '1 day', now(), now(), now(), now()
      from tasks, generate_series(1, ${openTasks}) as numbers (number) where state = 'succeeded'`,
    [JSON.stringify(target), JSON.stringify(handle)],
  );
  await client.query(
    "insert into task_leases select id, now(), 1, 0 from tasks where phase = 'running' order by id; analyze tasks; analyze task_leases",
  );
  const tookMs: number[] = [];
  let startedAt = performance.now();
  for (let round = 1; round <= pollRounds; round += 1) {
    await waitUntil(`round ${round}`, () => isRoundOver(client, round), 600_000);
    tookMs.push(performance.now() - startedAt);
    startedAt = performance.now();
  }
  const seconds = tookMs.map((ms) => (ms / 1000).toFixed(1));
  const isSteady = (tookMs.at(-1) ?? 0) <= 1.25 * (tookMs[0] ?? 0);
  return [
    {
      what: `${present(openTasks)} open tasks, each asked about once a round: seconds of ${pollRounds} rounds`,
      figure: seconds.join(", "),
      floor: "",
      goal: "last ≤ 1.25 × first",
      isMet: isSteady,
    },
  ];
}

async function isRoundOver(client: pg.Client, round: number): Promise<boolean> {
  const { rows } = await client.query("select 1 from task_leases where polls < $1 limit 1", [round]);
  return rows.length === 0;
}

function present(count: number): string {
  return Math.round(count).toLocaleString("en");
}
