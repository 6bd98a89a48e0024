import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { DemoCaller } from "./demo-caller.ts";
import { longFilmSeconds } from "./offer-demo-models.ts";

const waiting = { headers: { prefer: "wait=60" } };
const waitsMax = 20;

type Task = { id: string; status: string; output: { file_id: string }[] };

async function awaitEnd(caller: DemoCaller, begun: Task): Promise<Task> {
  let task = begun;
  for (let waits = 0; task.status === "queued" || task.status === "processing"; waits += 1) {
    if (waits === waitsMax) throw new Error(`The task ${task.id} did not end in time.`);
    task = await caller.get<Task>(`/tasks/${task.id}`, waiting);
  }
  return task;
}

/** The task's first output file. */
function requireOutput({ id, status, output: [made] }: Task): string {
  if (status !== "succeeded" || made === undefined) throw new Error(`The task ${id} ended as ${status}.`);
  return made.file_id;
}

/** Creates a task, waits until it succeeds and returns its file. */
async function make(caller: DemoCaller, path: string, order: object, headers = waiting.headers): Promise<string> {
  return requireOutput(await awaitEnd(caller, await caller.post<Task>(path, order, { headers })));
}

const marketing = { metadata: { team: "Marketing", campaign: "Spring" } };

/** Creates an image and returns its file. */
export function draw(caller: DemoCaller, prompt: string, size = "512x512"): Promise<string> {
  return make(caller, "/images/generations", { model: "sandbox-image", size, prompt, ...marketing });
}

/** Creates an image that fails content moderation. */
export async function drawRefused(caller: DemoCaller, prompt: string): Promise<void> {
  const order = { model: "sandbox-image", size: "512x512", prompt, ...marketing };
  const { id, status } = await awaitEnd(caller, await caller.post<Task>("/images/generations", order, waiting));
  if (status !== "failed") throw new Error(`The task ${id} ended as ${status} instead of failed.`);
}

/** Creates speech as a task and returns its file. */
function speak(caller: DemoCaller, input: string): Promise<string> {
  const order = { model: "sandbox-speech", input, voice: "nova", ...marketing };
  return make(caller, "/audio/speech", order, { prefer: "respond-async, wait=60" });
}

const film = { model: "sandbox-video", duration: 5, aspect_ratio: "16:9" };

/** Creates a video from an image, with a quarter of the CPU time of a drawn one. */
export function animate(caller: DemoCaller, prompt: string, imageId: string): Promise<string> {
  return make(caller, "/videos/generations", { ...film, prompt, input_images: [imageId], ...marketing });
}

/** Creates a video and cancels it. */
export async function cancelFilm(caller: DemoCaller): Promise<void> {
  const unwanted = await caller.post<Task>("/videos/generations", { ...film, prompt: "Rain on a greenhouse roof" });
  await awaitEnd(caller, await caller.post<Task>(`/tasks/${unwanted.id}/cancel`, {}));
}

/** Creates a face and a voice, then an avatar video of them. */
export async function present(caller: DemoCaller, face: string, words: string): Promise<string> {
  const [faceId, voiceId] = await Promise.all([draw(caller, face), speak(caller, words)]);
  const order = { model: "sandbox-avatar", avatar_file_id: faceId, audio_file_id: voiceId, aspect_ratio: "1:1" };
  return make(caller, "/avatars/generations", { ...order, ...marketing });
}

const story = "INT. LIGHTHOUSE KITCHEN - NIGHT\n\nANNA: The lamp is out.\nBEN: Then I will climb up.";

/** Runs a drama's script stage. */
export function writeDrama(caller: DemoCaller): Promise<string> {
  const order = { model: "sandbox-drama", title: "The Lamp", script: story, stage: "script" };
  return make(caller, "/dramas/generations", order);
}

type Drama = Task & { steps: { name: string; status: string }[] };

/**
 * Creates a whole drama. Runs `meanwhile` while the video is joined, which uses one core; the earlier stages need the
 * whole machine.
 */
export async function produceDrama(caller: DemoCaller, meanwhile: () => Promise<unknown>): Promise<void> {
  const order = { model: "sandbox-drama", title: "The Lamp, episode two", script: story, aspect_ratio: "16:9" };
  let drama = await caller.post<Drama>("/dramas/generations", order);
  const joining = Promise.withResolvers<void>();
  const follow = async (): Promise<void> => {
    for await (drama of caller.follow<Drama>(`/tasks/${drama.id}/events`)) {
      if (drama.steps.some(({ name, status }) => name === "film" && status !== "queued")) joining.resolve();
    }
    requireOutput(drama);
  };
  await Promise.all([follow(), joining.promise.then(meanwhile)]);
}

/** Starts a one-minute video, so the console shows a running task with a hold. */
export async function beginLongFilm(caller: DemoCaller): Promise<void> {
  const order = { ...film, duration: longFilmSeconds, expires_after: 86_400 };
  await caller.post("/videos/generations", { ...order, prompt: "A very long night at sea" });
}

export type Receivers = {
  /** Breaks a receiver, triggers an event for it, repairs it and resends the event. */
  breakAndMend<T>(happen: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Local webhook receivers: one accepts everything, one is broken, and one breaks and is repaired. */
export async function openReceivers(caller: DemoCaller): Promise<Receivers> {
  const orders = { status: 204 };
  const servers = await Promise.all([listen({ status: 204 }), listen({ status: 500 }), listen(orders)]);
  const [good, broken, mended] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
  );
  await caller.post("/webhook_endpoints", { url: good, description: "Garden shop" });
  await caller.post("/webhook_endpoints", { url: broken, description: "Reports", event_types: ["task.failed"] });
  const description = "Catalogue, mended after a failure";
  type Endpoint = { id: string };
  const endpoint = await caller.post<Endpoint>("/webhook_endpoints", { url: mended, description });
  return {
    async breakAndMend(happen) {
      orders.status = 500;
      const happened = await happen();
      const delivery = await awaitFailure(caller, endpoint.id);
      orders.status = 204;
      await caller.post(`/events/${delivery.event_id}/resend`, { webhook_endpoint_id: endpoint.id });
      return happened;
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      }
    },
  };
}

const looksMax = 600;
const lookEveryMs = 50;

type Delivery = { event_id: string; attempts: { status: number | null }[] };

/** The endpoint's first failed delivery. */
async function awaitFailure(caller: DemoCaller, endpointId: string): Promise<Delivery> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    const { data } = await caller.get<{ data: Delivery[] }>(`/webhook_endpoints/${endpointId}/deliveries`);
    const failed = data.find(({ attempts }) => attempts.length > 0);
    if (failed !== undefined) return failed;
    await wait(lookEveryMs);
  }
  throw new Error("The broken receiver got no delivery.");
}

async function listen(answer: { status: number }): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(answer.status).end());
  // `unref`: the receivers don't keep the gateway's process alive.
  server.unref();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return server;
}
