import { canary } from "./canary.ts";
import type { MadeFiles } from "./made-files.ts";
import type { MediaBehaviour } from "./media-behaviour.ts";
import {
  type MediaCall,
  type MediaReply,
  type MediaSubmission,
  type Sender,
  sendReply,
  writeJson,
} from "./media-call.ts";
import { film, type MediaSample, makePicture } from "./media-samples.ts";
import { demand, demandRange, demandRecord, VendorRefusal } from "./vendor-refusal.ts";

/** A request in the fake's queue. */
export type FalJob = {
  id: string;
  submission: MediaSubmission;
  behaviour: MediaBehaviour;
  /** How often its status was polled. */
  statusCount: number;
  resultCount: number;
  cancelCount: number;
  isStarted: boolean;
  isFinished: boolean;
  isGone: boolean;
};

export type FalFake = {
  jobs: readonly FalJob[];
  takes(path: string): boolean;
  answer(sender: Sender, path: string): Promise<void>;
};

type FalFakeParts = {
  files: MadeFiles;
  getOrigin(): string;
  closing: AbortSignal;
  /** Records the submission and returns its behaviour. */
  take(submission: MediaSubmission): MediaBehaviour;
};

export const falPath = "/fal";
const jobPattern = /^\/([\w.-]+\/[\w.-]+)\/requests\/([\w-]+)(?:\/(status|cancel))?$/;

/** fal's queue: requests are submitted under a model's whole path and polled under its first two segments. */
export function createFalFake(parts: FalFakeParts): FalFake {
  const jobs: FalJob[] = [];

  async function submit(sender: Sender, model: string): Promise<void> {
    const submission = readSubmission(sender.call, model);
    try {
      const behaviour = parts.take(submission);
      checkInput(submission);
      if (behaviour.status !== undefined) return await sendReply(sender, refuse(behaviour), behaviour);
      const job = createJob(submission, behaviour, jobs.length + 1);
      jobs.push(job);
      void run(job, parts.closing);
      await sendReply(sender, presentSubmission(job, model), behaviour);
    } catch (error) {
      if (!(error instanceof VendorRefusal)) throw error;
      submission.refusal = error.message;
      await sendReply(sender, presentRefusal(error), {});
    }
  }

  function presentSubmission(job: FalJob, model: string): MediaReply {
    const app = model.split("/").slice(0, 2).join("/");
    const base = `${job.behaviour.urlsOn ?? parts.getOrigin()}${falPath}/${app}/requests/${job.id}`;
    return writeJson(200, {
      status: "IN_QUEUE",
      request_id: job.id,
      response_url: base,
      status_url: `${base}/status`,
      cancel_url: `${base}/cancel`,
      logs: null,
      metrics: {},
      queue_position: job.behaviour.queue ?? 0,
      gateway_request_id: `${canary}-gateway-${job.id}`,
    });
  }

  async function presentResult(job: FalJob): Promise<MediaReply> {
    const { behaviour, submission } = job;
    job.resultCount += 1;
    if (!isCompleted(job) || job.resultCount <= (behaviour.lateResults ?? 0)) {
      return writeJson(400, { detail: "Request is still in progress" });
    }
    if (behaviour.result !== undefined) {
      const { status, body, headers = {} } = behaviour.result;
      return writeJson(status, body, { "x-fal-request-id": job.id, ...headers });
    }
    return writeJson(200, await presentOutputs(submission, behaviour, parts.files), { "x-fal-request-id": job.id });
  }

  return {
    jobs,
    takes: (path) => path.startsWith(`${falPath}/`),
    async answer(sender, fullPath) {
      const { method } = sender.call;
      const path = fullPath.slice(falPath.length);
      const [, , id, part] = jobPattern.exec(path) ?? [];
      if (findKey(sender.call) === null) {
        return await sendReply(sender, writeJson(401, { detail: `${canary}: Authentication is required` }), {});
      }
      if (method === "POST" && id === undefined) return await submit(sender, path.slice(1));
      const job = jobs.find((each) => each.id === id);
      if (job === undefined || job.isGone) return await sendReply(sender, unknownRequest, {});
      if (method === "PUT" && part === "cancel") return await sendReply(sender, cancel(job), {});
      if (method !== "GET") return await sendReply(sender, writeJson(405, { detail: "Method Not Allowed" }), {});
      await sendReply(sender, part === "status" ? presentStatus(job) : await presentResult(job), {});
    },
  };
}

const unknownRequest = writeJson(404, { detail: `${canary}: Request not found`, status: "NOT_FOUND" });

function createJob(submission: MediaSubmission, behaviour: MediaBehaviour, number: number): FalJob {
  const id = `${canary}-${String(number).padStart(8, "0")}`;
  const none = { statusCount: 0, resultCount: 0, cancelCount: 0, isStarted: false, isFinished: false, isGone: false };
  return { id, submission, behaviour, ...none };
}

async function run(job: FalJob, closing: AbortSignal): Promise<void> {
  try {
    await job.behaviour.beforeStart?.pass(closing);
    job.isStarted = true;
    await job.behaviour.beforeFinish?.pass(closing);
    job.isFinished = true;
  } catch {
    // The fake was closed before a test let the work go on.
  }
}

function isCompleted({ isFinished, statusCount, behaviour }: FalJob): boolean {
  return isFinished && statusCount > (behaviour.queue ?? 0) + (behaviour.work ?? 0);
}

