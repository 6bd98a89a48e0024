// @module-tag extended
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeMedia } from "../../harness/media/media-files.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import type { SeenTask, TaskCaller, TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { buildUsersCli, openUsersCli, type UsersCli } from "../../harness/users-cli/users-cli.ts";
import { openCliGateway } from "../../harness/users-cli/users-cli-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let stage: TaskGateway;
let site: string;
let build: ReturnType<typeof buildUsersCli>;
let caller: TaskCaller;
let cli: UsersCli;
let environment: Record<string, string>;

beforeAll(async () => {
  build = buildUsersCli();
  ({ stage, site } = await openCliGateway());
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  build[Symbol.dispose]();
});
beforeEach(async () => {
  caller = await stage.createCaller();
  cli = openUsersCli(build.program);
  environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: site };
});
afterEach(() => {
  expect(cli.seen()).not.toContain(caller.key);
  cli[Symbol.dispose]();
});

function listFiles(folder = cli.workDir): string[] {
  return readdirSync(folder).toSorted();
}

function readDigest(name: string): string {
  return createHash("sha256")
    .update(readFileSync(join(cli.workDir, name)))
    .digest("hex");
}

function findJob(prompt: string) {
  return stage.media.jobs.find(({ submission }) => submission.prompt === prompt);
}

async function findOnlyTask(): Promise<SeenTask> {
  const { data } = (await (await caller.get("/tasks")).json()) as { data: SeenTask[] };
  const [task] = data;
  if (task === undefined || data.length !== 1) throw new Error(`There are ${data.length} tasks, not one.`);
  return task;
}

/** The vendor never finishes the next job, and stops it when canceled. */
function scriptEndless(): void {
  stage.media.script({ queue: 99_999, cancel: "gone" });
}

async function waitUntilRunning(): Promise<void> {
  await waitUntil("the vendor to have it", async () => {
    const query = stage.database.selectFrom("tasks").select("phase").where("account_id", "=", caller.accountId);
    return (await query.executeTakeFirst())?.phase === "running";
  });
}

