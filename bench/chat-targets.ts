import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatAsk, writeChatRequest } from "./chat-requests.ts";
import { forkServer } from "./fork-server.ts";
import { portkeyVersion, startPortkey } from "./portkey-gateway.ts";
import { readPostmasterId } from "./process-figures.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { type Wire, type WireAsk, writeWireRequest } from "./wire-requests.ts";

export const targetNames = ["direct", "bare", "recording", "sluice", "other", "portkey"] as const;
export type TargetName = (typeof targetNames)[number];

/** How the upstream answers a call, set by headers. */
const upstreamWays = {
  "at-once": { "x-bench-chunks": "each-turn" },
  "one-write": { "x-bench-chunks": "one-write" },
  late: { "x-bench-chunks": "each-turn", "x-bench-delay": "20" },
} as const satisfies Record<string, Record<string, string>>;
export type UpstreamWay = keyof typeof upstreamWays;

export type ChatTarget = {
  name: TargetName;
  port: number;
  processId: number;
  databaseProcessId: number | null;
  writeRequest(ask: ChatAsk, way: UpstreamWay): Buffer;
  /** The same in any wire format that it accepts; the upstream decides whether it is translated. */
  writeWire?(wire: Wire, ask: WireAsk, upstream: "translated" | "native"): Buffer;
};

export type ChatTargets = {
  targets: ChatTarget[];
  /** Why Portkey is missing. */
  portkeyTrouble: string | null;
  close(): Promise<void>;
};

/** The upstream, and all measured targets in front of it, each in a separate process. */
export async function startChatTargets({ besideDir }: { besideDir: string | undefined }): Promise<ChatTargets> {
  const upstream = await forkServer("fixed-upstream.ts");
  const bare = await forkServer("bare-proxy.ts", { words: [`--upstream-port=${upstream.port}`] });
  const recording = await startRecording(upstream.port);
  const models = describeModels(upstream.port);
  const sluice = await startSluice([...models, describeNativeModel(upstream.port)]);
  const other = besideDir === undefined ? null : await startSluice(models, { checkoutDir: besideDir });
  const portkey = await startPortkey().catch((error: unknown) => `Portkey ${portkeyVersion} did not start: ${error}`);

  const targets = [
    describePassThrough("direct", upstream),
    describePassThrough("bare", bare),
    describePassThrough("recording", recording),
    describeSluice("sluice", sluice),
    ...(other === null ? [] : [describeSluice("other", other)]),
  ];
  if (typeof portkey !== "string") targets.push(describePortkey(portkey, upstream.port));
  return {
    targets,
    portkeyTrouble: typeof portkey === "string" ? portkey : null,
    async close() {
      const servers = [
        ...(typeof portkey === "string" ? [] : [portkey]),
        ...(other === null ? [] : [other]),
        sluice,
        recording,
        bare,
        upstream,
      ];
      for (const server of servers) await server.close();
    },
  };
}

type PassThrough = { port: number; processId: number; databaseProcessId?: number | null };

function describePassThrough(name: TargetName, { port, processId, databaseProcessId = null }: PassThrough): ChatTarget {
  return {
    name,
    port,
    processId,
    databaseProcessId,
    writeRequest: (ask, way) => writeChatRequest(ask, { port, model: "bench-model", headers: upstreamWays[way] }),
    writeWire: (wire, ask) =>
      writeWireRequest(wire, ask, { port, model: "bench-model", headers: upstreamWays["at-once"] }),
  };
}

/** The pass-through that records, alone. */
export async function describeRecording(upstreamPort: number): Promise<{ target: ChatTarget; close(): Promise<void> }> {
  const recording = await startRecording(upstreamPort);
  return { target: describePassThrough("recording", recording), close: recording.close };
}

/** One model for each way in which the upstream answers. */
export function describeModels(upstreamPort: number) {
  return (Object.keys(upstreamWays) as UpstreamWay[]).map((way) => ({
    id: way,
    routes: [{ port: upstreamPort, headers: upstreamWays[way] }],
  }));
}

const nativeModel = "native";

/** A model whose upstream supports every wire format natively. */
export function describeNativeModel(upstreamPort: number) {
  const route = { port: upstreamPort, headers: upstreamWays["at-once"], native_wires: ["messages", "responses"] };
  return { id: nativeModel, routes: [route] };
}

async function startRecording(upstreamPort: number) {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const { port, processId, close } = await forkServer("recording-proxy.ts", {
    words: [`--upstream-port=${upstreamPort}`, `--data-dir=${dataDir}`],
  });
  return {
    port,
    processId,
    databaseProcessId: readPostmasterId(dataDir),
    async close() {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export function describeSluice(name: TargetName, gateway: SluiceGateway): ChatTarget {
  const { port, headers, processId, databaseProcessId } = gateway;
  const writeRequest = (ask: ChatAsk, way: UpstreamWay) => writeChatRequest(ask, { port, model: way, headers });
  return {
    ...{ name, port, processId, databaseProcessId, writeRequest },
    writeWire: (wire, ask, upstream) =>
      writeWireRequest(wire, ask, { port, model: upstream === "native" ? nativeModel : "at-once", headers }),
  };
}

function describePortkey({ port, processId }: { port: number; processId: number }, upstreamPort: number): ChatTarget {
  const headers = {
    authorization: "Bearer sk-bench",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
    "x-portkey-forward-headers": "x-bench-chunks,x-bench-delay",
  };
  return {
    name: "portkey",
    port,
    processId,
    databaseProcessId: null,
    writeRequest: (ask, way) =>
      writeChatRequest(ask, { port, model: "bench-model", headers: { ...headers, ...upstreamWays[way] } }),
  };
}
