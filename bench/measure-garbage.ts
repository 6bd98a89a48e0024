import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../test/harness/wait-until.ts";
import { type ChatLoadName, chatLoads, measureRound } from "./chat-rounds.ts";
import { describeModels, describeSluice } from "./chat-targets.ts";
import { checkOut, ownCheckout } from "./check-out.ts";
import { forkServer } from "./fork-server.ts";
import { startSluice } from "./sluice-gateway.ts";
import { presentTable } from "./write-results.ts";

/** What `watch-garbage.ts` counts. */
export type GarbageCounts = { scavenges: number; promotedBytes: number; pausedUs: number };

const loads: readonly ChatLoadName[] = ["whole1", "whole32", "stream32"];
const warmUpMs = 4_000;
const roundMs = 4_000;
/** Rarer ones are not made by calls. */
const timesMin = 0.02;

/**
 * What calls leave to the garbage collector: `npm run bench -- garbage [commit]`, beside a commit. An ended call should leave
 * about the kilobyte of its entry in the request log to the old generation, and create no hidden class. If it leaves more,
 * something keeps ended calls until the next major collection: a `Set` or a `Map` that changes with every call, or a closure
 * in a field of an object that an upstream's parser calls.
 */
export async function measureGarbage([commit]: string[]): Promise<void> {
  const upstream = await forkServer("fixed-upstream.ts");
  const folder = mkdtempSync(join(tmpdir(), "sluice-garbage-"));
  const rows: string[][] = [];
  const sites = new Map<string, number>();
  try {
    for (const checkoutDir of [...(commit === undefined ? [] : [checkOut(commit)]), ownCheckout]) {
      const name = checkoutDir === ownCheckout ? "now" : (commit ?? "");
      for (const load of loads) rows.push([chatLoads[load].name, name, ...(await measure(load, checkoutDir))]);
    }
  } finally {
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(presentTable(["load", "commit", "promoted bytes", "hidden classes", "paused µs", "CPU µs"], rows));
  const often = [...sites].filter(([, times]) => times >= timesMin).toSorted(([, one], [, other]) => other - one);
  for (const [site, times] of often) console.log(`${times.toFixed(2)} hidden classes per call at ${site}`);

  /** All per call. */
  async function measure(load: ChatLoadName, checkoutDir: string): Promise<string[]> {
    const files = { counts: join(folder, `${rows.length}.json`), classes: join(folder, `${rows.length}.log`) };
    const preload = join(import.meta.dirname, "watch-garbage.ts");
    const gateway = await startSluice(describeModels(upstream.port), {
      checkoutDir,
      nodeWords: [`--import=${preload}`, "--log-maps", "--no-logfile-per-isolate", `--logfile=${files.classes}`],
      settings: { BENCH_GARBAGE_FILE: files.counts },
    });
    try {
      const target = describeSluice("sluice", gateway);
      await measureRound(target, chatLoads[load], warmUpMs);
      const from = statSync(files.classes).size;
      process.kill(gateway.processId, "SIGUSR2");
      const { requests, cpuUs } = await measureRound(target, chatLoads[load], roundMs);
      process.kill(gateway.processId, "SIGUSR2");
      const made = readClasses(files.classes, from);
      await waitUntil("the gateway has written its counts", () => existsSync(files.counts), warmUpMs);
      const { promotedBytes, pausedUs } = JSON.parse(readFileSync(files.counts, "utf8")) as GarbageCounts;
      if (checkoutDir === ownCheckout) {
        for (const [site, times] of Map.groupBy(made, (line) => line)) {
          sites.set(site, Math.max(sites.get(site) ?? 0, times.length / requests));
        }
      }
      return [promotedBytes, made.length, pausedUs, cpuUs * requests].map((sum) => (sum / requests).toFixed(1));
    } finally {
      await gateway.close();
    }
  }
}

/** Line, column and field of each hidden class that was made since, in files of the built server. */
function readClasses(file: string, from: number): string[] {
  const bytes = Buffer.alloc(statSync(file).size - from);
  const descriptor = openSync(file, "r");
  readSync(descriptor, bytes, 0, bytes.length, from);
  closeSync(descriptor);
  return bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => line.startsWith("map,"))
    .map((line) => {
      const [, kind, , , , , row, column, , field = ""] = line.split(",");
      return `${row}:${column} (${kind} ${field})`;
    });
}
