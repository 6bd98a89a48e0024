import { Deepgram, DeepgramClient, DeepgramError } from "@deepgram/sdk";
import RunwayML, { TaskFailedError } from "@runwayml/sdk";
import { Hume, HumeClient, HumeError } from "hume";
import Lmnt from "lmnt-node";
import LumaAI from "lumaai";
import Replicate, { type Prediction } from "replicate";
import type { QueueKind, VoiceKind } from "../../../src/providers/provider-definition.ts";
import { geminiDriver, vertexDriver } from "./google-drivers.ts";
import type { QueueWire } from "./wires/queue-wire.ts";
import type { SpeechWire } from "./wires/speech-wires.ts";

type ErrorClass = abstract new (...args: never[]) => Error;

/** A vendor's own client, which sees a fake as the vendor. */
export type QueueDriver = {
  connect(baseUrl: string, apiKey: string): QueueClient;
  /** The client's own class for each refusal, and the status that it reports. */
  errors: Readonly<Record<keyof QueueWire["refusals"], ErrorClass>>;
  /** A job's outcome in the vendor's words. */
  words: { queued: string; running: string; done: string };
  /** The client does not pass on why a result was withheld. */
  hidesRefusals?: true;
};

export type QueueClient = {
  /** Returns the job's id. `more` are fields that the vendor's types do not have. */
  submit(more?: object): Promise<string>;
  /** The vendor's word for the job's state. */
  poll(id: string): Promise<string>;
  /** The first output of a job that has ended; throws if it failed. */
  getOutput(id: string): Promise<string>;
  /** What the vendor says that it costs, if it does. */
  getCost?(id: string): Promise<number | undefined>;
  cancel?(id: string): Promise<unknown>;
  /** An image that comes with the reply, in base64. */
  draw?(): Promise<string>;
};

const class4xx = (client: typeof RunwayML | typeof LumaAI) => ({
  key: client.AuthenticationError,
  credit: client.BadRequestError,
  rate: client.RateLimitError,
  invalid: client.BadRequestError,
  content: client.BadRequestError,
});

/** The client exports the type of its errors only. */
class ReplicateError extends Error {
  static override [Symbol.hasInstance](error: unknown): boolean {
    return error instanceof Error && error.name === "ApiError" && "response" in error;
  }
}

function connectReplicate(baseUrl: string, auth: string): QueueClient {
  const client = new Replicate({ auth, baseUrl });
  return {
    async submit(more = {}) {
      const { id } = await client.predictions.create({
        ...{ version: "minimax/video-01", input: { prompt: "Waves" } },
        ...more,
      });
      return id;
    },
    poll: async (id) => (await client.predictions.get(id)).status,
    async getOutput(id) {
      const ended: Prediction = await client.wait(await client.predictions.get(id), { interval: 1 });
      if (ended.status !== "succeeded") throw new Error(String(ended.error));
      return ended.output[0];
    },
    cancel: (id) => client.predictions.cancel(id),
  };
}

