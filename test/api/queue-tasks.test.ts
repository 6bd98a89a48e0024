import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { upstreamKeyName } from "../harness/chat/chat-catalog.ts";
import { writeTaskPrice } from "../harness/tasks/task-catalog.ts";
import { openTaskStage, paths, type TaskStage, writePictures, writeStageCatalog } from "../harness/tasks/task-stage.ts";
import { makePicture } from "../harness/upstreams/media-samples.ts";
import { type ScriptedVendor, startScriptedVendor } from "../harness/upstreams/scripted-vendor.ts";

let stage: TaskStage;
let vendor: ScriptedVendor;

beforeAll(async () => {
  vendor = await startScriptedVendor();
  const provider = {
    id: "rep",
    kind: "replicate",
    base_url: `${vendor.origin}/v1`,
    api_keys: [`\${${upstreamKeyName}}`],
  };
  const model = writePictures("queued-image", [], {
    routes: [{ provider: "rep", upstream_model: "maker/flux", parameters: { input: { go_fast: true } } }],
  });
  stage = await openTaskStage({
    catalog: (upstream) =>
      writeStageCatalog(upstream, {
        providers: [provider],
        models: [model],
        prices: [writeTaskPrice("queued-image", "image", "0.05")],
      }),
  });
});
afterEach(() => stage.check());
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await vendor[Symbol.asyncDispose]();
});

test("a task at a queue vendor is submitted once, survives failing polls, and is charged for what was made", async () => {
  const caller = await stage.createCaller();
  const picture = await makePicture({ width: 64, height: 64 }, 1);
  const url = `${vendor.origin}/files/1.png`;
  vendor.script(
    { status: 201, body: { id: "job-1", status: "starting" } },
    { status: 429, body: { detail: "Request was throttled." } },
    { status: 200, body: { id: "job-1", status: "processing" } },
    "reset",
    { status: 200, body: { id: "job-1", status: "succeeded", output: [url] } },
    picture.bytes,
  );
  const task = await caller.finish(paths.image, { model: "queued-image", prompt: "A barn", n: 2 });
  expect(task).toMatchObject({
    ...{ status: "succeeded", usage: { charge: "0.05", total_units: 1 } },
    output: [{ type: "image", width: 64, height: 64 }],
    // One of two was made.
    warnings: [{ code: "fewer_outputs" }],
  });
  const submissions = vendor.requests.filter(({ method }) => method === "POST");
  expect(submissions.map(({ path, body }) => [path, body])).toEqual([
    [
      "/v1/predictions",
      {
        version: "maker/flux",
        input: { go_fast: true, prompt: "A barn", num_outputs: 2, width: 64, height: 64 },
      },
    ],
  ]);
  expect(JSON.stringify(task)).not.toMatch(/replicate|maker|job-1|127\.0\.0\.1:\d+\/files\/1/);
});

test("a job that the vendor refuses for its content fails free of charge", async () => {
  const caller = await stage.createCaller();
  vendor.script(
    { status: 201, body: { id: "job-2", status: "starting" } },
    { status: 200, body: { id: "job-2", status: "failed", error: "NSFW content detected." } },
  );
  const task = await caller.finish(paths.image, { model: "queued-image", prompt: "A barn" });
  expect(task).toMatchObject({ status: "failed", error: { code: "content_policy_violation" }, output: [] });
  expect(vendor.left()).toBe(0);
});
