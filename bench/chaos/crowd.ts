import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { stringify } from "yaml";
import { findFreePort, runCommand } from "../../test/harness/gateway-process.ts";
import { externalBinaries, startExternalPostgres } from "../../test/harness/servers/external-postgres.ts";
import { startS3Server } from "../../test/harness/servers/s3-server.ts";
import { makePicture, voice } from "../../test/harness/upstreams/media-samples.ts";
import { queueWires } from "../../test/harness/upstreams/wires/queue-wires.ts";
import { waitUntil } from "../../test/harness/wait-until.ts";
import { type ChaosNode, createChaosNode, waitForReady } from "./chaos-node.ts";
import type { CrowdEvidence, CrowdTask } from "./check-crowd.ts";
import { draw } from "./draw.ts";
import { awaitCatalog, type Customer, createCustomers } from "./open-world.ts";
import { type CrowdKind, crowdKinds, startVendorCrowd, type VendorCrowd } from "./vendor-crowd.ts";

export type CrowdOptions = {
  seed: number;
  /** How long new tasks are submitted. */
  durationMs: number;
  /** How many tasks are open at a time. */
  openMax: number;
  jobMs: { least: number; more: number };
  nodesCount: number;
  killEveryMs: number;
  onEvent(what: string): void;
};

export type CrowdRun = CrowdEvidence & { tookMs: number; kills: number; stops: number; log: string };

const siteUrl = "https://crowd.example.com";
const keyName = "CROWD_UPSTREAM_KEY";
const submittedAtOnce = 16;
const lookEveryMs = 100;
const drainMsMax = 300_000;

/** What is asked of each vendor: one type, in a form that its wire accepts. */
const asked: Record<CrowdKind, { type: "image" | "video" | "avatar"; model: string; size?: string; seconds?: number }> =
  {
    fal: { type: "image", model: "crowd/image", size: "1024x1024" },
    ark: { type: "video", model: queueWires.ark.model, seconds: 5 },
    "black-forest-labs": { type: "image", model: queueWires["black-forest-labs"].model, size: "1024x1024" },
    dashscope: { type: "video", model: queueWires.dashscope.model, seconds: 5 },
    fireworks: { type: "image", model: queueWires.fireworks.model, size: "1024x1024" },
    "google-media": { type: "video", model: "veo-3.1-generate-preview", seconds: 8 },
    heygen: { type: "avatar", model: queueWires.heygen.model },
    kling: { type: "video", model: queueWires.kling.model, seconds: 5 },
    luma: { type: "video", model: "ray-2", seconds: 5 },
    minimax: { type: "video", model: queueWires.minimax.model, seconds: 6 },
    "openrouter-media": { type: "video", model: queueWires["openrouter-media"].model, seconds: 5 },
    replicate: { type: "image", model: queueWires.replicate.model, size: "1024x1024" },
    runway: { type: "video", model: "veo3.1", seconds: 6 },
    "vertex-media": { type: "video", model: "veo-3.1-generate-001", seconds: 8 },
    "xai-media": { type: "video", model: queueWires["xai-media"].model, seconds: 5 },
  };

/** Keeps many tasks open at all vendors while gateways are killed, lets every task end, and returns the records of both sides. */
export async function runCrowd(options: CrowdOptions): Promise<CrowdRun> {
  if (externalBinaries === null) throw new Error("The crowd needs the system's PostgreSQL: apt-get install postgresql");
  const startedAt = performance.now();
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await startExternalPostgres(externalBinaries));
  const storage = opened.use(await startS3Server());
  const nodes: ChaosNode[] = [];
  const nodeUrls = (): string[] => nodes.map(({ url }) => url);
  const vendors = opened.use(await startVendorCrowd({ ...options, siteUrl, nodeUrls }));
  const environment = {
    SLUICE_DATABASE_URL: postgres.url,
    SLUICE_SITE_URL: siteUrl,
    SLUICE_SECRET_KEY: randomBytes(32).toString("hex"),
    SLUICE_UNSHARED_NODES: "allow",
    SLUICE_LOG_FORMAT: "json",
    SLUICE_LOG_LEVEL: "error",
    SLUICE_SHUTDOWN_TIMEOUT_MS: "5000",
    SLUICE_S3_BUCKET: storage.bucket,
    SLUICE_S3_ENDPOINT: storage.endpoint,
    SLUICE_S3_PATH_STYLE: "on",
    SLUICE_S3_ACCESS_KEY_ID: "S3RVER",
    SLUICE_S3_SECRET_ACCESS_KEY: "S3RVER",
    [keyName]: "sk-1",
  };
  for (let index = 0; index < options.nodesCount; index += 1) {
    const node = createChaosNode(await findFreePort(), environment);
    opened.defer(() => node.close());
    node.start();
    nodes.push(node);
    await waitForReady([node]);
  }
  const customers = await createCustomers(postgres.url, writeCatalog(vendors.origin));
  await awaitCatalog(nodes, customers, "fal");
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  opened.defer(() => client.end());
  const disruptor = startDisruptor(nodes, options);
  try {
    await submitAll({ nodes, customers, client }, options);
  } finally {
    await disruptor.close();
  }
  options.onEvent("no more submissions");
  await endAll(client, options);
  const verify = await runCommand(["ledger", "verify", "--whole"], {
    environment: { ...environment, SLUICE_DATA_DIR: "/nonexistent/crowd" },
  });
  return {
    ...(await readTasks(client, vendors)),
    verdict: verify.exitCode === 0 ? "" : verify.stdout + verify.stderr,
    crashes: nodes.flatMap(({ crashes }) => crashes),
    ...{ kills: disruptor.kills(), stops: disruptor.stops(), tookMs: performance.now() - startedAt },
    log: nodes.map((node) => node.log()).join(""),
  };
}

