import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../../src/lib/clock.ts";
import type { GenerationRequest } from "../../../src/providers/generation.ts";
import type { QueueKind } from "../../../src/providers/provider-definition.ts";
import { createQueueGeneration } from "../../../src/providers/queues/create-queue-generation.ts";
import { queueVendors } from "../../../src/providers/queues/queue-vendors.ts";
import type { RouteTerms } from "../../../src/providers/route-terms.ts";
import { startRecordingServer } from "../servers/recording-server.ts";

/** What a vendor was sent and what it replied, without anything that is secret or belongs to the account. */
export type VendorRecording = {
  kind: QueueKind;
  recordedAt: string;
  outcome: string;
  exchanges: RecordedExchange[];
};

type RecordedExchange = {
  request: { method: string; path: string; body: unknown };
  reply: { status: number; body: unknown };
};

type RecordOptions = {
  kind: QueueKind;
  apiKey: string;
  upstreamModel: string;
  request: GenerationRequest;
  route?: RouteTerms;
  /** Instead of the vendor's own. */
  baseUrl?: string;
  /** Between two polls; absent: the vendor's fastest. */
  pollMs?: number;
};

const pollsMax = 200;
const timeoutMs = 120_000;

/** Runs a job of the vendor to its end through our adapter, and records each exchange on the way. Costs what the job costs. */
export async function recordVendor(options: RecordOptions): Promise<VendorRecording> {
  const { kind, apiKey, upstreamModel, request, route = {} } = options;
  const vendor = new URL(options.baseUrl ?? queueVendors[kind].baseUrl);
  const exchanges: RecordedExchange[] = [];
  await using proxy = await startRecordingServer(async ({ method, path, headers, body }, response) => {
    const { host: _, connection: __, "content-length": ___, ...rest } = headers;
    const answer = await fetch(`${vendor.origin}${path}`, {
      method,
      headers: rest as Record<string, string>,
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    exchanges.push({
      request: { method, path, body: parse(String(body)) },
      reply: { status: answer.status, body: parse(text) },
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(text);
  });
  const provider = createQueueGeneration(queueVendors[kind], {
    ...{ headers: {}, connectionsMax: 2, clock: systemClock, baseUrl: `${proxy.url}${vendor.pathname}` },
  });
  const signal = new AbortController().signal;
  const call = { taskId: "task_1", inputs: [], request, route, upstreamModel, apiKey, timeoutMs, signal };
  let id = "";
  let outcome = "refused";
  try {
    const submitted = await provider.submit(call);
    outcome = submitted.kind;
    if (submitted.kind === "accepted") {
      id = String(submitted.handle.id);
      outcome = "running";
      for (let polls = 0; outcome === "running" && polls < pollsMax; polls += 1) {
        await wait(options.pollMs ?? provider.traits.pollMsMin);
        outcome = (await provider.poll(submitted.handle, call)).kind;
      }
    }
  } catch (error) {
    // A refusal is worth a recording too; anything else has none.
    if (exchanges.length === 0) throw error;
  } finally {
    await provider.close();
  }
  const recordedAt = systemClock.now().toISOString();
  return redact({ kind, recordedAt, outcome, exchanges }, { apiKey, id });
}

function parse(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const ownFields = /request_?id|trace|account|organi[sz]ation|user|email|project|team|signature|token$/i;
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Replaces the key, ids, addresses, files and what names the account. */
function redact(recording: VendorRecording, { apiKey, id }: { apiKey: string; id: string }): VendorRecording {
  const written = JSON.stringify(recording, (name, value: unknown) => {
    if (typeof value !== "string") return value;
    if (name !== "" && ownFields.test(name)) return "<redacted>";
    if (/^https?:\/\//.test(value)) return "{url}";
    if (value.length > 200 && /^(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/\s]+=*$/.test(value)) return "{bytes}";
    const named = id === "" ? value : value.replaceAll(id, "job-1");
    return named
      .replaceAll(apiKey, "<key>")
      .replaceAll(uuid, "<uuid>")
      .replaceAll(/\bprojects\/[^/]+/g, "projects/<project>");
  });
  return JSON.parse(written);
}
