import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DramaDocument, RolesDocument, ScriptDocument } from "../../../src/features/dramas/drama-documents.ts";
import type { DramaRequest } from "../../../src/features/dramas/drama-request.ts";
import { listStatement } from "../../../src/features/ledger/index.ts";
import { nano, presentMoney } from "../../../src/lib/money.ts";
import {
  type DramaCaller,
  type DramaFront,
  openDramaFront,
  type SeenDrama,
} from "../../harness/dramas/drama-callers.ts";
import { sampleRoles, sampleScript } from "../../harness/dramas/drama-samples.ts";
import { checkBySchema } from "../../harness/schema-check.ts";
import { readProblem } from "../../harness/tasks/task-stage.ts";
import { makePicture } from "../../harness/upstreams/media-samples.ts";

let front: DramaFront;

/** Scripts and roles are written here; of storyboards only the input is checked. */
beforeAll(async () => {
  front = await openDramaFront();
});
afterEach(() => front.check());
afterAll(() => front[Symbol.asyncDispose]());

const story = `ANNA
The lamp is out.

BEN
Somebody has to climb up.

NARRATOR
Nobody moved.`;

async function finish(caller: DramaCaller, more: Record<string, unknown>): Promise<SeenDrama> {
  const { id } = await caller.order(more);
  return (await caller.awaitTask(id)) as SeenDrama;
}