describe("the output of a task", () => {
  test("is downloaded byte for byte, under our own names, and only its path is printed", async () => {
    const words = ["image", "A lighthouse", "--model", "sandbox-image", "--size", "64x64", "--n", "2", "--wait"];
    const { exitCode, stdout, stderr } = await cli.run(words, { environment });
    expect(exitCode).toBe(0);
    const task = await findOnlyTask();
    const stem = `image-${task.id.slice(-8)}`;
    expect(listFiles()).toEqual([`${stem}-1.png`, `${stem}-2.png`]);
    expect(stdout).toBe(`${stem}-1.png\n${stem}-2.png\n`);
    expect(listFiles().map(readDigest)).toEqual(task.output.map(({ sha256 }) => sha256));
    expect(stderr).toContain("costs at most 0.04 USD.");
    expect(stderr).toContain("It cost 0.04 USD.");
    expect(stderr).not.toContain("\x1b");
  });

  test("goes to the given place: a file, a folder, standard output", async () => {
    const make = (output: string, ...more: string[]) =>
      cli.run(["image", "One", "-m", "sandbox-image", "-o", output, ...more], { environment });
    mkdirSync(join(cli.workDir, "folder"));
    expect((await make("one.png")).stdout).toBe("one.png\n");
    expect((await make("folder")).exitCode).toBe(0);
    expect((await make("new/folder/")).exitCode).toBe(0);
    expect([listFiles(join(cli.workDir, "folder")), listFiles(join(cli.workDir, "new/folder"))].flat()).toHaveLength(2);
    const before = await caller.listCharges();
    const refused = await make("one.png");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("--force")]);
    expect(await caller.listCharges()).toEqual(before);
    expect((await make("one.png", "--force")).exitCode).toBe(0);
    const piped = await cli.run(["speech", "Hello", "-m", "sandbox-speech", "--format", "wav", "-o", "-"], {
      environment,
    });
    expect(piped.stdout.slice(0, 4)).toBe("RIFF");
    expect(listFiles()).toEqual(["folder", "new", "one.png"]);
  });

  test("is discarded if it is corrupt, and downloaded again until it is complete", async () => {
    const { id } = await caller.submitImage("sandbox-image", "Right");
    const task = await caller.awaitTask(id);
    const [output] = task.output;
    if (output === undefined) throw new Error("Nothing was made.");
    const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
    const bodies = [bytes.subarray(0, 100), Buffer.from(bytes).fill(0, 50, 60), Buffer.concat([bytes, bytes])];
    await using proxy = await startRecordingServer(({ path }, response) => {
      if (path.startsWith("/v1/")) {
        const shown = { ...task, output: [{ ...output, url: `${proxy.url}/bytes` }] };
        response.setHeader("content-type", "application/json").end(JSON.stringify(shown));
      } else response.end(bodies.shift() ?? bytes);
    });
    const elsewhere = { SLUICE_API_KEY: caller.key, SLUICE_SITE: proxy.url };
    const failed = await cli.run(["tasks", "download", id], { environment: elsewhere });
    expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("Cannot download")]);
    expect(listFiles()).toEqual([]);
    expect((await cli.run(["tasks", "download", id], { environment: elsewhere })).exitCode).toBe(0);
    expect(listFiles().map(readDigest)).toEqual([output.sha256]);
    const keys = proxy.requests.filter(({ path }) => path === "/bytes").map(({ headers }) => headers.authorization);
    expect(keys).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("of every kind is downloaded: a video from an image, an avatar from a face and a voice, speech", async () => {
    writeFileSync(join(cli.workDir, "face.png"), await makeMedia("png"));
    writeFileSync(join(cli.workDir, "voice.mp3"), await makeMedia("mp3"));
    const film = [
      "video",
      "Closer",
      "-m",
      "video",
      "--duration",
      "1",
      "--aspect-ratio",
      "16:9",
      "--input",
      "@face.png",
    ];
    const made = await cli.run([...film, "--metadata", "order=7", "--json", "--wait"], { environment });
    expect([made.exitCode, made.stderr]).toEqual([0, ""]);
    expect(JSON.parse(made.stdout)).toMatchObject({
      type: "video",
      metadata: { order: "7" },
      files: [expect.any(String)],
    });
    const avatar = ["avatar", "-m", "avatar", "--person", "face.png", "--audio", "voice.mp3", "-o", "avatar.mp4"];
    expect(await cli.run(avatar, { environment })).toMatchObject({ exitCode: 0, stdout: "avatar.mp4\n" });
    const speech = ["speech", "Hello there", "-m", "sandbox-speech", "-o", "hello.mp3"];
    expect(await cli.run(speech, { environment })).toMatchObject({ exitCode: 0, stdout: "hello.mp3\n" });
    expect(listFiles()).toEqual(expect.arrayContaining(["avatar.mp4", "hello.mp3"]));
    const files = (await (await caller.get("/files?purpose=generation")).json()) as { data: { filename: string }[] };
    expect(files.data.map(({ filename }) => filename).toSorted()).toEqual(["face.png", "face.png", "voice.mp3"]);
  });

  test("of a drama arrives without a webhook when the command waits, and its steps are printed", async () => {
    writeFileSync(join(cli.workDir, "story.txt"), "ANNA\nThe lamp is out.");
    writeFileSync(join(cli.workDir, "anna.png"), await makeMedia("png"));
    const words = ["drama", "--title", "The Lamp", "--script", "@story.txt", "--stage", "roles", "--character", "Ben"];
    const asked = [...words, "-m", "sandbox-drama", "--reference", "Anna=anna.png"];
    const refused = await cli.run([...asked, "--no-wait"], { environment });
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("webhooks listen")]);
    const { exitCode, stdout, stderr } = await cli.run([...asked, "--wait"], { environment });
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/: (script|roles), step \d of 2/)]);
    const files = stdout.trim().split("\n");
    expect(files.every((name) => name.endsWith(".json"))).toBe(true);
    const roles = files.map((name) => readFileSync(join(cli.workDir, name), "utf8")).join("\n");
    expect(roles).toContain("Anna");
    expect(roles).toContain("Ben");
  });
});

