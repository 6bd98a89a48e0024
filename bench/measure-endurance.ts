import { parseArgs } from "node:util";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { shortPromptBytes, writeChatRequest } from "./chat-requests.ts";
import { forkServer } from "./fork-server.ts";
import { judgeFlatness, runMixedLoad, startBreakingUpstream } from "./mixed-load.ts";
import { startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const streamed = { isStream: true, promptBytes: shortPromptBytes };
const whole = { isStream: false, promptBytes: shortPromptBytes };

/** Whether memory stays flat under a mixed load. */
export async function measureEndurance(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { minutes: { type: "string", default: "10" } } });
  const [what, figure, goal, isFlat] = await measureFlatness(Number(values.minutes));
  writeResults(
    "endurance",
    presentTable(["what", "figure", "goal", "verdict"], [[what, figure, goal, isFlat ? "met" : "MISSED"]]),
  );
  if (!isFlat) process.exitCode = 1;
}

async function measureFlatness(
  minutes: number,
): Promise<readonly [what: string, figure: string, goal: string, isMet: boolean]> {
  const upstream = await forkServer("fixed-upstream.ts");
  const breaking = await startBreakingUpstream();
  const closedPort = Number(await findFreePort());
  const late = { port: upstream.port, headers: { "x-bench-chunks": "each-turn", "x-bench-delay": "20" } };
  const sluice = await startSluice([
    { id: "late", routes: [late] },
    { id: "spaced", routes: [{ port: upstream.port, headers: { "x-bench-chunks": "spaced" } }] },
    { id: "broken", routes: [{ port: breaking.port }] },
    { id: "rerouted", routes: [{ port: closedPort }, late] },
  ]);
  const write = (ask: typeof whole, model: string): Buffer =>
    writeChatRequest(ask, { port: sluice.port, model, headers: sluice.headers });
  const requests = {
    whole: write(whole, "late"),
    streamed: write(streamed, "late"),
    abandoned: write(streamed, "spaced"),
    broken: write(streamed, "broken"),
    rerouted: write(whole, "rerouted"),
  };
  const { counts, residentBytes } = await runMixedLoad(sluice, requests, minutes * 60_000);
  await sluice.close();
  breaking.close();
  await upstream.close();
  const calls = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { early, late: end, isFlat } = judgeFlatness(residentBytes);
  const figure = `${presentMegabytes(early)} → ${presentMegabytes(end)}`;
  return [`memory over ${minutes} minutes and ${calls.toLocaleString("en")} calls`, figure, "≤ + 10 % + 20 MB", isFlat];
}

function presentMegabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
