import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findConfinement, tryMechanism } from "../../../src/platform/confinement/find-confinement.ts";
import { findLaunchers } from "../../../src/platform/confinement/find-launchers.ts";
import { type Mechanism, mechanisms } from "../../../src/platform/confinement/mechanisms.ts";
import { describeNodeProgram } from "../../../src/platform/confinement/node-program.ts";
import {
  type ConfinedProcessCall,
  type Confinement,
  type RunningProcess,
  spawnConfined,
} from "../../../src/platform/confinement/spawn-confined.ts";
import { findMediaTools, isMaintained } from "../../../src/platform/media/find-media-tools.ts";
import { createDataDirectory, findFreePort, runCommand, startGatewayProcess } from "../../harness/gateway-process.ts";
import type { HostileOrder } from "../../harness/hostile-process.ts";
import { listChildren } from "../../harness/list-children.ts";
import { createMachinePath } from "../../harness/machine-path.ts";
import { type MediaName, makeMedia } from "../../harness/media/media-files.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-confined-"));
const [dataDir, elsewhere] = [join(folder, "data"), join(folder, "elsewhere")];
const [own, other] = [join(dataDir, "spool", "own"), join(dataDir, "spool", "other")];
const made = join(dataDir, "work", "made");
const program = join(folder, "hostile-process.ts");
const servers = [createServer((socket) => socket.end()), createServer((socket) => socket.end())];

beforeAll(async () => {
  for (const path of [join(dataDir, "spool"), join(dataDir, "work"), elsewhere]) mkdirSync(path, { recursive: true });
  for (const [index, server] of servers.entries()) await listen(server, index === 0 ? 0 : join(dataDir, "socket"));
});

afterAll(async () => {
  for (const server of servers) await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true });
});

function listen(server: Server, place: number | string): Promise<void> {
  return new Promise((listening) =>
    typeof place === "number" ? server.listen(place, "127.0.0.1", listening) : server.listen(place, listening),
  );
}

async function startHostile(
  confinement: Confinement,
  changes: Partial<ConfinedProcessCall> = {},
): Promise<RunningProcess> {
  writeFileSync(own, "own");
  writeFileSync(other, "another's upload");
  writeFileSync(join(dataDir, "master-key"), "the master key", { mode: 0o600 });
  copyFileSync(join(import.meta.dirname, "../../harness/hostile-process.ts"), program);
  rmSync(made, { force: true });
  const [{ port }] = servers.map((server) => server.address()) as [AddressInfo, string];
  const order: HostileOrder = { dataDir, own, other, made, elsewhere, port, gateway: process.pid };
  return await spawnConfined(
    {
      ...describeNodeProgram(program, { heapMebibytesMax: 256, reads: [program, own], writes: [made] }),
      name: "hostile",
      memory: { kind: "data", bytesMax: 1024 ** 3 },
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      input: Buffer.from(JSON.stringify(order)),
      ...changes,
    },
    { launchers: await findLaunchers(), confinement },
  );
}

/** Everything that the hostile program tried, with the outcomes. */
async function attack(confinement: Confinement): Promise<Map<string, string>> {
  const running = await startHostile(confinement);
  const [said] = await Promise.all([text(running.stdout), running.ended]);
  return new Map(Object.entries(JSON.parse(said)));
}

const isThere = ({ program: launcher }: Mechanism): boolean => existsSync(`/usr/bin/${launcher}`);
const ways = await Promise.all(mechanisms.filter(isThere).map(tryMechanism));
/** An installed mechanism may still be unusable: without namespaces, or without Landlock in the kernel. */
const usable = ways.filter((way) => way.kind === "confined");

const permitted = ["read its input", "write its output"];

test("without confinement the hostile program reaches nearly everything, so the test is meaningful", async () => {
  const outcome = await attack({ kind: "none", reason: "the test wants it so" });
  rmSync(`/hostile-${process.pid}`, { recursive: true, force: true });
  const failed = [...outcome].filter(([, result]) => result !== "done").map(([attempt]) => attempt);
  // Not every user may write there, confined or not.
  expect(failed.filter((attempt) => attempt !== "write into the root folder")).toEqual([
    "know a secret of the environment",
  ]);
});

test.skipIf(!mechanisms.every(isThere))("this machine has a way to confine, and the best is chosen", async () => {
  expect(await findConfinement()).toEqual(usable[0]);
});

