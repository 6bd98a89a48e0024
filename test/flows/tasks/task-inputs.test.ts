import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import type { buildConnector } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Task } from "../../../src/features/tasks/task.ts";
import { loadInputs } from "../../../src/features/tasks/work/load-inputs.ts";
import { AppError } from "../../../src/platform/errors/app-error.ts";
import { createGuardedClient } from "../../../src/platform/net/guarded-client.ts";
import { upstreamKeyName } from "../../harness/chat/chat-catalog.ts";
import { startFilesStage } from "../../harness/media/files-stage.ts";
import { type RecordingServer, startRecordingServer } from "../../harness/servers/recording-server.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  type TaskStage,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { makePicture, voice } from "../../harness/upstreams/media-samples.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const picture = await makePicture({ width: 64, height: 64 }, 1);

describe("an input image of a task", () => {
  let stage: TaskStage;

  /** The provider of `narrow` accepts one task at a time. */
  function writeCatalog(upstream: FakeUpstreams): string {
    const narrow = { id: "narrow", kind: "fal", base_url: upstream.falUrl, api_keys: [`\${${upstreamKeyName}}`] };
    return writeStageCatalog(upstream, {
      providers: [{ ...narrow, tasks_max: 1 }],
      models: [writePictures("narrow", ["narrow"])],
      prices: [writeTaskPrice("narrow", "image", "0.05")],
    });
  }

  beforeAll(async () => {
    stage = await openTaskStage({ catalog: writeCatalog });
  });
  afterEach(() => stage.check());
  afterAll(() => stage[Symbol.asyncDispose]());

  test("at an unreachable address fails the task, names the field, and costs nothing", async () => {
    const caller = await stage.createCaller();
    const id = await caller.upload(picture.bytes);
    const body = { model: "image", prompt: "Nowhere", input_images: [id, "https://pictures.invalid/a.png"] };
    const task = await caller.finish(paths.image, body);
    expect(task).toMatchObject({
      status: "failed",
      error: { code: "invalid_url", param: "input_images[1]", retryable: false },
      usage: { charge: "0.00" },
    });
    expect(JSON.stringify(task)).not.toContain("pictures.invalid");
    expect(stage.media.submissionsOf("Nowhere")).toEqual([]);
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
  });

  test("whose file was deleted before the work began fails the task, at no charge", async () => {
    const caller = await stage.createCaller();
    await caller.submit(paths.image, { model: "narrow", prompt: "In the way <<fault:queue=99999>>" });
    await stage.handedOver();
    const file = await caller.upload(picture.bytes);
    const body = { model: "narrow", prompt: "Too late", input_images: [file] };
    const { id } = await caller.submit(paths.image, body);
    await waitUntil("it to wait for a place", async () => {
      const row = await stage.database.selectFrom("tasks").select("waits_for").where("id", "=", id).executeTakeFirst();
      return row?.waits_for === "narrow";
    });
    const headers = { authorization: `Bearer ${caller.key}` };
    await stage.fetch(`${stage.gateway.baseUrl}/files/${file}`, { method: "DELETE", headers });
    await stage.age(id);
    const task = await caller.awaitTask(id);
    expect(task).toMatchObject({
      status: "failed",
      error: { code: "file_not_found", param: "input_images[0]" },
      usage: { charge: "0.00" },
    });
    expect(stage.media.submissionsOf("Too late")).toEqual([]);
  });
});

/**
 * The gateway's name servers cannot be replaced, so these tests run one layer below: the same function with a guarded
 * client (SSRF protection) whose names and connections are the test's.
 */
describe("the bytes at an address", () => {
  const addresses: Record<string, string> = { "pictures.example": "93.184.216.34", "inner.example": "10.0.0.7" };

  async function load(url: string, answer: Parameters<typeof startRecordingServer>[0]) {
    const files = await startFilesStage();
    onTestFinished(() => files[Symbol.asyncDispose]());
    const server = await startRecordingServer(answer);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const guarded = createGuardedClient({ allowsPrivate: false, ...pretendInternet(server, addresses) });
    onTestFinished(() => guarded.close());
    const task = { accountId: files.accountId, inputs: [{ role: "image", param: "input_images[0]", url }] };
    const parts = { files: files.files, guarded, clock: files.clock };
    const signal = new AbortController().signal;
    const outcome = await loadInputs(parts, task as unknown as Task, signal).catch((error: unknown) => error);
    return { outcome, server };
  }

  test("are accepted if they are an image, whatever content type the server sends", async () => {
    const { outcome, server } = await load("https://pictures.example/a.png?x=1", (_, response) => {
      response.writeHead(200, { "content-type": "image/jpeg" }).end(picture.bytes);
    });
    expect(outcome).toMatchObject([{ role: "image", contentType: "image/png", bytes: picture.bytes.length }]);
    const [input] = outcome as Awaited<ReturnType<typeof loadInputs>>;
    expect(input && (await buffer(await input.open()))).toEqual(picture.bytes);
    expect(server.requests.map(({ path }) => path)).toEqual(["/a.png?x=1"]);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test.each([
    { what: "a name with a private address", url: "https://inner.example/a.png", code: "invalid_url", count: 0 },
    { what: "a missing page", status: 404, code: "invalid_url" },
    { what: "a page", type: "text/html", body: Buffer.from("<html>"), code: "invalid_url" },
    { what: "a page with an image content type", body: Buffer.from("<html>"), code: "invalid_file" },
    { what: "a recording with an image content type", body: voice.bytes, code: "invalid_file" },
    { what: "nothing", body: Buffer.alloc(0), code: "invalid_file" },
    { what: "a file over the size limit", length: 21 * 1024 * 1024, code: "invalid_url" },
    { what: "a redirect inside", status: 302, location: "https://inner.example/b.png", code: "invalid_url" },
    { what: "a redirect to this machine", status: 302, location: "http://127.0.0.1/b.png", code: "invalid_url" },
  ])("are refused, naming the field, if there is $what", async (one) => {
    const { url = "https://pictures.example/a.png", status = 200, type = "image/png", body = picture.bytes } = one;
    const { outcome, server } = await load(url, (_, response) => {
      response.writeHead(status, {
        "content-type": type,
        ...(one.location === undefined ? {} : { location: one.location }),
        ...(one.length === undefined ? {} : { "content-length": String(one.length) }),
      });
      response.end(one.length === undefined ? body : undefined);
    });
    expect(outcome).toBeInstanceOf(AppError);
    expect(outcome).toMatchObject({ code: one.code, param: "input_images[0]" });
    expect(String((outcome as AppError).message)).not.toContain("example");
    expect(server.requests.length).toBe(one.count ?? 1);
  });
});

/**
 * Every name resolves to the test's address, and every connection goes to the server and appears to have that address.
 */
function pretendInternet(server: RecordingServer, addresses: Record<string, string>) {
  const { port } = new URL(server.url);
  const createConnector =
    (options: buildConnector.BuildOptions): buildConnector.connector =>
    ({ hostname }, callback) => {
      const { lookup } = options as { lookup(host: string, how: { all: true }, done: LookupDone): void };
      lookup(hostname, { all: true }, (_error, [first]) => {
        const socket = connect(Number(port), "127.0.0.1", () => {
          Object.defineProperty(socket, "remoteAddress", { value: first?.address });
          callback(null, socket);
        });
      });
    };
  return { createConnector, lookup: async (host: string) => [addresses[host] ?? "0.0.0.0"] };
}

type LookupDone = (error: null, addresses: { address: string }[]) => void;
