// @module-tag extended
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Play, writeDocuments } from "../../harness/dramas/drama-play.ts";
import { type DramaStage, openDramaStage, type SeenDrama } from "../../harness/dramas/drama-stage.ts";
import { readTask } from "../../harness/tasks/task-stage.ts";
import { createGate, type Gate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Each is blocked at one step; with what was finished by then, and what that costs. */
const moments = [
  { part: "drama_script", step: "script", kept: "", charge: "0.00" },
  { part: "drama_roles", step: "roles", kept: "script", charge: "0.02" },
  { part: "drama_storyboard", step: "storyboard", kept: "roles script", charge: "0.03" },
  { part: "image", step: "storyboard", kept: "roles script", charge: "0.03" },
  { part: "speech", step: "speech", kept: "storyboard image image image image roles script", charge: "0.13" },
  { part: "video", step: "shots", kept: "storyboard image image image image roles script", charge: "0.13" },
  { part: "avatar", step: "shots", kept: "storyboard image image image image roles script", charge: "0.13" },
] as const;
type Moment = (typeof moments)[number];

let stage: DramaStage;

beforeAll(async () => {
  const names = moments.flatMap(({ part }) => [`cancel-${nameCast(part)}`, `late-${nameCast(part)}`]);
  stage = await openDramaStage({ casts: [...names, "take-and-cancel", "take-and-expire", "long"] });
});
afterEach(() => stage.check());
afterAll(() => stage[Symbol.asyncDispose]());

function nameCast(part: string): string {
  return part.replace("_", "-").concat("-part");
}

function isQuestion(part: Moment["part"]): part is "drama_script" | "drama_roles" | "drama_storyboard" {
  return part.startsWith("drama_");
}

/** A drama with a step that the upstreams have accepted and do not finish. */
async function beginAndHold(cast: string, { part, step }: Moment) {
  const director = await stage.createDirector();
  const gate = createGate();
  if (isQuestion(part)) stage.treatWriter(cast, part, { beforeHead: gate });
  // Queued work can be stopped in the queue; synchronous work cannot.
  else if (part === "video" || part === "avatar") stage.treat(cast, part, { beforeStart: gate, cancel: "gone" });
  else stage.treat(cast, part, { beforeHead: gate });
  const { id } = await director.send({ model: cast });
  await gate.reached();
  if (!isQuestion(part)) await stage.stepRuns(id, step);
  if (part === "video" || part === "avatar") await waitUntil("all of it to be begun", () => allRun(id, part));
  return { director, gate, id };
}

async function allRun(id: string, type: "video" | "avatar"): Promise<boolean> {
  const children = (await stage.listChildren(id)).filter((child) => child.type === type);
  const others = (await stage.listChildren(id)).filter((child) => child.type !== type);
  const wanted = type === "video" ? 3 : 1;
  return (
    children.length === wanted &&
    children.every(({ phase }) => phase === "running") &&
    others.every(({ phase }) => phase === "ended")
  );
}

function describeOutput({ output }: SeenDrama): string {
  return output.map(({ type }) => type).join(" ");
}

/** Checks that late results change nothing. */
async function expectNoChange(id: string, gate: Gate, read: () => Promise<unknown>): Promise<void> {
  const before = await read();
  gate.open();
  await stage.upstream.idle();
  await stage.childrenEnded(id);
  expect(await read()).toEqual(before);
}

describe.concurrent("a canceled drama", () => {
  test.each(moments)(
    "during its $part step ends at once; finished parts are kept and charged ($charge)",
    async (moment) => {
      const cast = `cancel-${nameCast(moment.part)}`;
      const { director, gate, id } = await beginAndHold(cast, moment);
      const response = await director.cancel(id);
      const drama = (await readTask(response)) as SeenDrama;
      expect([response.status, drama.status, drama.usage.charge]).toEqual([200, "canceled", moment.charge]);
      expect(describeOutput(drama)).toBe(moment.kept);
      expect(drama.steps.map(({ status }) => status).filter((status) => !/succeeded|canceled/.test(status))).toEqual(
        [],
      );
      for (const output of drama.output) expect((await director.fetchOutput(output)).length).toBe(output.bytes);
      expect(await director.readBalance()).toMatchObject({ frozen: "0.00" });
      if (isQuestion(moment.part)) await waitUntil("the writer to be left alone", () => gate.waitingCount() === 0);

      const again = await Promise.all([1, 2, 3].map(() => director.cancel(id)));
      expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
      await expectNoChange(id, gate, async () => {
        const { updated_at: updatedAt, status, usage, steps } = await director.readDrama(id);
        return { updatedAt, status, usage, states: steps.map((step) => [step.status, step.progress]) };
      });
      expect(await director.listEvents()).toMatchObject([{ type: "task.canceled", data: { task_id: id } }]);
      expect(await director.listCharges()).toHaveLength(moment.charge === "0.00" ? 0 : 1);
      if (moment.part !== "video" && moment.part !== "avatar") return;
      const jobs = stage.media.jobs.filter(({ submission }) => submission.model.includes(`/${cast}/${moment.part}`));
      expect(jobs.map(({ cancelCount }) => cancelCount)).toEqual(new Array(moment.part === "video" ? 3 : 1).fill(1));
      const made = (await stage.listChildren(id)).filter(({ step }) => step === "shots");
      expect(made.filter(({ type }) => type === moment.part).map(({ state }) => state)).toEqual(
        jobs.map(() => "canceled"),
      );
    },
  );

  test("while its video is assembled ends at once, and no part of the video is left behind", async () => {
    const director = await stage.createDirector();
    const play: Play = [Array.from({ length: 3 }, () => ({ seconds: 9 }))];
    const { id } = await director.send({ model: "long", script: writeDocuments(play, { title: "Long" }).storyboard });
    await waitUntil("the video to be begun", async () => {
      const { steps } = await director.readDrama(id);
      return steps.find(({ name }) => name === "film")?.status === "processing";
    });
    const drama = (await readTask(await director.cancel(id))) as SeenDrama;
    expect(drama).toMatchObject({ status: "canceled", output: [], usage: { charge: "0.00" } });
    const films = join(stage.dataDir, "films");
    await waitUntil("its folder to be gone", async () => (await readdir(films).catch(() => [])).length === 0);
    expect((await director.readDrama(id)).status).toBe("canceled");
  });
});

describe.concurrent("a drama past its deadline", () => {
  test.each(moments)("during its $part step has expired, costs nothing, and ends its child tasks", async (moment) => {
    const { director, gate, id } = await beginAndHold(`late-${nameCast(moment.part)}`, moment);
    await stage.age(id, dayMs + 1000);
    const drama = await director.awaitDrama(id);
    expect(drama).toMatchObject({ status: "expired", output: [], usage: { charge: "0.00", total_units: 0 } });
    expect(drama.steps.map(({ charge }) => charge)).toEqual(drama.steps.map(() => "0.00"));
    expect(drama.steps.map(({ status }) => status).filter((status) => !/succeeded|expired/.test(status))).toEqual([]);
    expect(await director.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
    // Queued work is not done any more; synchronous work is.
    await stage.check();
    if (moment.part === "video" || moment.part === "avatar") await stage.childrenEnded(id);
    gate.open();
    await stage.childrenEnded(id);
    expect((await director.readDrama(id)).status).toBe("expired");
    expect(await director.listEvents()).toMatchObject([{ type: "task.expired" }]);
  });
});

describe.concurrent("outputs of a drama that are not charged", () => {
  type Listed = { data: { id: string; output: { file_id: string }[] }[] };
  const moment = moments[5];

  /** Every file that its caller can find meanwhile: by its steps, its children and the list of files. */
  async function listFound(director: Awaited<ReturnType<typeof beginAndHold>>["director"], id: string) {
    const ask = async (path: string) => (await (await director.get(path)).json()) as Listed;
    const { steps } = await director.readDrama(id);
    const children = (await ask(`/tasks?parent_id=${id}&limit=100`)).data;
    const one = (await (await director.get(`/tasks/${children[0]?.id}`)).json()) as Listed["data"][number];
    return {
      bySteps: steps.flatMap(({ output }) => output.map(({ type }) => type)).join(" "),
      byChildren: [...children, one].flatMap(({ output }) => output),
      byList: (await ask("/files?purpose=output&limit=100")).data.map((file) => file.id).toSorted(),
    };
  }

  test("cannot be taken before a cancel: the list has the charged outputs, and no clip or recording", async () => {
    const { director, gate, id } = await beginAndHold("take-and-cancel", moment);
    const paid = "script roles storyboard image image image image";
    expect(await listFound(director, id)).toEqual({ bySteps: paid, byChildren: [], byList: [] });
    const drama = (await readTask(await director.cancel(id))) as SeenDrama;
    expect(drama.usage.charge).toBe(moment.charge);
    gate.open();
    await stage.childrenEnded(id);
    const charged = drama.output.map(({ file_id: fileId }) => fileId).toSorted();
    expect(await listFound(director, id)).toEqual({ bySteps: paid, byChildren: [], byList: charged });
  });

  test("stay out of reach when it expires", async () => {
    const { director, gate, id } = await beginAndHold("take-and-expire", moment);
    await stage.age(id, dayMs + 1000);
    expect((await director.awaitDrama(id)).status).toBe("expired");
    gate.open();
    await stage.childrenEnded(id);
    expect(await listFound(director, id)).toEqual({ bySteps: "", byChildren: [], byList: [] });
  });
});

test("a drama that has not started is canceled at no charge, and its writer is never called", async () => {
  await using narrow = await openDramaStage({ casts: ["first", "second"], settings: { worker_steps_max: 1 } });
  const director = await narrow.createDirector();
  const gate = createGate();
  narrow.treatWriter("first", "drama_script", { beforeHead: gate });
  const first = await director.send({ model: "first", stage: "script" });
  await gate.reached();
  const { id } = await director.send({ model: "second", stage: "script" });
  const response = await director.cancel(id);
  const drama = (await readTask(response)) as SeenDrama;
  expect([response.status, drama.status, drama.usage.charge, drama.progress]).toEqual([200, "canceled", "0.00", 0]);
  gate.open();
  expect((await director.awaitDrama(first.id)).status).toBe("succeeded");
  expect(narrow.listQuestions("second")).toEqual([]);
  expect((await director.listHolds()).map(({ state }) => state).toSorted()).toEqual(["released", "settled"]);
});
