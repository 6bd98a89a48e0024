import { loadavg } from "node:os";
import { type ChatLoadName, chatLoads } from "./chat-rounds.ts";
import { checkOut, ownCheckout } from "./check-out.ts";
import { type Comparison, compareCheckouts } from "./measure-variants.ts";
import { presentTable } from "./write-results.ts";

const loads: readonly ChatLoadName[] = ["whole1", "whole32", "whole256", "stream1", "stream32", "stream256"];
const rounds = 9;
/** Noise that no change has to explain. */
const ratioMax = 1.03;

/**
 * Whether the working tree is slower than a commit: `npm run bench -- gate [commit]`, `origin/main` by default. Takes four
 * minutes, and exits with 1 if it is.
 */
export async function measureGate([commit = "origin/main"]: string[]): Promise<void> {
  const folder = checkOut(commit);
  const rows: string[][] = [];
  let isSlower = false;
  await compareCheckouts([folder, ownCheckout], { loads, rounds }, (load, [, own]) => {
    if (own === undefined) return;
    const verdict = judge(own);
    isSlower ||= verdict === "slower";
    rows.push([chatLoads[load].name, presentFigures(own.cpu), presentFigures(own.database), verdict]);
    console.error(rows.at(-1)?.join("  "));
  });
  console.log(presentTable(["load", `gateway beside ${commit}`, "PostgreSQL", "verdict"], rows));
  console.log(`Load average ${loadavg()[0]?.toFixed(1)}. Above the number of cores, repeat it on a quieter machine.`);
  if (isSlower) process.exitCode = 1;
}

/** Slower or faster only if most rounds agree. */
function judge({ cpu, database }: Comparison): "slower" | "faster" | "same" {
  const all = [cpu, database];
  if (all.some(({ ratio, lowerQuartile }) => ratio > ratioMax && lowerQuartile > 1)) return "slower";
  return all.some(({ ratio, upperQuartile }) => ratio < 2 - ratioMax && upperQuartile < 1) ? "faster" : "same";
}

function presentFigures({ ratio, lowerQuartile, upperQuartile }: Comparison["cpu"]): string {
  return `${ratio.toFixed(2)} × (${lowerQuartile.toFixed(2)}–${upperQuartile.toFixed(2)})`;
}
