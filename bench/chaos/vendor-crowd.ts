import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { QueueKind } from "../../src/providers/provider-definition.ts";
import { queueVendors } from "../../src/providers/queues/queue-vendors.ts";
import { film, makePicture } from "../../test/harness/upstreams/media-samples.ts";
import { findComplaint } from "../../test/harness/upstreams/vendor-fake.ts";
import type { QueueWire, WireReply } from "../../test/harness/upstreams/wires/queue-wire.ts";
import { queueWires } from "../../test/harness/upstreams/wires/queue-wires.ts";
import { draw } from "./draw.ts";

export type CrowdKind = QueueKind | "fal";
export const crowdKinds: readonly CrowdKind[] = ["fal", ...(Object.keys(queueWires) as QueueKind[])];

/** A job that a vendor has accepted. Times are those of the wall clock. */
export type CrowdJob = {
  kind: CrowdKind;
  /** The prompt, or the path of its callback for a vendor that gets no prompt. */
  about: string;
  id: string;
  endsAt: number;
  fails: boolean;
  /** The vendor has the job, but its reply was lost. */
  isUnanswered: boolean;
  /** Where the vendor calls back; `null` if it was not told. */
  hook: string | null;
  /** When each question about its state arrived. */
  polledAt: number[];
};

export type VendorCrowd = AsyncDisposable & {
  origin: string;
  jobs: readonly CrowdJob[];
  /** Bodies that no vendor would take. */
  complaints: readonly string[];
  /** How many requests met each fault. */
  faults: ReadonlyMap<string, number>;
};

type CrowdOptions = {
  seed: number;
  jobMs: { least: number; more: number };
  /** The site's address in callbacks; they are sent to one of the nodes. */
  siteUrl: string;
  nodeUrls(): readonly string[];
};

const perThousand = { limited: 20, unavailable: 15, unanswered: 15, unread: 10, poll: 80, fails: 30 };
const callbacks = { lost: 100, twice: 200, early: 300 };