type Side = { nodes: readonly ChaosNode[]; customers: readonly Customer[]; client: pg.Client };

async function submitAll({ nodes, customers, client }: Side, options: CrowdOptions): Promise<void> {
  const { seed, durationMs, openMax, onEvent } = options;
  const files = await Promise.all(customers.map((customer) => uploadFiles(nodes, customer)));
  for (const { headers } of customers) await listenForEvents(nodes, headers);
  const endsAt = performance.now() + durationMs;
  let submitted = 0;
  let isFull = false;
  while (performance.now() < endsAt) {
    const open = await countOpen(client);
    if (open >= openMax && !isFull) onEvent(`${open} tasks are open`);
    isFull ||= open >= openMax;
    const count = Math.min(openMax - open, submittedAtOnce);
    await Promise.all(
      Array.from({ length: Math.max(0, count) }, async () => {
        submitted += 1;
        const number = submitted;
        const kind = crowdKinds[number % crowdKinds.length] ?? "fal";
        const account = draw(seed, `account ${number}`, customers.length);
        const { headers } = customers[account] ?? { headers: {} };
        const { path, body } = describeRequest(kind, number, files[account]);
        const sent = { ...headers, "content-type": "application/json", "idempotency-key": `crowd-${number}` };
        await post(nodes, path, { headers: sent, body: JSON.stringify(body) }, number);
      }),
    );
    await wait(lookEveryMs);
  }
}

function describeRequest(kind: CrowdKind, number: number, files: readonly [string, string] | undefined) {
  const { type, size, seconds } = asked[kind];
  const common = { model: kind, expires_after: 3_600 };
  const prompt = `crowd ${number}!`;
  if (type === "image") return { path: "/v1/images/generations", body: { ...common, prompt, size } };
  if (type === "video") return { path: "/v1/videos/generations", body: { ...common, prompt, duration: seconds } };
  const [avatar_file_id, audio_file_id] = files ?? [];
  return { path: "/v1/avatars/generations", body: { ...common, avatar_file_id, audio_file_id } };
}

/** Until a node answers: the key makes it safe. */
async function post(
  nodes: readonly ChaosNode[],
  path: string,
  init: { headers: Record<string, string>; body: string | FormData },
  turn: number,
): Promise<Record<string, unknown>> {
  for (let attempt = 0; ; attempt += 1) {
    const node = nodes[(turn + attempt) % nodes.length];
    try {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(`${node?.url}${path}`, { method: "POST", ...init, signal });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as Record<string, unknown>;
      if (response.status < 500 && response.status !== 409 && response.status !== 429) throw new TypeError(text);
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith("{")) throw error;
    }
    await wait(lookEveryMs);
  }
}

/** Events are recorded only for accounts with an endpoint. Nothing listens at this one. */
async function listenForEvents(nodes: readonly ChaosNode[], headers: Record<string, string>): Promise<void> {
  const body = JSON.stringify({ url: `${siteUrl}/told`, event_types: [] });
  await post(nodes, "/v1/webhook_endpoints", { headers: { ...headers, "content-type": "application/json" }, body }, 0);
}

async function uploadFiles(nodes: readonly ChaosNode[], { headers }: Customer): Promise<readonly [string, string]> {
  const face = { ...(await makePicture({ width: 512, height: 512 }, 3)), name: "face.png" };
  const ids: string[] = [];
  for (const { bytes, contentType, name } of [face, { ...voice, name: "voice.mp3" }]) {
    const form = new FormData();
    form.set("purpose", "generation");
    form.set("file", new Blob([new Uint8Array(bytes)], { type: contentType }), name);
    ids.push(String((await post(nodes, "/v1/files", { headers, body: form }, 0)).id));
  }
  return [ids[0] ?? "", ids[1] ?? ""];
}