/** Downloads a link without a key. */
async function fetchDocument<D extends DramaDocument>(task: SeenDrama, type: string): Promise<D> {
  const output = task.output.find((item) => item.type === type);
  const path = output?.url.replace(/^http:\/\/[^/]+/, "");
  const response = await front.fetch(`${front.gateway.siteUrl}${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const text = await response.text();
  expect(Buffer.byteLength(text)).toBe((output as unknown as { bytes: number }).bytes);
  return JSON.parse(text) as D;
}

type JsonSchema = { title?: string; anyOf?: JsonSchema[]; oneOf?: JsonSchema[] };

/** The schemas that the reference publishes, by their titles. */
function readPublishedSchemas(): Map<string | undefined, JsonSchema> {
  const source = readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8");
  const { paths } = JSON.parse(source);
  const body = paths["/dramas/generations"].post.requestBody.content["application/json"].schema;
  const script = body.properties.script as JsonSchema;
  const forms = (script.anyOf ?? []).flatMap(({ oneOf }) => oneOf ?? []);
  return new Map(forms.map((form) => [form.title, form]));
}

/** The input that a task was stored with. */
async function readSource(id: string): Promise<DramaRequest> {
  const query = front.database.selectFrom("tasks").select("request").where("id", "=", id);
  return (await query.executeTakeFirstOrThrow()).request as unknown as DramaRequest;
}

/** Submits a storyboard, and cancels it at once. */
async function orderStoryboard(caller: DramaCaller, more: Record<string, unknown>) {
  const task = await caller.order({ stage: "storyboard", script: undefined, title: undefined, ...more });
  await caller.cancel(task.id);
  await caller.awaitTask(task.id, ["canceled"]);
  return { task, request: await readSource(task.id) };
}

const next = { script: undefined, title: undefined };

describe("from a text to the input of a storyboard", () => {
  test("each stage produces a document of the published schema, which the next continues from", async () => {
    const caller = await front.createCaller();
    const schemas = readPublishedSchemas();
    const first = await finish(caller, { script: story, episode: 4, aspect_ratio: "9:16" });
    expect(first).toMatchObject({ status: "succeeded", progress: 100, usage: { charge: "0.02", total_units: 1 } });
    expect(first.steps).toMatchObject([{ name: "script", status: "succeeded", progress: 100, charge: "0.02" }]);
    const script = await fetchDocument<ScriptDocument>(first, "script");
    expect(checkBySchema(schemas.get("DramaScript") ?? { not: {} }, script)).toBeNull();
    expect(script).toMatchObject({ title: "The Lighthouse", episode: 4 });

    const second = await finish(caller, { ...next, stage: "roles", from_task_id: first.id });
    expect(second).toMatchObject({ status: "succeeded", usage: { charge: "0.01" } });
    expect(second.steps.map(({ name }) => name)).toEqual(["roles"]);
    expect(second.output.map(({ type }) => type)).toEqual(["roles"]);
    const roles = await fetchDocument<RolesDocument>(second, "roles");
    expect(checkBySchema(schemas.get("DramaRoles") ?? { not: {} }, roles)).toBeNull();
    expect(roles.script).toEqual(script);

    const { task, request } = await orderStoryboard(caller, { from_task_id: second.id });
    expect(task.steps.map(({ name }) => name)).toEqual(["storyboard"]);
    expect(request).toMatchObject({
      ...{ title: "The Lighthouse", episode: 4, aspectRatio: "9:16" },
      source: { kind: "document", document: roles },
    });
    expect(schemas.has("DramaStoryboard")).toBe(true);
  });

  test("two stages in one task produce both documents, the latest first, and either can be continued from", async () => {
    const caller = await front.createCaller();
    const task = await finish(caller, { script: story, stage: "roles" });
    expect(task.steps.map(({ name, status, charge }) => [name, status, charge])).toEqual([
      ["script", "succeeded", "0.02"],
      ["roles", "succeeded", "0.01"],
    ]);
    expect(task.output.map(({ type }) => type)).toEqual(["roles", "script"]);
    expect(task.usage).toMatchObject({ charge: "0.03", total_units: 2 });
    const roles = await fetchDocument<RolesDocument>(task, "roles");
    expect(await fetchDocument<ScriptDocument>(task, "script")).toEqual(roles.script);
    const { request } = await orderStoryboard(caller, { from_task_id: task.id });
    expect(request.source).toEqual({ kind: "document", document: roles });
    const again = await finish(caller, { ...next, stage: "roles", from_task_id: task.id });
    expect((await fetchDocument<RolesDocument>(again, "roles")).script).toEqual(roles.script);
    expect(again.steps.map(({ name }) => name)).toEqual(["roles"]);
  });

  test("the next stage continues from an edited document, as an object or as text, with or without its task", async () => {
    const caller = await front.createCaller();
    const first = await finish(caller, { script: story });
    const script = await fetchDocument<ScriptDocument>(first, "script");
    const changed = { ...script, logline: "Changed.", scenes: script.scenes.map(addLine) };
    for (const more of [{ script: changed }, { script: JSON.stringify(changed), from_task_id: first.id }]) {
      const task = await finish(caller, { ...next, stage: "roles", ...more });
      const roles = await fetchDocument<RolesDocument>(task, "roles");
      expect(roles.script).toEqual(changed);
      expect(roles.roles.map(({ name }) => name)).toContain("Zoe");
      const recast = { ...roles, roles: roles.roles.map((role) => ({ ...role, appearance: "In red." })) };
      const { request } = await orderStoryboard(caller, { script: recast, from_task_id: task.id });
      expect(request.source).toEqual({ kind: "document", document: recast });
    }
  });

  test("a title and an episode that are sent with a document apply to the video from there on", async () => {
    const caller = await front.createCaller();
    const body = { stage: "roles", script: sampleScript, title: "Another", episode: 8 };
    const roles = await fetchDocument<RolesDocument>(await finish(caller, body), "roles");
    expect(roles.script).toMatchObject({ title: "Another", episode: 8 });
  });

  test("a text that is sent with an earlier task is ignored", async () => {
    const caller = await front.createCaller();
    const first = await finish(caller, { script: story });
    const task = await finish(caller, { stage: "roles", script: "Another story.", from_task_id: first.id });
    const script = await fetchDocument<ScriptDocument>(first, "script");
    expect((await fetchDocument<RolesDocument>(task, "roles")).script).toEqual(script);
  });

  test("a document that was canceled half way is continued from where it was", async () => {
    const caller = await front.createCaller();
    const { task } = await orderStoryboard(caller, { script: sampleScript, title: "Half" });
    const ended = (await caller.readTask(task.id)) as SeenDrama;
    const made = ended.output.map(({ type }) => type);
    const again = await finish(caller, { ...next, stage: "roles", from_task_id: task.id });
    expect(again.status).toBe("succeeded");
    expect(made.every((type) => type === "roles")).toBe(true);
    expect((await fetchDocument<RolesDocument>(again, "roles")).script.scenes).toEqual(sampleScript.scenes);
  });
});

describe("the roles of a drama", () => {
  test("keep the images that they were given first, in every later stage", async () => {
    const caller = await front.createCaller();
    const face = await caller.upload((await makePicture({ width: 64, height: 64 }, 1)).bytes);
    const characters = [{ name: "anna", reference_file_id: face }, { name: "Zoe" }];
    const first = await finish(caller, { script: story, characters });
    const task = await finish(caller, { ...next, stage: "roles", from_task_id: first.id });
    const roles = await fetchDocument<RolesDocument>(task, "roles");
    const pictures = Object.fromEntries(roles.roles.map((role) => [role.name, role.reference_file_id]));
    expect(pictures).toEqual({ anna: face, Zoe: null, Ben: null });
    const speakers = roles.script.scenes.flatMap(({ lines }) => lines.map(({ speaker }) => speaker));
    expect(speakers).toContain("anna");
    expect(speakers).not.toContain("ANNA");
  });

  test("with a deleted image are refused", async () => {
    const caller = await front.createCaller();
    const face = await caller.upload((await makePicture({ width: 64, height: 64 }, 1)).bytes);
    const first = await finish(caller, { script: story, characters: [{ name: "Anna", reference_file_id: face }] });
    await sql`update files set expires_at = now() - interval '1 second' where id = ${face}`.execute(front.database);
    const problem = await readProblem(await caller.ask({ ...next, stage: "roles", from_task_id: first.id }));
    expect(problem).toMatchObject({ status: 404, code: "file_not_found" });
    expect((await caller.countTraces()).tasks).toBe(1);
    const without = { characters: [{ name: "Anna" }], stage: "roles", from_task_id: first.id };
    expect((await finish(caller, { ...next, ...without })).status).toBe("succeeded");
  });

  test("continue from a document without the deleted image", async () => {
    const caller = await front.createCaller();
    const face = await caller.upload((await makePicture({ width: 64, height: 64 }, 1)).bytes);
    const first = await finish(caller, { script: story, characters: [{ name: "Anna", reference_file_id: face }] });
    await sql`update files set expires_at = now() - interval '1 second' where id = ${face}`.execute(front.database);
    const { request } = await orderStoryboard(caller, { script: sampleRoles, from_task_id: first.id });
    expect(request.source).toEqual({ kind: "document", document: sampleRoles });
  });
});

test("a deleted earlier document is reported as such, and nothing is charged", async () => {
  const caller = await front.createCaller();
  const first = await finish(caller, { script: story });
  const expireFiles = (interval: string) =>
    sql`update files set expires_at = now() + ${interval}::interval where account_id = ${caller.accountId}`.execute(
      front.database,
    );
  await expireFiles("-1 second");
  const problem = await readProblem(await caller.ask({ ...next, stage: "roles", from_task_id: first.id }));
  expect(problem).toMatchObject({ status: 404, code: "file_not_found", param: "from_task_id" });
  expect((await caller.countTraces()).tasks).toBe(1);
  // The job that deletes expired files would leave a task whose output is no file, which the final check reports.
  await expireFiles("1 day");
});

test("only stages that ran are charged, once: by the balance, by the charges and by the statement", async () => {
  const caller = await front.createCaller();
  const first = await finish(caller, { script: story });
  const second = await finish(caller, { ...next, stage: "roles", from_task_id: first.id });
  const third = await finish(caller, { script: story, stage: "roles" });
  expect(await caller.readBalance()).toEqual({ available: "9.94", frozen: "0.00" });
  const charges = await caller.listCharges();
  expect(charges.map(({ paid, items }) => [paid, items])).toEqual([
    ["0.02", { script_calls: 1 }],
    ["0.01", { roles_calls: 1 }],
    ["0.03", { script_calls: 1, roles_calls: 1 }],
  ]);
  const tasks = [first, second, third];
  expect(tasks.map(({ usage }) => usage.charge)).toEqual(["0.02", "0.01", "0.03"]);
  for (const { steps, usage } of tasks) {
    const sum = steps.reduce((total, step) => total + Number(step.charge), 0);
    expect(sum.toFixed(2)).toBe(usage.charge);
  }
  expect((await caller.listHolds()).map(({ state, settled }) => [state, settled])).toEqual([
    ["settled", "0.02"],
    ["settled", "0.01"],
    ["settled", "0.03"],
  ]);
  const statement = await listStatement(front.database, caller.accountId, { from: null, to: null, limit: 100 });
  const spent = statement.filter(({ bill }) => bill !== null);
  expect(spent.map(({ cause, amount }) => [cause.id, presentMoney(nano(-amount))])).toEqual(
    tasks.map(({ id, usage }) => [id, usage.charge]),
  );
  expect((await caller.listEvents()).map(({ type }) => type)).toEqual(Array(3).fill("task.succeeded"));
});

test("the charge of a drama is itemized by stage, each with its own price", async () => {
  const caller = await front.createCaller();
  const task = await finish(caller, { script: story, stage: "roles" });
  const { data } = (await (await caller.get(`/charges?task_id=${task.id}`)).json()) as { data: { id: string }[] };
  const explained = (await (await caller.get(`/charges/${data[0]?.id}`)).json()) as {
    price: { id: string; capability: string };
    items: { name: string; amount: string; price_id: string }[];
  };
  expect(explained).toMatchObject({ charge: "0.03", cost: "0.03", summary: "script: 1 call, roles: 1 call" });
  expect(explained.items.map(({ name, amount }) => [name, amount])).toEqual([
    ["script_calls", "0.02"],
    ["roles_calls", "0.01"],
  ]);
  const priceIds = explained.items.map(({ price_id }) => price_id);
  expect(new Set(priceIds).size).toBe(2);
  expect(explained.price).toMatchObject({ id: priceIds[1], capability: "role_analysis", is_current: true });
});

test("nothing that a customer sees of a drama names the upstream models", async () => {
  const caller = await front.createCaller();
  const task = await finish(caller, { script: story, stage: "roles" });
  const seen = JSON.stringify([task, await fetchDocument(task, "roles"), await caller.listEvents()]);
  expect(seen).not.toMatch(/sandbox-(?:chat|image|video|avatar|speech)/);
});

function addLine(scene: ScriptDocument["scenes"][number]): ScriptDocument["scenes"][number] {
  return { ...scene, lines: [...scene.lines, { speaker: "Zoe", text: "I will go." }] };
}
