import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startConfinedProcess } from "../../../src/platform/confinement/start-confined-process.ts";
import { findMediaTools } from "../../../src/platform/media/find-media-tools.ts";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";
import { listChildren } from "../../harness/list-children.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const signal = new AbortController().signal;
const limits = { source: "ours", signal, timeoutMs: 60_000, stdoutBytesMax: 1_000_000 } as const;
const endless = ["-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "null", "-"];
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tools-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the tools are found, with the year of their build, and looked up once", async () => {
  const tools = await findMediaTools();
  expect(tools.ffmpeg.year).toBeGreaterThanOrEqual(2018);
  expect(tools.ffprobe.path).toMatch(/ffprobe$/);
  expect(await findMediaTools()).toBe(tools);
});

test("a tool reads its input and its output is returned", async () => {
  const args = ["-f", "s16le", "-ar", "8000", "-ac", "1", "-i", "pipe:0", "-f", "s16le", "pipe:1"];
  for (const input of [Buffer.alloc(16_000, 1), Readable.from([Buffer.alloc(8000, 1), Buffer.alloc(8000, 1)])]) {
    const { stdout } = await runMediaTool({ ...limits, tool: "ffmpeg", args, input });
    expect(stdout.equals(Buffer.alloc(16_000, 1))).toBe(true);
  }
});

test("lines are emitted as they arrive", async () => {
  const lines: string[] = [];
  const args = ["-f", "lavfi", "-i", "sine=d=1", "-progress", "pipe:1", "-f", "null", "-"];
  const { stdout } = await runMediaTool({ ...limits, tool: "ffmpeg", args, onLine: (line) => lines.push(line) });
  expect(lines).toContain("progress=end");
  expect(stdout).toHaveLength(0);
});

test("an input without a format is an error in our code", async () => {
  for (const tool of ["ffmpeg", "ffprobe"] as const) {
    await expect(runMediaTool({ ...limits, tool, args: ["-i", "file:/dev/null"] })).rejects.toThrow("Invariant");
  }
  const args = ["-f", "wav", "-i", "file:/dev/null", "-i", "file:/dev/null"];
  await expect(runMediaTool({ ...limits, tool: "ffmpeg", args })).rejects.toThrow("Invariant");
});

test("no tool reaches the network, neither by an address nor by a file that contains one", async () => {
  let requests = 0;
  await using server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.ts`;
  const playlist = join(folder, "list.m3u8");
  await writeFile(playlist, `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`);
  const list = join(folder, "list.txt");
  await writeFile(list, `ffconcat version 1.0\nfile '${url}'\n`);
  for (const input of [
    ["mp3", url],
    ["hls", `file:${playlist}`],
    ["concat", `file:${list}`],
    ["mp3", `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`],
  ]) {
    const [demuxer = "", path = ""] = input;
    const safe = demuxer === "concat" ? ["-safe", "0"] : [];
    const reading = ["-f", demuxer, ...safe, "-i", path];
    await expect(
      runMediaTool({ ...limits, tool: "ffmpeg", args: [...reading, "-f", "null", "-"] }),
    ).rejects.toMatchObject({ kind: "failed" });
    await expect(
      runMediaTool({ ...limits, tool: "ffprobe", args: ["-f", demuxer, ...safe, path, "-show_streams"] }),
    ).rejects.toMatchObject({ kind: "failed" });
  }
  expect(requests).toBe(0);
});

test("a playlist gives a tool access to its own input files only", async () => {
  const sound = join(folder, "another.wav");
  const words = ["-f", "lavfi", "-i", "sine=d=1"];
  await runMediaTool({ ...limits, tool: "ffmpeg", args: [...words, `file:${sound}`] });
  const list = join(folder, "leading.txt");
  await writeFile(list, `ffconcat version 1.0\nfile '${sound}'\n`);
  const playlist = join(folder, "leading.m3u8");
  await writeFile(playlist, `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n#EXT-X-ENDLIST\n`);
  const read = (demuxer: readonly string[], path: string) => ({
    ...limits,
    tool: "ffmpeg" as const,
    args: ["-f", ...demuxer, "-i", `file:${path}`, "-f", "null", "-"],
  });
  await expect(runMediaTool(read(["hls"], playlist))).rejects.toMatchObject({ kind: "failed" });
  const reading = read(["concat", "-safe", "0"], list);
  await expect(runMediaTool(reading)).rejects.toMatchObject({
    kind: "failed",
    detail: { stderr: expect.stringMatching(/No such file|Permission denied/) },
  });
  await runMediaTool({ ...reading, alsoReads: [sound] });
});