/** All vendors of media on one port, with their own wires, faults by chance, and callbacks. */
export async function startVendorCrowd(options: CrowdOptions): Promise<VendorCrowd> {
  const { seed, jobMs, siteUrl, nodeUrls } = options;
  const jobs = new Map<string, CrowdJob>();
  const complaints: string[] = [];
  const faults = new Map<string, number>();
  const timers = new Set<NodeJS.Timeout>();
  const image = (await makePicture({ width: 64, height: 64 }, 1)).bytes;
  let requests = 0;

  const meets = (fault: string, odds: number): boolean => {
    if (draw(seed, `${fault} ${requests}`, 1_000) >= odds) return false;
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
    return true;
  };

  function later(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  function accept(kind: CrowdKind, id: string, body: string, path: string): CrowdJob {
    const told = decodeURIComponent(`${body} ${path}`);
    const start = told.indexOf(`${siteUrl}/hooks/`);
    const hook = start === -1 ? null : (/^[^"&\s]+/.exec(told.slice(start + siteUrl.length))?.[0] ?? null);
    const job: CrowdJob = {
      ...{ kind, id, hook, about: /crowd \d+!/.exec(body)?.[0] ?? hook ?? "" },
      endsAt: Date.now() + jobMs.least + draw(seed, `length ${id}`, jobMs.more),
      fails: draw(seed, `end ${id}`, 1_000) < perThousand.fails,
      ...{ isUnanswered: false, polledAt: [] },
    };
    jobs.set(`${kind} ${id}`, job);
    if (hook !== null) callBack(job, hook, body);
    return job;
  }

  /** Some callbacks are lost, some come twice, and some before the job has ended. */
  function callBack({ kind, id, endsAt }: CrowdJob, hook: string, body: string): void {
    const secret = /"webhook_secret":"([^"]+)"/.exec(body)?.[1] ?? "";
    const payload = JSON.stringify({ id, status: "any" });
    const signature = createHmac("sha256", secret).update(payload).digest("hex");
    const headers = { "content-type": "application/json", "x-bfl-signature": `sha256=${signature}` };
    const send = (): void => {
      const urls = nodeUrls();
      const url = urls[draw(seed, `node ${id}`, urls.length)];
      // A node that is down loses the callback; real vendors would send it again.
      fetch(`${url}${hook}`, { method: "POST", body: payload, headers }).catch(() => {});
    };
    const leftMs = endsAt - Date.now();
    if (draw(seed, `early ${kind} ${id}`, 1_000) < callbacks.early) later(leftMs / 2, send);
    if (draw(seed, `lost ${kind} ${id}`, 1_000) < callbacks.lost) return;
    later(leftMs + 5, send);
    if (draw(seed, `twice ${kind} ${id}`, 1_000) < callbacks.twice) later(leftMs + 300, send);
  }

  const openedAt = () => `http://127.0.0.1:${port}`;
  const place = (body: unknown, wire: QueueWire, id: string): unknown =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll(wire.id ?? "job-1", id)
        .replaceAll(
          "{url}",
          `${openedAt()}/made.${wire.examples[0].request.type === "image" || wire === queueWires.replicate ? "png" : "mp4"}`,
        )
        .replaceAll("{bytes}", film.bytes.toString("base64")),
    );

  /** The faults of a submission. Returns `false` if the vendor goes on with it. */
  function refuse(response: ServerResponse, rate: WireReply): boolean {
    if (meets("a submission is limited", perThousand.limited)) {
      response.setHeader("retry-after", "1");
      sendJson(response, rate);
    } else if (meets("a submission meets an outage", perThousand.unavailable)) {
      sendJson(response, [503, { message: "unavailable" }]);
    } else if (meets("a submission is lost", perThousand.unread)) {
      response.destroy();
    } else return false;
    return true;
  }

  /** A reply to a submission, unless it gets lost. */
  function confirm(response: ServerResponse, job: CrowdJob, body: unknown): ServerResponse {
    if (!meets("the reply to a submission is lost", perThousand.unanswered)) return sendJson(response, [200, body]);
    job.isUnanswered = true;
    return response.destroy();
  }

  function disturbPoll(response: ServerResponse): boolean {
    if (!meets("a poll fails", perThousand.poll)) return false;
    const kind = draw(seed, `poll ${requests}`, 5);
    if (kind === 0) response.destroy();
    else if (kind === 1) response.writeHead(200, { "content-type": "application/json" }).end('{"sta');
    else if (kind === 2) response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
    else sendJson(response, kind === 3 ? [429, { message: "slow down" }] : [500, { message: "oops" }]);
    return true;
  }

  function answerQueue(kind: QueueKind, wire: QueueWire, call: Call): ServerResponse {
    const { method, path, body, response } = call;
    const [plain = ""] = path.split("?");
    const schema = method === "POST" ? wire.accepts[plain] : undefined;
    const base = wire.id ?? "job-1";
    if (schema !== undefined) {
      const complaint = findComplaint(schema, JSON.parse(body));
      if (complaint !== null) complaints.push(`${kind}: ${complaint}: ${body.slice(0, 500)}`);
      if (complaint !== null) return sendJson(response, wire.refusals.invalid);
      if (refuse(response, wire.refusals.rate)) return response;
      const id = `${base}x${jobs.size + 1}`;
      return confirm(response, accept(kind, id, body, path), place(wire.accepted, wire, id));
    }
    const job = findJob(kind, wire, call);
    if (job === null) return sendJson(response, wire.states.lost ?? [404, { detail: "Not found" }]);
    if (job === "file") return sendJson(response, [200, place(wire.file?.reply, wire, base)]);
    job.polledAt.push(Date.now());
    if (disturbPoll(response)) return response;
    return sendJson(response, [200, place(wire.states[readState(job)], wire, job.id)]);
  }

  function findJob(kind: QueueKind, wire: QueueWire, { path, body }: Call): CrowdJob | "file" | null {
    if (path === wire.file?.path) return "file";
    const base = wire.id ?? "job-1";
    const pattern = new RegExp(`${base.replace(/[.*+?^$(){}|[\]\\]/g, "\\$&")}x\\d+`);
    const id = pattern.exec(decodeURIComponent(path))?.[0] ?? pattern.exec(body)?.[0];
    return (id === undefined ? undefined : jobs.get(`${kind} ${id}`)) ?? null;
  }

  function answerFal({ method, path, body, response }: Call): ServerResponse {
    const id = /\/requests\/(f\d+)/.exec(path)?.[1];
    if (method === "POST") {
      if (refuse(response, [429, { detail: "Too many requests" }])) return response;
      const job = accept("fal", `f${jobs.size + 1}`, body, path);
      const at = `${openedAt()}/fal/crowd/image/requests/${job.id}`;
      const urls = { response_url: at, status_url: `${at}/status`, cancel_url: `${at}/cancel` };
      return confirm(response, job, { status: "IN_QUEUE", request_id: job.id, ...urls });
    }
    const job = jobs.get(`fal ${id}`);
    if (job === undefined) return sendJson(response, [404, { detail: "Request not found" }]);
    const isStatus = path.endsWith("/status");
    if (isStatus) job.polledAt.push(Date.now());
    if (disturbPoll(response)) return response;
    const state = readState(job);
    const hasEnded = state === "done" || state === "failed";
    if (isStatus) return sendJson(response, [200, { status: hasEnded ? "COMPLETED" : "IN_PROGRESS", request_id: id }]);
    if (job.fails) {
      const detail = [{ type: "content_policy_violation", msg: "no", loc: ["body", "prompt"] }];
      return sendJson(response, [422, { detail }]);
    }
    return sendJson(response, [200, { images: [{ url: `${openedAt()}/made.png`, content_type: "image/png" }] }]);
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const body = await text(incoming);
    requests += 1;
    if (url.startsWith("/made.mp4"))
      return void response.writeHead(200, { "content-type": "video/mp4" }).end(film.bytes);
    if (url.startsWith("/made.png")) return void response.writeHead(200, { "content-type": "image/png" }).end(image);
    const kind = crowdKinds.find((one) => url.startsWith(`/${one}/`));
    if (kind === undefined) return void response.writeHead(404).end();
    const call = { method, path: url.slice(kind.length + 1), body, response };
    if (kind === "fal") answerFal(call);
    else answerQueue(kind, queueWires[kind], call);
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    // Gateways are killed midway.
    answer(incoming, response).catch(() => response.destroy());
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: openedAt(),
    get jobs() {
      return [...jobs.values()];
    },
    complaints,
    faults,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type Call = { method: string; path: string; body: string; response: ServerResponse };

function readState({ endsAt, fails }: CrowdJob): "queued" | "running" | "done" | "failed" {
  const leftMs = endsAt - Date.now();
  if (leftMs <= 0) return fails ? "failed" : "done";
  return leftMs > 20_000 ? "queued" : "running";
}

function sendJson(response: ServerResponse, [status, body]: WireReply): ServerResponse {
  return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** The vendor's fastest polling interval. */
export function readFloorMs(kind: CrowdKind): number {
  return kind === "fal" ? 1_000 : queueVendors[kind].pollMsMin;
}

/** Whether the vendor calls back. */
export function callsBack(kind: CrowdKind): boolean {
  return kind === "fal" || queueVendors[kind].hook !== undefined;
}