async function countOpen(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select count(*)::int as count from task_leases");
  return rows[0]?.count ?? 0;
}

/** Kills or stops a gateway again and again, and starts it. */
function startDisruptor(nodes: readonly ChaosNode[], { seed, killEveryMs, onEvent }: CrowdOptions) {
  const closing = new AbortController();
  let [kills, stops] = [0, 0];
  async function run(): Promise<void> {
    for (let turn = 0; !closing.signal.aborted; turn += 1) {
      await wait(killEveryMs, undefined, { signal: closing.signal }).catch(() => {});
      const node = nodes[draw(seed, `node ${turn}`, nodes.length)];
      if (closing.signal.aborted || node === undefined) break;
      const isKilled = draw(seed, `way ${turn}`, 10) < 7;
      if (isKilled) kills += 1;
      else stops += 1;
      onEvent(isKilled ? "a gateway is killed" : "a gateway is stopped");
      node.signal(isKilled ? "SIGKILL" : "SIGTERM");
      await node.ended();
      node.start();
      await waitForReady([node]);
    }
  }
  const running = run();
  return {
    kills: () => kills,
    stops: () => stops,
    async close(): Promise<void> {
      closing.abort();
      await running;
    },
  };
}

/** Lets all jobs end, then skips the time until the deadlines of tasks whose submission was never answered. */
async function endAll(client: pg.Client, { jobMs, onEvent }: CrowdOptions): Promise<void> {
  const unknown = "phase = 'unknown'";
  const countOthers = async (): Promise<number> => {
    await wait(lookEveryMs);
    const { rows } = await client.query(
      `select count(*)::int as count from tasks where phase <> 'ended' and not (${unknown})`,
    );
    return rows[0]?.count ?? 0;
  };
  const patienceMs = jobMs.least + jobMs.more + drainMsMax;
  await waitUntil("all known jobs to end", async () => (await countOthers()) === 0, patienceMs).catch(() => {});
  onEvent(`${await countOpen(client)} tasks without an answer are left`);
  await client.query(`update tasks set deadline_at = now() where ${unknown}`);
  await client.query("update task_leases set next_poll_at = now()");
  await waitUntil("all tasks to end", async () => (await countOpen(client)) === 0, drainMsMax).catch(() => {});
}

async function readTasks(
  client: pg.Client,
  { jobs, complaints, faults }: VendorCrowd,
): Promise<Pick<CrowdEvidence, "tasks" | "jobs" | "complaints" | "faults" | "openHolds" | "events">> {
  const tasks = await client.query<CrowdTask>(`
    select tasks.id, tasks.model as kind, tasks.state, tasks.request ->> 'prompt' as prompt, tasks.error ->> 'code' as "errorCode",
        (extract(epoch from tasks.finished_at) * 1000)::float8 as "endedAt", tasks.charge::text, holds.state as hold
      from tasks left join holds on holds.id = tasks.hold_id`);
  const holds = await client.query("select count(*)::int as count from holds where state = 'open'");
  const events = await client.query<{ id: string; count: number }>(`
    select data ->> 'task_id' as id, count(*)::int as count from events where type like 'task.%' group by 1`);
  return {
    tasks: tasks.rows,
    ...{ jobs, complaints, faults },
    openHolds: holds.rows[0]?.count ?? 0,
    events: new Map(events.rows.map(({ id, count }) => [id, count])),
  };
}

function writeCatalog(origin: string): string {
  return stringify({
    currency: "USD",
    providers: crowdKinds.map((kind) => {
      const base = kind === "fal" ? "" : queueWires[kind].base;
      return { id: kind, kind, base_url: `${origin}/${kind}${base}`, api_keys: [`\${${keyName}}`] };
    }),
    models: crowdKinds.map((kind) => {
      const { type, model, size, seconds } = asked[kind];
      const capability = { image: "text_to_image", video: "text_to_video", avatar: "audio_driven_avatar" }[type];
      const limits = {
        image: { sizes: [size], max_n: 1, max_prompt_length: 100 },
        video: { durations: [seconds], aspect_ratios: ["16:9"], max_prompt_length: 100 },
        avatar: { durations: [60], aspect_ratios: ["9:16"] },
      }[type];
      const routes = [{ provider: kind, upstream_model: model }];
      return { id: kind, name: kind, type, capabilities: [capability], limits, routes };
    }),
    prices: crowdKinds.map((kind) => {
      const isImage = asked[kind].type === "image";
      return isImage
        ? { model: kind, billing_type: "per_call", unit: "image", price: "0.0001" }
        : { model: kind, billing_type: "duration", unit: "second", price: "0.0001" };
    }),
  });
}