describe("a task", () => {
  test("that is not waited for prints its id, and can be listed, shown, waited for and downloaded later", async () => {
    const { stdout, exitCode } = await cli.run(["image", "Later", "-m", "sandbox-image"], { environment });
    const id = stdout.trim();
    expect([exitCode, id]).toEqual([0, expect.stringMatching(/^task_[0-9a-z]+$/)]);
    expect(await cli.run(["tasks", "wait", id], { environment })).toMatchObject({ exitCode: 0 });
    const again = await cli.run(["tasks", "download", id], { environment });
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
    expect((await cli.run(["tasks", "download", id, "-f"], { environment })).exitCode).toBe(0);
    expect(listFiles()).toHaveLength(1);
    expect((await cli.run(["tasks", "show", id], { environment })).stdout).toMatch(/status +succeeded, 100 %/);
    const list = await cli.run(["tasks", "--status", "succeeded"], { environment });
    expect(list.stdout).toMatch(new RegExp(`^${id} +image +succeeded +100 % +sandbox-image$`, "m"));
    expect((await cli.run(["tasks", "list", "--type", "video"], { environment })).stdout).toContain("No tasks found");
    expect(await cli.run(["tasks", "show", "task_0"], { environment })).toMatchObject({ exitCode: 1 });
  });

  test("that fails is exit code 5, with the reason and the price", async () => {
    const prompt = "Refused <<fault:policy>>";
    const { exitCode, stdout, stderr } = await cli.run(["image", prompt, "-m", "image", "--wait"], { environment });
    expect([exitCode, stdout]).toEqual([5, ""]);
    expect(stderr).toMatch(/task_\w+ failed\. .*It cost 0\.00 USD\./);
    const told = await cli.run(["image", prompt, "-m", "image", "--wait", "--json"], { environment });
    expect([told.exitCode, JSON.parse(told.stdout).status, told.stderr]).toEqual([5, "failed", ""]);
  });

  test("that cannot be paid for is exit code 4", async () => {
    const poor = await stage.createCaller({ cash: "0" });
    const answer = await cli.run(["image", "A", "-m", "image"], {
      environment: { ...environment, SLUICE_API_KEY: poor.key },
    });
    expect([answer.exitCode, answer.stdout]).toEqual([4, ""]);
    expect(answer.stderr).toContain("sluice balance");
  });

  test("is created once when it is sent again after the connection broke", async () => {
    let broken = 0;
    await using proxy = await startRecordingServer(async ({ method, path, headers, body }, response) => {
      const { host: _host, connection: _connection, ...rest } = headers;
      const answer = await fetch(`${site}${path}`, {
        method,
        headers: rest as Record<string, string>,
        ...(method === "POST" ? { body: new Uint8Array(body) } : {}),
      });
      const text = await answer.text();
      if (method === "POST" && broken < 2) {
        broken += 1;
        response.destroy();
      } else response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
    });
    const elsewhere = { SLUICE_API_KEY: caller.key, SLUICE_SITE: proxy.url };
    const { exitCode, stdout, stderr } = await cli.run(["image", "Once", "-m", "sandbox-image"], {
      environment: elsewhere,
    });
    expect([exitCode, broken]).toEqual([0, 2]);
    expect(stderr).toContain("Trying again");
    expect((await findOnlyTask()).id).toBe(stdout.trim());
    const keys = proxy.requests
      .filter(({ method }) => method === "POST")
      .map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    await caller.awaitTask(stdout.trim());
  });

  test("is polled if the server does not stream", async () => {
    const { id } = await caller.submitImage("sandbox-image", "Asked for");
    const task = await caller.awaitTask(id);
    await using proxy = await startRecordingServer(({ path }, response) => {
      if (path.endsWith("/events")) response.writeHead(501).end("{}");
      else response.setHeader("content-type", "application/json").end(JSON.stringify(task));
    });
    const elsewhere = { SLUICE_API_KEY: caller.key, SLUICE_SITE: proxy.url };
    expect((await cli.run(["tasks", "wait", id], { environment: elsewhere })).exitCode).toBe(0);
    expect(proxy.requests.findLast(({ path }) => path.endsWith(`/tasks/${id}`))?.headers.prefer).toBe("wait=20");
  });
});

