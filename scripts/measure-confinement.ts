// Measures the cost of sandboxing a decoder: the same work with each available method and without, interleaved.
// node scripts/measure-confinement.ts
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { tryMechanism } from "../src/platform/confinement/find-confinement.ts";
import { findLaunchers } from "../src/platform/confinement/find-launchers.ts";
import { mechanisms } from "../src/platform/confinement/mechanisms.ts";
import { type Confinement, spawnConfined } from "../src/platform/confinement/spawn-confined.ts";
import { createImageReader } from "../src/platform/media/create-image-reader.ts";
import { findMediaTools } from "../src/platform/media/find-media-tools.ts";
import { readImage } from "../src/platform/media/read-image.ts";
import { runMediaTool } from "../src/platform/media/run-media-tool.ts";

const rounds = 31;
const pauseMs = 400;
const { signal } = new AbortController();
const folder = await mkdtemp(join(tmpdir(), "sluice-measure-"));

async function measure(times: number[] | undefined, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  times?.push(performance.now() - start);
}

/** On a busy machine, the minimum is the most reliable. */
function present(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [fastest = 0, median = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)]];
  console.log(`${name}: ${median.toFixed(1)} ms, the fastest ${fastest.toFixed(1)} ms`);
}

async function measureProbes(): Promise<void> {
  const path = join(folder, "sound.mp3");
  const limits = { source: "ours", signal, timeoutMs: 60_000, stdoutBytesMax: 1000 } as const;
  await runMediaTool({ ...limits, tool: "ffmpeg", args: ["-f", "lavfi", "-i", "sine=d=5", `file:${path}`] });
  const tool = (await findMediaTools()).ffprobe.path;
  const ways: Confinement[] = [{ kind: "none", reason: "for comparison" }];
  for (const mechanism of mechanisms) ways.push(await tryMechanism(mechanism));
  const launchers = await findLaunchers();
  const times = ways.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, confinement] of ways.entries()) {
      const probe = async (): Promise<void> => {
        const running = await spawnConfined(
          {
            name: "ffprobe",
            command: [tool, "-loglevel", "error", "-f", "mp3", "-show_streams", `file:${path}`],
            environment: {},
            view: { reads: [path], writes: [] },
            memory: { kind: "as", bytesMax: 3 * 1024 ** 3 },
            signal,
            timeoutMs: 60_000,
          },
          { launchers, confinement },
        );
        await Promise.all([text(running.stdout), running.ended]);
      };
      await measure(times[index], probe);
    }
  }
  for (const [index, way] of ways.entries()) {
    present(`${tool}, ${way.kind === "confined" ? way.mechanism : way.kind}`, times[index] ?? []);
  }
}

async function measurePictures(): Promise<void> {
  const noise = { type: "gaussian", mean: 100, sigma: 20 } as const;
  const bytes = await sharp({ create: { width: 1024, height: 768, channels: 3, background: "red", noise } })
    .png()
    .toBuffer();
  const path = join(folder, "picture.png");
  await writeFile(path, bytes);
  const images = createImageReader();
  const [here, waiting, cold]: [number[], number[], number[]] = [[], [], []];
  await images.read(path, signal);
  for (let round = 0; round < rounds; round += 1) {
    // Enough for the next process to get ready; images seldom arrive faster.
    await wait(pauseMs);
    await measure(here, () => readImage(bytes));
    await measure(waiting, () => images.read(path, signal));
    const fresh = createImageReader();
    await measure(cold, () => fresh.read(path, signal));
    await fresh.close();
  }
  await images.close();
  present("an image, in this process", here);
  present("an image, by a process that waits for it", waiting);
  present("an image, by a process that is started for it", cold);
}

await measureProbes();
await measurePictures();
await rm(folder, { recursive: true });