function presentStatus(job: FalJob): MediaReply {
  const { behaviour, submission } = job;
  job.statusCount += 1;
  if (job.statusCount > (behaviour.vanishesAfter ?? Number.POSITIVE_INFINITY)) {
    job.isGone = true;
    return unknownRequest;
  }
  const common = { request_id: job.id, model: `${canary}/${submission.model}` };
  const isQueued = !job.isStarted || job.statusCount <= (behaviour.queue ?? 0);
  if (isQueued) {
    const position = Math.max(0, (behaviour.queue ?? 0) - job.statusCount);
    return writeJson(202, { ...common, status: "IN_QUEUE", queue_position: position });
  }
  if (isCompleted(job)) {
    return writeJson(200, { ...common, status: "COMPLETED", logs: [], metrics: { inference_time: 1.5 } });
  }
  return writeJson(202, { ...common, status: behaviour.statusWord ?? "IN_PROGRESS", logs: [] });
}

function cancel(job: FalJob): MediaReply {
  job.cancelCount += 1;
  if (job.cancelCount <= (job.behaviour.cancelFailures ?? 0))
    return writeJson(500, { detail: "Internal Server Error" });
  switch (job.behaviour.cancel ?? (isCompleted(job) ? "completed" : "requested")) {
    case "completed":
      return writeJson(400, { status: "ALREADY_COMPLETED" });
    case "unknown":
      return writeJson(404, { status: "NOT_FOUND" });
    case "gone":
      job.isGone = true;
      return writeJson(202, { status: "CANCELLATION_REQUESTED" });
    case "requested":
      return writeJson(202, { status: "CANCELLATION_REQUESTED" });
  }
}

function readSubmission(call: MediaCall, model: string): MediaSubmission {
  const fields = readFields(call.body);
  const prompt = typeof fields.prompt === "string" ? fields.prompt : "";
  return { vendor: "fal", model, prompt, fields, files: [], apiKey: findKey(call), call, refusal: null };
}

function readFields(body: Buffer): Record<string, unknown> {
  try {
    return demandRecord(JSON.parse(body.toString("utf8")), "body");
  } catch {
    return {};
  }
}

function findKey({ headers }: MediaCall): string | null {
  return headers.authorization?.match(/^Key (\S+)$/)?.[1] ?? null;
}

/** As strict as the schemas of the vendor's models. */
function checkInput({ fields, call }: MediaSubmission): void {
  demand(call.headers["content-type"]?.startsWith("application/json") === true, "body", "Unsupported content type");
  demand(Object.keys(fields).length > 0, "body", "Input should be a valid dictionary");
  const { image_size: size, duration, aspect_ratio: ratio } = fields;
  if (size !== undefined) {
    const { width, height } = demandRecord(size, "image_size");
    demandRange(width, "image_size", [64, 14_142]);
    demandRange(height, "image_size", [64, 14_142]);
  }
  demandRange(fields.num_images, "num_images", [1, 8]);
  demand(duration === undefined || /^\d+s?$/.test(String(duration)), "duration", "Input should be '5' or '10'");
  demand(ratio === undefined || /^\d+:\d+$/.test(String(ratio)), "aspect_ratio", "Input should be '16:9' or '9:16'");
  const addresses = [fields.image_url, fields.image_urls, fields.audio_url, fields.video_url].flat();
  for (const address of addresses) {
    const isFetchable = address === undefined || /^(https?:\/\/|data:[\w/+-]+;base64,)/.test(String(address));
    demand(isFetchable, "image_url", "Failed to download the file");
  }
}

async function presentOutputs(
  { fields, prompt }: MediaSubmission,
  behaviour: MediaBehaviour,
  files: MadeFiles,
): Promise<unknown> {
  const present = (sample: MediaSample) => ({
    url: files.add(sample, behaviour),
    content_type: sample.contentType,
    file_name: `${canary}.${sample.extension}`,
    file_size: sample.bytes.length,
  });
  const isPicture = fields.image_size !== undefined;
  if (!isPicture) return { video: present(film), duration: 1, seed: 42 };
  const size = fields.image_size as { width: number; height: number };
  const count = Number(fields.num_images ?? 1) + (behaviour.extraCount ?? 0);
  const pictures = await Promise.all(Array.from({ length: count }, (_, index) => makePicture(size, index)));
  return {
    images: pictures.map((picture) => ({ ...present(picture), ...size })),
    timings: { inference: 1.5 },
    seed: 42,
    has_nsfw_concepts: pictures.map((_, index) => index < (behaviour.withheldCount ?? 0)),
    prompt: `${canary}: ${prompt}`,
  };
}

function refuse({ status = 500, error = {} }: MediaBehaviour): MediaReply {
  const message = `${error.message ?? "something is wrong"} (${canary})`;
  if (status !== 422) return writeJson(status, { detail: message });
  const loc = ["body", error.param ?? "prompt"];
  return writeJson(422, { detail: [{ loc, msg: message, type: error.code ?? "value_error", input: canary }] });
}

function presentRefusal({ status, message, param }: VendorRefusal): MediaReply {
  const detail = [{ loc: ["body", param ?? "prompt"], msg: `${canary}: ${message}`, type: "value_error" }];
  return writeJson(status === 400 ? 422 : status, { detail });
}
