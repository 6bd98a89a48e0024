import { parseArgs } from "node:util";
import { rollGateways } from "../test/harness/rollout/roll-gateways.ts";
import { externalBinaries, startExternalPostgres } from "../test/harness/servers/external-postgres.ts";
import { startRedisServer } from "../test/harness/servers/redis-server.ts";
import { presentTable, writeResults } from "./write-results.ts";

const exitMsGoal = 1000;

/** Three gateways behind HAProxy, restarted one after another until there were this many calls. */
export async function measureRollout(words: string[]): Promise<void> {
  const { values } = parseArgs({
    args: words,
    options: { calls: { type: "string", default: "10000" }, callers: { type: "string", default: "16" } },
  });
  if (externalBinaries === null) throw new Error("Install PostgreSQL, Redis and HAProxy first: CONTRIBUTING.md.");
  await using postgres = await startExternalPostgres(externalBinaries);
  await using redis = await startRedisServer();
  const { calls, errors, stops, exitCodes, exitMsMax, slowestMs } = await rollGateways({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    callsMin: Number(values.calls),
    callers: Number(values.callers),
    pauseMs: 20,
    delayMs: 1500,
  });
  for (const error of errors.slice(0, 20)) console.error(error);
  const badExits = exitCodes.filter((code) => code !== 0).length;
  const findings: readonly (readonly [string, string, string, boolean])[] = [
    [
      "calls: chat whole and streamed, speech",
      calls.toLocaleString("en"),
      `≥ ${values.calls}`,
      calls >= Number(values.calls),
    ],
    ["gateways stopped and started meanwhile", String(stops), "≥ 3", stops >= 3],
    ["errors that callers saw", String(errors.length), "0", errors.length === 0],
    ["gateways that ended with an error", String(badExits), "0", badExits === 0],
    [
      "end of a gateway after its last request, longest",
      `${exitMsMax} ms`,
      `≤ ${exitMsGoal} ms`,
      exitMsMax <= exitMsGoal,
    ],
    ["slowest call, but for those that last", `${Math.round(slowestMs)} ms`, "", true],
  ];
  const rows = findings.map(([what, figure, goal, isMet]) => [what, figure, goal, isMet ? "met" : "MISSED"]);
  writeResults("rollout", presentTable(["what", "figure", "goal", "verdict"], rows));
  if (findings.some(([, , , isMet]) => !isMet)) process.exitCode = 1;
}