function connectRunway(baseURL: string, apiKey: string): QueueClient {
  const client = new RunwayML({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
  return {
    async submit(more = {}) {
      const asked = { model: "veo3.1", promptText: "Waves", ratio: "1280:720", duration: 6 } as const;
      const { id, estimatedCost } = await client.textToVideo.create({ ...asked, ...more });
      if (estimatedCost.credits !== 25) throw new Error("There is no estimate.");
      return id;
    },
    poll: async (id) => (await client.tasks.retrieve(id)).status,
    getOutput: async (id) => (await client.tasks.retrieve(id).waitForTaskOutput()).output[0] ?? "",
    async getCost(id) {
      const task = await client.tasks.retrieve(id);
      return "cost" in task ? task.cost.credits : undefined;
    },
    cancel: (id) => client.tasks.delete(id),
  };
}

function connectLuma(baseURL: string, authToken: string): QueueClient {
  const client = new LumaAI({ baseURL, authToken, maxRetries: 0 });
  return {
    async submit(more = {}) {
      const asked = { model: "ray-2", prompt: "Waves", duration: "5s", aspect_ratio: "16:9" } as const;
      const { id } = await client.generations.video.create({ ...asked, ...more });
      return id ?? "";
    },
    poll: async (id) => (await client.generations.get(id)).state ?? "",
    async getOutput(id) {
      const { state, assets, failure_reason: reason } = await client.generations.get(id);
      if (state !== "completed") throw new Error(reason);
      return assets?.video ?? "";
    },
    cancel: (id) => client.generations.delete(id),
  };
}

/** The vendors of queues that have a client. */
export const queueDrivers: Partial<Record<QueueKind, QueueDriver>> = {
  "google-media": geminiDriver,
  "vertex-media": vertexDriver,
  replicate: {
    connect: connectReplicate,
    errors: {
      ...{ key: ReplicateError, credit: ReplicateError, rate: ReplicateError, invalid: ReplicateError },
      ...{ content: ReplicateError, model: ReplicateError },
    },
    words: { queued: "starting", running: "processing", done: "succeeded" },
  },
  runway: {
    connect: connectRunway,
    errors: { ...class4xx(RunwayML), model: RunwayML.PermissionDeniedError },
    words: { queued: "THROTTLED", running: "RUNNING", done: "SUCCEEDED" },
  },
  luma: {
    connect: connectLuma,
    errors: { ...class4xx(LumaAI), model: LumaAI.BadRequestError },
    words: { queued: "queued", running: "dreaming", done: "completed" },
  },
};

/** The class of the error when a job fails, where the client has one. */
export const failureClasses: Partial<Record<QueueKind, ErrorClass>> = { runway: TaskFailedError };

export type SpeechDriver = {
  /** Speaks once. `more` are fields that the vendor's types do not have. */
  speak(baseUrl: string, apiKey: string, more?: object): Promise<Uint8Array>;
  errors: Readonly<Record<keyof SpeechWire["refusals"], ErrorClass>>;
};

/** The vendors of speech that have a client. */
export const speechDrivers: Partial<Record<VoiceKind, SpeechDriver>> = {
  deepgram: {
    async speak(baseUrl, apiKey, more = {}) {
      const client = new DeepgramClient({ baseUrl: baseUrl.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
      const asked = { text: "Hi", model: "aura-2-thalia-en", encoding: "mp3", speed: 1.2 };
      const audio = await client.speak.v1.audio.generate({ ...asked, ...more });
      return new Uint8Array(await audio.arrayBuffer());
    },
    errors: { key: DeepgramError, credit: DeepgramError, rate: DeepgramError, invalid: Deepgram.BadRequestError },
  },
  hume: {
    async speak(baseUrl, apiKey, more = {}) {
      const client = new HumeClient({ baseUrl: baseUrl.replace(/\/v0$/, ""), apiKey, maxRetries: 0 });
      const utterances = [{ text: "Hi", voice: { name: "Rachel", provider: "HUME_AI" as const }, speed: 1.5, ...more }];
      const audio = await client.tts.synthesizeFile({ utterances, format: { type: "mp3" } });
      return new Uint8Array(await audio.arrayBuffer());
    },
    errors: { key: HumeError, credit: HumeError, rate: HumeError, invalid: Hume.tts.UnprocessableEntityError },
  },
  lmnt: {
    async speak(baseURL, apiKey, more = {}) {
      const client = new Lmnt({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
      const asked = { text: "Hi", voice: "leah", model: "blizzard", format: "mp3", sample_rate: 24_000 } as const;
      const audio = await client.speech.generate({ ...asked, ...more });
      return new Uint8Array(await audio.arrayBuffer());
    },
    errors: {
      key: Lmnt.AuthenticationError,
      credit: Lmnt.APIError,
      rate: Lmnt.RateLimitError,
      invalid: Lmnt.BadRequestError,
    },
  },
};
