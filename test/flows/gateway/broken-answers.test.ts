import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { databaseLimits } from "../../../src/platform/database/database-limits.ts";
import { listRepositoryFiles, repositoryDir } from "../../harness/repository-files.ts";
import { scrapeMetrics } from "../../harness/scrape-metrics.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  listRoutes,
  openTaskStage,
  paths,
  type StageCaller,
  type TaskStage,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import { createRunningClock } from "../../harness/test-clock.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const clock = createRunningClock();
let database: GatedDatabase;
let stage: TaskStage;
let caller: StageCaller;

function writeCatalog(upstream: FakeUpstreams): string {
  const limits = { voices: ["alloy"], response_formats: ["mp3"], max_prompt_length: 1000 };
  const voice = { id: "voice", type: "speech", capabilities: ["text_to_speech"], limits, routes: listRoutes(["open"]) };
  return writeStageCatalog(upstream, { models: [voice], prices: [writeTaskPrice("voice", "1K characters", "1.00")] });
}

beforeAll(async () => {
  database = await openGatedDatabase();
  const settings = { database_url: database.url, metrics_port: 0 };
  stage = await openTaskStage({ catalog: writeCatalog, clock, settings, sharedDatabase: database.direct });
});
beforeEach(async () => {
  caller = await stage.createCaller();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const talk = { model: "talk", messages: [{ role: "user", content: "Hi" }], stream: true };
const thinking = { model: "talk", input: "Hi", background: true, stream: true };
const speech = { model: "voice", input: "Hi", voice: "alloy" };

/** Every handler that bypasses the framework: its file, and a request to it. */
const ownAnswers = {
  chat: { file: "src/features/calls/call-routes.ts", ask: () => caller.post("/chat/completions", talk) },
  speech: { file: "src/features/calls/call-routes.ts", ask: () => caller.post(paths.speech, speech) },
  task: { file: "src/features/tasks/read/task-routes.ts", ask: (id: string) => caller.get(`/tasks/${id}/events`) },
  session: {
    file: "src/features/webhooks/webhook-session-routes.ts",
    ask: (_: string, id: string) => caller.get(`/webhook_sessions/${id}/events`),
  },
  response: {
    file: "src/features/responses/response-routes.ts",
    ask: () => caller.post("/responses", thinking),
  },
} as const;

/** Needs a session, and reads nothing after its head: another test covers how it ends. */
const walkedElsewhere = [
  { file: "src/features/site/account/change-routes.ts", path: "/changes", test: "test/api/open-streams.test.ts" },
] as const;

test("every file that bypasses the framework is covered here", () => {
  const found = listRepositoryFiles()
    .filter((path) => /^src\/.*\.ts$/.test(path) && !/(\.test|\/hijack-reply)\.ts$/.test(path))
    .filter((path) => {
      const text = readFileSync(join(repositoryDir, path), "utf8");
      return text.includes('http/hijack-reply.ts"') || text.includes(".hijack(");
    });
  const walked = [...Object.values(ownAnswers), ...walkedElsewhere].map(({ file }) => file);
  expect(found.toSorted()).toEqual([...new Set(walked)].toSorted());
  for (const { path, test } of walkedElsewhere) {
    expect(readFileSync(join(repositoryDir, test), "utf8")).toContain(path);
  }
});

async function createId(path: string, body: unknown): Promise<string> {
  const { id } = (await (await caller.post(path, body)).json()) as { id: string };
  return id;
}

/** Reads an answer to its end, whole or broken. */
async function readToEnd(response: Response): Promise<{ text: string; isBroken: boolean }> {
  const reader = response.body?.getReader();
  let text = "";
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      text += Buffer.from(read.value).toString("latin1");
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

test("with the database down before its head, each of them is a 503", async () => {
  const task = await createId("/images/generations", { model: "stamp", prompt: "A stamp" });
  const session = await createId("/webhook_sessions", {});
  await database.gate.close();
  const answers = await Promise.all(Object.values(ownAnswers).map(({ ask }) => ask(task, session)));
  await database.gate.open();
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  await Promise.all(answers.map((answer) => answer.text()));
});

test("with the database down after its head, each of them ends marked as incomplete, or goes on", async () => {
  await waitUntil("service", async () => (await fetch(`${stage.gateway.siteUrl}/readyz`)).status === 200);
  const rest = createGate();
  const pieces = ["One", " two"];
  stage.upstream.script({ pieces, beforeEnd: rest }, { pieces, beforeEnd: rest });
  stage.media.alwaysFor(({ prompt }) => prompt === speech.input, { beforeRest: rest });
  stage.media.alwaysFor(({ prompt }) => prompt === "A late stamp", { beforeFinish: rest });
  const task = await createId("/images/generations", { model: "stamp", prompt: "A late stamp" });
  const session = await createId("/webhook_sessions", {});
  const [chat, voice, watched, listened, resumed] = await Promise.all([
    ownAnswers.chat.ask(),
    ownAnswers.speech.ask(),
    ownAnswers.task.ask(task),
    ownAnswers.session.ask("", session),
    ownAnswers.response.ask(),
  ]);
  const begun = [chat, voice, watched, listened, resumed];
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await rest.reached(4);
  const countTries = async (): Promise<number> =>
    (await scrapeMetrics(stage.gateway.metricsPort)).read("sluice_ledger_failed_commits_total") ?? 0;
  const triesBefore = await countTries();
  await database.gate.close();
  rest.open();
  // Both settlements wait by then, and one more attempt finds them too old.
  await waitUntil("payments to wait", async () => (await countTries()) > triesBefore + 3);
  clock.advance(databaseLimits.settlementMsMax);
  const ends = await Promise.all([chat, voice].map(readToEnd));
  expect(ends.map(({ isBroken }) => isBroken)).toEqual([false, true]);
  expect(ends[0]?.text).toContain('"code":"overloaded"');
  expect(ends[0]?.text).not.toContain("[DONE]");
  await database.gate.open();
  expect(await readToEnd(watched)).toMatchObject({ isBroken: false, text: expect.stringContaining('"succeeded"') });
  const { text: told } = await readToEnd(resumed);
  expect(told).toContain("response.failed");
  expect(told).not.toContain("response.completed");
  await listened.body?.cancel();
});