test("a tool that takes too long is killed", async () => {
  await expect(runMediaTool({ ...limits, timeoutMs: 300, tool: "ffmpeg", args: endless })).rejects.toMatchObject({
    kind: "timeout",
  });
  await waitUntil("it is gone", async () => (await listChildren()).length === 0);
});

test("a tool is killed when its caller aborts", async () => {
  const controller = new AbortController();
  const running = runMediaTool({ ...limits, signal: controller.signal, tool: "ffmpeg", args: endless });
  await waitUntil("it runs", async () => (await listChildren()).length > 0);
  controller.abort(new Error("given up"));
  await expect(running).rejects.toThrow("given up");
  await waitUntil("it is gone", async () => (await listChildren()).length === 0);
  await expect(runMediaTool({ ...limits, signal: controller.signal, tool: "ffmpeg", args: endless })).rejects.toThrow(
    "given up",
  );
});

test("a tool that writes too much is killed", async () => {
  const args = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-f", "rawvideo", "pipe:1"];
  await expect(runMediaTool({ ...limits, tool: "ffmpeg", args })).rejects.toMatchObject({ kind: "too-much-output" });
  await waitUntil("it is gone", async () => (await listChildren()).length === 0);
});

test("a tool that uses too much memory fails, with the reason in the detail only", async () => {
  const args = ["-f", "lavfi", "-i", "testsrc2=s=1920x1080:d=0.1", "-c:v", "libx264", "-f", "null", "-"];
  const call = { ...limits, tool: "ffmpeg", args } as const;
  await runMediaTool(call);
  const error = await runMediaTool({ ...call, memoryBytesMax: 150_000_000 }).catch((reason: unknown) => reason);
  // It fails at its encoder, or before that, at one of its many libraries.
  const complaint = /encoder|shared librar/;
  expect(error).toMatchObject({ kind: "failed", detail: { stderr: expect.stringMatching(complaint) } });
  expect(String(error)).not.toMatch(complaint);
});

test("a confined process does not see our environment, and dies with its children", async () => {
  process.env.STUDIO_SECRET = "do not tell";
  const base = {
    name: "shell",
    view: { reads: [], runs: ["/bin/sleep"], writes: [] },
    mayFork: true,
    memory: { kind: "as", bytesMax: 1024 ** 3 },
    environment: { ONLY: "this" },
    signal,
    timeoutMs: 30_000,
  } as const;
  const told = await startConfinedProcess({ ...base, command: ["/usr/bin/env"] });
  const text = (await told.stdout.setEncoding("utf8").toArray()).join("");
  await told.ended;
  expect(text.split("\n").filter((line) => /^[A-Z]/.test(line) && !line.startsWith("PWD="))).toEqual(["ONLY=this"]);
  delete process.env.STUDIO_SECRET;
  const family = await startConfinedProcess({ ...base, command: ["/bin/sh", "-c", "sleep 1000 & sleep 1000"] });
  await waitUntil("both run", async () => (await listChildren()).length >= 3);
  family.kill(new Error("enough"));
  await expect(family.ended).rejects.toThrow("enough");
  await waitUntil("all are gone", async () => (await listChildren()).length === 0);
});
