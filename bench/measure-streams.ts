import { parseArgs } from "node:util";
import { nano, parseMoney, presentMoney } from "../src/lib/money.ts";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { waitUntil } from "../test/harness/wait-until.ts";
import { shortPromptBytes, writeChatRequest } from "./chat-requests.ts";
import { type ForkedServer, forkServer } from "./fork-server.ts";
import { closeAll, countPossibleStreams, openIdleStreams } from "./idle-streams.ts";
import type { LoadConnection } from "./load-connection.ts";
import { countDescriptors } from "./process-figures.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const idleRatioMax = 1.5;
/** A thousand, less what late timers cost. */
const streamsPerSecond = 990;
const idle = { "x-bench-chunks": "idle" };
const streamed = { isStream: true, promptBytes: shortPromptBytes };
const hangUpMsMax = 60_000;

type Finding = readonly [what: string, figure: string, goal: string, isMet: boolean];

/**
 * Many streams on one node that are opened at a thousand a second and then stay idle, and what remains when the clients
 * disconnect.
 */
export async function measureStreams(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { streams: { type: "string", default: "10000" } } });
  const findings = await measureIdleStreams(Number(values.streams));
  const rows = findings.map(([what, figure, goal, isMet]) => [what, figure, goal, isMet ? "met" : "MISSED"]);
  writeResults("streams", presentTable(["what", "figure", "goal", "verdict"], rows));
  if (findings.some(([, , , isMet]) => !isMet)) process.exitCode = 1;
}

async function measureIdleStreams(wanted: number): Promise<Finding[]> {
  const upstream = await forkServer("fixed-upstream.ts");
  const bare = await measureBare(upstream, wanted);
  const inspectPort = Number(await findFreePort());
  const sluice = await startSluice([{ id: "idle", routes: [{ port: upstream.port, headers: idle }] }], {
    nodeWords: [`--inspect-port=${inspectPort}`],
  });
  const count = countPossibleStreams(wanted, describeProcesses(sluice.processId, upstream));
  const request = writeChatRequest(streamed, { port: sluice.port, model: "idle", headers: sluice.headers });
  console.error(`opening ${count} streams through Sluice`);
  const { connections, bytesEach, readiness, ...pace } = await openIdleStreams(
    { ...sluice, inspectPort },
    { request, count },
  );
  const { probes, failures, slowestMs } = readiness;
  const left = await checkHangUps(sluice, upstream, connections);
  await sluice.close();
  await upstream.close();
  const ratio = bytesEach / bare.bytesEach;
  const beside = `bare ${presentKilobytes(bare.bytesEach)} with ${bare.count} streams`;
  return [
    ["idle streams open at a time", String(count), String(wanted), count >= wanted],
    [
      "asked for in a second, and the last one began after",
      `${pace.perSecond.toFixed(0)}, ${pace.lastMs.toFixed(0)} ms`,
      `≥ ${streamsPerSecond}`,
      pace.perSecond >= streamsPerSecond,
    ],
    [
      "readiness probes meanwhile: failed, slowest",
      `${failures} of ${probes}, ${slowestMs.toFixed(0)} ms`,
      "0",
      failures === 0,
    ],
    ["memory of an idle stream", presentKilobytes(bytesEach), beside, true],
    ["memory of an idle stream beside the bare", `${ratio.toFixed(2)} ×`, `≤ ${idleRatioMax} ×`, ratio <= idleRatioMax],
    ...left,
  ];
}

async function measureBare(upstream: ForkedServer, wanted: number): Promise<{ bytesEach: number; count: number }> {
  const inspectPort = Number(await findFreePort());
  const bare = await forkServer("bare-proxy.ts", {
    words: [`--upstream-port=${upstream.port}`],
    nodeWords: [...process.execArgv, `--inspect-port=${inspectPort}`],
  });
  const count = countPossibleStreams(wanted, describeProcesses(bare.processId, upstream));
  const request = writeChatRequest(streamed, { port: bare.port, model: "bench-model", headers: idle });
  console.error(`opening ${count} streams through the bare pass-through`);
  const { connections, bytesEach } = await openIdleStreams({ ...bare, inspectPort }, { request, count });
  closeAll(connections);
  await bare.close();
  return { bytesEach, count };
}

function describeProcesses(gateway: number, upstream: ForkedServer) {
  return { gateway, upstream: upstream.processId, client: process.pid };
}

/** A third of the clients disconnect, then all: upstream connections close, and holds are released. */
async function checkHangUps(
  sluice: SluiceGateway,
  upstream: ForkedServer,
  connections: readonly LoadConnection[],
): Promise<Finding[]> {
  const frozen = readAmount(await sluice.readFrozen());
  const descriptors = countDescriptors(upstream.processId);
  const each = frozen / BigInt(connections.length);
  const leave = async (what: string, leaving: readonly LoadConnection[], staying: number): Promise<Finding> => {
    const startedAtMs = performance.now();
    closeAll(leaving);
    await waitUntil(
      `the upstream is rid of ${what}`,
      () => countDescriptors(upstream.processId) <= descriptors - (connections.length - staying),
      hangUpMsMax,
    );
    const expected = presentMoney(nano(each * BigInt(staying)));
    await waitUntil(`${what} have settled`, async () => (await sluice.readFrozen()) === expected, hangUpMsMax);
    const tookS = ((performance.now() - startedAtMs) / 1000).toFixed(1);
    return [`${what} hang up: cancelled upstream and settled`, `after ${tookS} s`, `frozen ${expected}`, true];
  };
  const third = Math.floor(connections.length / 3);
  return [
    await leave(`${third} of ${connections.length}`, connections.slice(0, third), connections.length - third),
    await leave("all others", connections.slice(third), 0),
  ];
}

function readAmount(text: string): bigint {
  const amount = parseMoney(text);
  if (amount === null) throw new Error(`This is no amount: ${text}`);
  return amount;
}

function presentKilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`;
}