describe.each(usable)("confined by $mechanism", (confinement) => {
  test("a program reads its input and writes its output, and can do nothing else", async () => {
    const outcome = await attack(confinement);
    const done = [...outcome].filter(([, result]) => result === "done").map(([attempt]) => attempt);
    expect(done).toEqual(permitted);
    expect(outcome.size).toBeGreaterThan(20);
    expect(readFileSync(made, "utf8")).toBe("made");
    expect(readFileSync(own, "utf8")).toBe("own");
  });

  test("a program has no privileges and can gain none", async () => {
    const running = await startHostile(confinement, { input: "later" });
    // The program itself, below its launcher.
    const status = await waitUntil("it runs", async () => {
      const pids = await listChildren();
      const children = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")));
      return children.find((each) => /^Seccomp:\t2$/m.test(each) && !/^Name:\t(perl|bwrap)$/m.test(each)) ?? null;
    });
    running.kill(new Error("seen"));
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^CapEff:\t0000000000000000$/m);
    expect(status).toMatch(/^CapPrm:\t0000000000000000$/m);
    await waitUntil("it is gone", async () => (await listChildren()).length === 0);
  });

  test("a program ends at its time limit or its memory limit, whichever comes first", async () => {
    const spin = describeNodeProgram(program, { heapMebibytesMax: 64, reads: [], writes: [] });
    const [node] = spin.command;
    const run = async (script: string, changes: Partial<ConfinedProcessCall>): Promise<unknown> => {
      const running = await startHostile(confinement, {
        ...spin,
        command: [node, "-e", script],
        input: undefined,
        ...changes,
      });
      running.stdout.resume();
      return await running.ended.catch((error: unknown) => error);
    };
    expect(await run("setInterval(() => {}, 1000)", { timeoutMs: 300 })).toMatchObject({ kind: "timeout" });
    const memory = { kind: "data", bytesMax: 256 * 1024 ** 2 } as const;
    const hoard = "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))";
    expect(await run(hoard, { memory })).toMatchObject({ kind: "failed" });
    await waitUntil("all are gone", async () => (await listChildren()).length === 0);
  });
});

const hasMaintainedDecoder = existsSync("/usr/bin/ffmpeg");

async function upload(port: string, key: string, name: MediaName): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", new Blob([new Uint8Array(await makeMedia(name))]), "file");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`http://localhost:${port}/v1/files`, { method: "POST", body: form, headers });
  return { status: response.status, body: await response.json() };
}

test("a machine with an old decoder reports it, confines it, and without confinement refuses to decode uploads", {
  tags: "extended",
  timeout: 240_000,
}, async () => {
  using data = createDataDirectory();
  using old = createMachinePath({ without: ["ffmpeg", "ffprobe"] });
  using bare = createMachinePath({ without: ["ffmpeg", "ffprobe", "bwrap", "perl"] });
  const port = await findFreePort();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: port };
  const onOld = { environment: { ...environment, PATH: old.path } };
  const onBare = { environment: { ...environment, PATH: bare.path } };

  const before = await runCommand(["doctor"], onOld);
  expect([before.exitCode, before.stdout]).toEqual([
    1,
    expect.stringMatching(/✗ decoders .* dates from 2018: it runs confined/),
  ]);
  expect(before.stdout).toMatch(/apt-get install ffmpeg/);
  expect(before.stdout).toMatch(/✓ confinement +decoders are confined by/);
  {
    await using gateway = await startGatewayProcess(onOld);
    expect(gateway.output()).toMatch(/Warning +.* dates from 2018/);
    const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
    for (const name of ["mp3", "mp4", "webm", "png"] as const) {
      expect(await upload(port, key, name), name).toMatchObject({ status: 200 });
    }
  }

  const refused = await runCommand(["serve"], {
    environment: { ...onBare.environment, SLUICE_MEDIA_CONFINEMENT: "required" },
  });
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/media_confinement is required, but programs/),
  ]);
  const after = await runCommand(["doctor"], onBare);
  expect(after.stdout).toMatch(/✗ decoders .*uploads of video and audio are rejected/);
  expect(after.stdout).toMatch(
    /✗ confinement +programs that decode uploads are not confined: .*bwrap is not installed; perl is not installed/,
  );
  {
    await using gateway = await startGatewayProcess(onBare);
    expect(gateway.output()).toMatch(/Warning +programs that decode uploads are not confined/);
    const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
    expect(await upload(port, key, "mp3")).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining("cannot accept video and audio at present") } },
    });
    expect(await upload(port, key, "png")).toMatchObject({ status: 200 });
  }
});

test.skipIf(!hasMaintainedDecoder)("a maintained decoder of the system is preferred to the package's", async () => {
  const { ffmpeg, ffprobe } = await findMediaTools();
  expect([ffmpeg, ffprobe].every(isMaintained)).toBe(true);
  expect([ffmpeg.path, ffprobe.path]).toEqual(["/usr/bin/ffmpeg", "/usr/bin/ffprobe"]);
});
