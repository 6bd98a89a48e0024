import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { releaseHold } from "../../../src/features/ledger/index.ts";
import type { HoldId } from "../../../src/lib/ids.ts";
import { inTransaction } from "../../../src/platform/database/database.ts";
import { type MetricEntry, metricTable } from "../../../src/platform/observability/metric-table.ts";
import { serveMetrics } from "../../../src/platform/observability/serve-metrics.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { type Scrape, scrapeMetrics } from "../../harness/scrape-metrics.ts";
import { openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { hasPrometheus, startPrometheus } from "../../harness/servers/prometheus-server.ts";
import { startWebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { openTaskStage, paths } from "../../harness/tasks/task-stage.ts";
import { createRunningClock } from "../../harness/test-clock.ts";
import { startGateway } from "../../harness/test-gateway.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** After this time the database is read again. */
const readAgainMs = 15_000;
const entries: readonly MetricEntry[] = Object.values(metricTable);
const talk = { model: "talk", messages: [{ role: "user", content: "Hi" }] };

/** A separate gateway for each test, so that the counts come from the test alone. */
async function openWatched() {
  const stack = new AsyncDisposableStack();
  const clock = createRunningClock();
  const database = stack.use(await openGatedDatabase());
  const settings = { database_url: database.url, metrics_port: 0 };
  const stage = stack.use(await openTaskStage({ clock, settings, sharedDatabase: database.direct }));
  const caller = await stage.createCaller();
  const scrape = (headers?: Record<string, string>): Promise<Scrape> =>
    scrapeMetrics(stage.gateway.metricsPort, headers);
  return {
    ...{ clock, database, stage, caller, scrape },
    async ask(body: object): Promise<number> {
      const response = await caller.post("/chat/completions", body);
      await response.text();
      return response.status;
    },
    /**
     * Scrapes after the database was read again, which a scrape waits for only briefly, and after every request was
     * counted, which happens when its connection is done with it.
     */
    async scrapeAnew({ inProgress } = { inProgress: 0 }): Promise<Scrape> {
      clock.advance(readAgainMs);
      return await waitUntil("the database to be read and every request to be counted", async () => {
        const now = await scrape();
        const ages = Object.values(now.list("sluice_database_reading_age"));
        const isAnew = ages.length > 0 && ages.every((age) => age < readAgainMs / 1000);
        const isReady = now.read("sluice_ready") === 1;
        return isAnew && isReady && now.read("sluice_http_requests_in_progress") === inProgress && now;
      });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The name of a series without a histogram's suffix, and the names of its labels. */
function parseSeries(series: string): { name: string; labels: string[] } {
  const [, name = "", labels = ""] = /^([a-z_]+)(?:\{(.*)\})?$/.exec(series) ?? [];
  return { name, labels: [...labels.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)].map(([, label = ""]) => label) };
}

function findEntry(name: string): MetricEntry | undefined {
  return entries.find((entry) => {
    const endings = entry.kind === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    return endings.some((ending) => name === entry.name + ending);
  });
}

describe("metrics", () => {
  test("include the whole table before any event, and nothing that is not in it", async () => {
    await using gateway = await startGateway({ settings: { metrics_port: 0 } });
    const { text, list } = await scrapeMetrics(gateway.metricsPort);
    const typed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => ({ name, kind }));
    expect(typed).toEqual(entries.map(({ name, kind }) => ({ name, kind })));
    const open = entries.filter(({ labels }) => labels.some(({ values }) => values === undefined));
    const told = new Set(Object.keys(list("")).map((series) => findEntry(parseSeries(series).name)));
    // Metrics whose labels depend on events have no line yet.
    expect(entries.filter((entry) => !told.has(entry) && !open.includes(entry))).toEqual([]);
    for (const series of Object.keys(list(""))) {
      const { name, labels } = parseSeries(series);
      const entry = findEntry(name);
      expect(entry, series).toBeDefined();
      expect(labels, series).toEqual([
        ...(entry?.labels.map((label) => label.name) ?? []),
        ...(name.endsWith("_bucket") ? ["le"] : []),
      ]);
    }
    expect(list("sluice_build_info")).toEqual({ 'sluice_build_info{version="0.2.0",currency="USD"}': 1 });
    expect(list("sluice_redis_fallback")).toEqual({ sluice_redis_fallback: 0 });
  });

  test("count exactly what happened", async () => {
    await using watched = await openWatched();
    const { clock, stage, caller, ask } = watched;
    await using receiver = await startWebhookReceiver();
    receiver.answerWith(500, 200);
    const gate = createGate();
    stage.media.alwaysFor(({ prompt }) => prompt === "A late stamp", { beforeFinish: gate });
    const body = { model: "stamp", prompt: "A late stamp", callback_url: receiver.url };
    const { id } = await caller.submit(paths.image, body);
    await caller.awaitTask(id, ["processing"]);
    const during = await watched.scrapeAnew();
    expect({ ...during.list("sluice_tasks_open"), ...during.list("sluice_holds_open") }).toEqual({
      'sluice_tasks_open{state="queued"}': 0,
      'sluice_tasks_open{state="processing"}': 1,
      'sluice_holds_open{unit="money"}': 1,
      'sluice_holds_open{unit="text"}': 0,
      'sluice_holds_open{unit="image"}': 0,
      'sluice_holds_open{unit="video"}': 0,
      sluice_holds_open_amount: 0.3,
    });
    gate.open();
    await caller.awaitTask(id);
    stage.upstream.script({ text: "One two", usage: { inputTokens: 10, outputTokens: 4 } });
    expect(await ask(talk)).toBe(200);
    stage.upstream.script({ pieces: ["One", " two"], usage: { inputTokens: 10, outputTokens: 6 } });
    expect(await ask({ ...talk, stream: true })).toBe(200);
    stage.upstream.script({ status: 500 });
    expect(await ask(talk)).toBe(503);
    expect(await ask({ ...talk, model: "unknown" })).toBe(404);
    expect(await ask({ ...talk, messages: [] })).toBe(400);
    expect((await stage.fetch(`${stage.gateway.siteUrl}/metrics`)).status).toBe(404);
    const untilDelivery = (what: string, column: "attempt_count" | "state", value: number | string): Promise<boolean> =>
      waitUntil(`the delivery to have ${what}`, async () => {
        const found = await stage.database.selectFrom("deliveries").select(column).execute();
        return found.length === 1 && found.every((row) => row[column] === value);
      });
    await untilDelivery("failed once", "attempt_count", 1);
    // The second attempt is due after five seconds, which pass here.
    clock.advance(6000);
    await untilDelivery("succeeded", "state", "succeeded");
    const { list, read } = await watched.scrapeAnew();
    const chat = 'method="POST",route="/v1/chat/completions"';
    const counts = Object.fromEntries(
      Object.entries({ ...list('sluice_http_request_duration_seconds_count{method="POST"') }).filter(
        ([, count]) => count > 0,
      ),
    );
    expect(counts).toEqual({
      [`sluice_http_request_duration_seconds_count{${chat},status_class="2xx"}`]: 2,
      [`sluice_http_request_duration_seconds_count{${chat},status_class="4xx"}`]: 2,
      [`sluice_http_request_duration_seconds_count{${chat},status_class="5xx"}`]: 1,
      'sluice_http_request_duration_seconds_count{method="POST",route="/v1/images/generations",status_class="2xx"}': 1,
    });
    expect(read('sluice_http_request_duration_seconds_count{method="GET",route="none",status_class="4xx"}')).toBe(1);
    expect(list("sluice_time_to_first_token_seconds_count")).toEqual({
      'sluice_time_to_first_token_seconds_count{route="/v1/chat/completions",model="talk"}': 1,
    });
    expect({ ...list("sluice_tokens"), ...list("sluice_charge"), ...list("sluice_lost") }).toEqual({
      'sluice_tokens_total{model="talk",direction="input"}': 20,
      'sluice_tokens_total{model="talk",direction="output"}': 10,
      'sluice_charges_total{model="talk"}': 2,
      'sluice_charges_total{model="stamp"}': 1,
      // 20 tokens of input at 1.00 and 10 of output at 2.00, each for a thousand.
      'sluice_charged_amount_total{model="talk"}': expect.closeTo(0.04, 9),
      'sluice_charged_amount_total{model="stamp"}': 0.3,
      'sluice_lost_amount_total{model="talk"}': 0,
      'sluice_lost_amount_total{model="stamp"}': 0,
    });
    expect({ ...list('sluice_upstream_outcomes_total{upstream="open"') }).toEqual({
      'sluice_upstream_outcomes_total{upstream="open",outcome="answered"}': 2,
      'sluice_upstream_outcomes_total{upstream="open",outcome="overloaded"}': 1,
    });
    // Three targets: images, speech and chat.
    expect(list('sluice_upstream_circuits{upstream="open"')).toEqual({
      'sluice_upstream_circuits{upstream="open",state="closed"}': 2,
      'sluice_upstream_circuits{upstream="open",state="degraded"}': 1,
      'sluice_upstream_circuits{upstream="open",state="open"}': 0,
      'sluice_upstream_circuits{upstream="open",state="half-open"}': 0,
    });
    expect(list("sluice_http_errors_total")).toEqual({
      'sluice_http_errors_total{code="upstream_unavailable"}': 1,
      'sluice_http_errors_total{code="model_unavailable"}': 1,
      'sluice_http_errors_total{code="invalid_parameter"}': 1,
      'sluice_http_errors_total{code="not_found"}': 1,
    });
    expect(read('sluice_task_duration_seconds_count{type="image",state="succeeded"}')).toBe(1);
    expect(read('sluice_delivery_attempt_duration_seconds_count{outcome="bad_status"}')).toBe(1);
    expect([
      ...Object.values(list("sluice_tasks_open")),
      read("sluice_holds_open_amount"),
      read("sluice_deliveries_pending"),
    ]).toEqual([0, 0, 0, 0]);
    expect(read("sluice_ledger_batch_operations_sum")).toBeGreaterThanOrEqual(5);
    expect(read("sluice_ledger_commit_duration_seconds_count")).toBe(read("sluice_ledger_batch_operations_count"));
    expect([read("sluice_ledger_queue_length"), read("sluice_ledger_queue_oldest_seconds")]).toEqual([0, 0]);
    expect(read("sluice_database_pool_connections_max")).toBe(10);
  });

  test("count delivered work that could not be charged, and nothing as charged", async () => {
    await using watched = await openWatched();
    const { stage, caller } = watched;
    const gate = createGate();
    stage.media.alwaysFor(({ prompt }) => prompt === "An unpaid stamp", { beforeFinish: gate });
    const { id } = await caller.submit(paths.image, { model: "stamp", prompt: "An unpaid stamp" });
    await caller.awaitTask(id, ["processing"]);
    const uncharged = (await watched.scrapeAnew()).list("sluice_uncharged_work_total");
    // Present from the start, so that an alert sees the first one as an increase.
    expect(uncharged).toEqual({
      'sluice_uncharged_work_total{work="call"}': 0,
      'sluice_uncharged_work_total{work="task"}': 0,
    });
    const { accountId } = caller;
    const [hold] = await caller.listHolds();
    await inTransaction(stage.database, (tx) =>
      releaseHold(tx, { accountId, holdId: hold?.id as HoldId }, watched.clock.now()),
    );
    gate.open();
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded", usage: { charge: "0.00" } });
    const { read } = await watched.scrapeAnew();
    expect(read('sluice_uncharged_work_total{work="task"}')).toBe(1);
    expect(read('sluice_charges_total{model="stamp"}')).toBeNull();
    const lines = stage.gateway.logs.filter(({ msg }) => msg === "finished task not charged");
    expect(lines).toMatchObject([{ task_id: id, account_id: accountId, hold_id: hold?.id }]);
    // The stage's checks would find the unpaid success that this test made.
    await stage.database.deleteFrom("tasks").where("id", "=", id).execute();
  });

  test("are served while the database is down, with the age of their values, and waiting settlements are logged once", async () => {
    await using watched = await openWatched();
    const { clock, database, stage, caller, ask, scrape } = watched;
    const { logs } = stage.gateway;
    const countLines = (message: string): number => logs.filter(({ msg }) => msg === message).length;
    const rest = createGate();
    stage.upstream.script({ pieces: ["One", " two"], beforeEnd: rest });
    const answer = await caller.post("/chat/completions", { ...talk, stream: true });
    await rest.reached(1);
    const before = await watched.scrapeAnew({ inProgress: 1 });
    expect(before.read('sluice_holds_open{unit="money"}')).toBe(1);
    await database.gate.close();
    clock.advance(readAgainMs);
    rest.open();
    await waitUntil(
      "several tries to fail",
      async () => ((await scrape()).read("sluice_ledger_failed_commits_total") ?? 0) > 3,
    );
    const during = await scrape();
    expect([during.read("sluice_ready"), during.read("sluice_ledger_queue_oldest_seconds")]).toEqual([
      0,
      expect.any(Number),
    ]);
    expect(during.read("sluice_ledger_queue_oldest_seconds")).toBeGreaterThan(0.2);
    for (const [series, age] of Object.entries(during.list("sluice_database_reading_age"))) {
      expect(age, series).toBeGreaterThanOrEqual(readAgainMs / 1000);
    }
    expect(during.list("sluice_holds_open")).toEqual(before.list("sluice_holds_open"));
    expect([countLines("ledger waiting for the database"), countLines("ledger writing again")]).toEqual([1, 0]);
    await database.gate.open();
    expect(await answer.text()).toContain("[DONE]");
    expect(countLines("ledger waiting for the database")).toBe(1);
    expect(logs.filter(({ msg }) => msg === "ledger writing again")).toMatchObject([
      { level: "info", after_ms: expect.any(Number), failed_tries: expect.any(Number) },
    ]);
    await waitUntil("service", async () => (await scrape()).read("sluice_ready") === 1);
    expect(await ask(talk)).toBe(200);
  });

  test("are served on their own port, in both formats, and nothing else is", async () => {
    await using gateway = await startGateway({ settings: { metrics_port: 0 } });
    const address = `http://127.0.0.1:${gateway.metricsPort}`;
    const open = await scrapeMetrics(gateway.metricsPort, { accept: "application/openmetrics-text;version=1.0.0" });
    expect(open.contentType).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(open.text).toContain("# TYPE sluice_ledger_violations counter\n");
    expect(open.text.endsWith("# EOF\n")).toBe(true);
    const plain = await scrapeMetrics(gateway.metricsPort);
    expect(plain.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    const head = await fetch(`${address}/metrics`, { method: "HEAD" });
    expect([head.status, Number(head.headers.get("content-length")) > 10_000, await head.text()]).toEqual([
      200,
      true,
      "",
    ]);
    expect((await fetch(`${address}/`)).status).toBe(404);
    expect((await fetch(`${address}/metrics`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${gateway.siteUrl}/metrics`)).status).toBe(404);
    const again = serveMetrics({ host: "127.0.0.1", port: gateway.metricsPort ?? 0, collect: async () => [] });
    await expect(again).rejects.toThrow(/The metrics port .* is in use/);
    await gateway.close();
    await expect(fetch(`${address}/metrics`)).rejects.toThrow();
  });

  test("are not served unless a port is set", async () => {
    await using gateway = await startGateway();
    expect(gateway.metricsPort).toBeNull();
  });
});

describe.skipIf(!hasPrometheus)("Debian's Prometheus", () => {
  const ruleFile = join(repositoryDir, "deploy/prometheus/alerts.yaml");

  test("scrapes a gateway, rejects no metric, and evaluates every alert and every panel of the dashboard", async () => {
    await using gateway = await startGateway({ settings: { metrics_port: 0 } });
    await fetch(`${gateway.baseUrl}/models`).then((answer) => answer.text());
    const { text } = await scrapeMetrics(gateway.metricsPort);
    const { stderr } = spawnSync("/usr/bin/promtool", ["check", "metrics"], { input: text });
    expect(String(stderr)).toBe("");
    await using prometheus = await startPrometheus(gateway.metricsPort ?? 0, ruleFile);
    type Rules = { groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[] };
    const rules = await waitUntil("every alert to be evaluated", async () => {
      const { groups } = await prometheus.ask<Rules>("rules");
      const all = groups.flatMap((group) => group.rules);
      return all.length > 0 && all.every(({ health }) => health !== "unknown") && all;
    });
    expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    type Answer = { result: { metric: Record<string, string>; value: [number, string] }[] };
    const ask = async (query: string): Promise<Answer["result"]> =>
      (await prometheus.ask<Answer>("query", { query })).result;
    await waitUntil("a scrape", async () => (await ask('up{job="sluice"} == 1')).length === 1);
    await waitUntil("readiness", async () => (await ask('sluice_ready{job="sluice"} == 1')).length === 1);
    const { panels } = JSON.parse(readFileSync(join(repositoryDir, "deploy/grafana/sluice.json"), "utf8")) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(40);
    const filled = expressions.map((expression) =>
      expression.replaceAll("$job", "sluice").replaceAll("$instance", ".*").replaceAll("$__rate_interval", "1m"),
    );
    await Promise.all(filled.map(ask));
  });
});