describe("Ctrl-C", () => {
  test("cancels the task, also at the vendor, prints its cost, and is exit code 130", async () => {
    scriptEndless();
    const prompt = "Stop me";
    const running = cli.start(["image", prompt, "-m", "image", "--wait"], { environment });
    await running.sees(/task_\w+: /);
    await waitUntilRunning();
    running.kill("SIGINT");
    const { exitCode, stdout, stderr } = await running.ended;
    expect([exitCode, stdout]).toEqual([130, ""]);
    expect(stderr).toMatch(/Canceling task_[\s\S]*was canceled\. It cost 0\.00 USD/);
    expect((await caller.awaitTask((await findOnlyTask()).id)).status).toBe("canceled");
    expect(findJob(prompt)?.cancelCount).toBe(1);
    expect((await caller.readBalance()).available).toBe("10.00");
  });

  test("leaves the task running with --keep-on-interrupt, and when a command only waits", async () => {
    scriptEndless();
    const prompt = "Leave me";
    const kept = cli.start(["image", prompt, "-m", "image", "--wait", "--keep-on-interrupt"], { environment });
    await kept.sees(/task_\w+: /);
    kept.kill("SIGINT");
    expect(await kept.ended).toMatchObject({ exitCode: 130, stderr: expect.stringContaining("continues") });
    const { id } = await findOnlyTask();
    await waitUntilRunning();
    const waiting = cli.start(["tasks", "wait", id], { environment });
    await waiting.sees(/task_\w+: /);
    waiting.kill("SIGINT");
    expect((await waiting.ended).exitCode).toBe(130);
    expect(findJob(prompt)?.cancelCount).toBe(0);
    const canceled = await cli.run(["tasks", "cancel", id, "--json"], { environment });
    expect(canceled.exitCode).toBe(0);
    expect((await caller.awaitTask(id)).status).toBe("canceled");
  });

  test("reports that a task cannot be stopped, and the task goes on", async () => {
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const running = cli.start(["image", "Unstoppable", "-m", "image", "--wait"], { environment });
    await running.sees(/task_\w+: processing/);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ exitCode: 130, stderr: expect.stringContaining("cannot be canceled") });
    finish.open();
    expect((await caller.awaitTask((await findOnlyTask()).id)).status).toBe("succeeded");
  });

  test("during an upload ends at once, and creates no task", async () => {
    writeFileSync(join(cli.workDir, "face.png"), await makeMedia("png"));
    await using slow = await startRecordingServer(() => {});
    const elsewhere = { SLUICE_API_KEY: caller.key, SLUICE_SITE: slow.url };
    const running = cli.start(["image", "A", "-m", "image", "--input", "face.png"], { environment: elsewhere });
    await waitUntil("the upload", () => slow.requests.length > 0);
    running.kill("SIGINT");
    expect((await running.ended).exitCode).toBe(130);
    expect(slow.requests.map(({ path }) => path)).toEqual(["/v1/files"]);
  });
});

describe("on a terminal", () => {
  test("it waits by default, with a bar that fits the width, and Ctrl-C there cancels too", async () => {
    scriptEndless();
    const running = cli.startOnTerminal(["image", "Watch me", "-m", "image"], { environment, columns: 40 });
    await running.sees(/░.* % {2}\d\d:\d\d/);
    const bars = running.stdout().split("\x1b[K").slice(1);
    for (const bar of bars) expect(bar.split("\r")[0]?.length).toBeLessThan(40);
    running.write("\x03");
    expect((await running.ended).exitCode).toBe(130);
    expect((await caller.awaitTask((await findOnlyTask()).id)).status).toBe("canceled");
  });

  test("output is coloured, but not with NO_COLOR or without a terminal", async () => {
    const colour = "\x1b[1m";
    expect((await cli.startOnTerminal(["models"], { environment }).ended).stdout).toContain(colour);
    const plain = { ...environment, NO_COLOR: "1" };
    expect((await cli.startOnTerminal(["models"], { environment: plain }).ended).stdout).not.toContain(colour);
    expect((await cli.run(["models"], { environment })).stdout).not.toContain(colour);
  });
});
