import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { DemoCaller } from "./demo-caller.ts";

const waiting = { headers: { prefer: "wait=60" } };

type Task = { id: string; status: string };

/** A few images, one of which is refused for its content. */
export async function makePictures(caller: DemoCaller): Promise<void> {
  const prompts = [
    "A lighthouse at dusk over a calm sea",
    "A greenhouse in the morning fog",
    "[[fail:content_policy]]",
  ];
  const order = { model: "sandbox-image", size: "512x512" };
  await Promise.all(prompts.map((prompt) => caller.post("/images/generations", { ...order, prompt }, waiting)));
}

const marketing = { metadata: { team: "Marketing", campaign: "Spring" } };

/** One image for the catalogue. */
export async function draw(caller: DemoCaller, prompt: string, size = "512x512"): Promise<void> {
  await caller.post("/images/generations", { model: "sandbox-image", size, prompt, ...marketing }, waiting);
}

/** A recording that is kept, as a task. */
export async function speak(caller: DemoCaller, input: string): Promise<void> {
  const order = { model: "sandbox-speech", input, voice: "nova", ...marketing };
  await caller.post("/audio/speech", order, { headers: { prefer: "respond-async, wait=60" } });
}

/** A video, a recording, and a video that somebody did not want after all. */
export async function makeFilm(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-video", duration: 5, aspect_ratio: "16:9" };
  const unwanted = await caller.post<Task>("/videos/generations", { ...order, prompt: "Rain on a roof [[stuck]]" });
  await caller.post(`/tasks/${unwanted.id}/cancel`, {});
  const video = caller.post("/videos/generations", { ...order, prompt: "Waves roll in at night" }, waiting);
  const speech = { model: "sandbox-speech", input: "Good morning. The garden shop is open.", voice: "nova" };
  await Promise.all([video, caller.post("/audio/speech", speech)]);
}

const story = "INT. LIGHTHOUSE KITCHEN - NIGHT\n\nANNA: The lamp is out.\nBEN: Then I will climb up.";

/** The beginning of a drama: its script. */
export async function writeDrama(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-drama", title: "The Lamp", script: story, stage: "script" };
  await caller.post("/dramas/generations", order, waiting);
}

const waitsMax = 20;

/** A whole drama, up to its video. */
export async function produceDrama(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-drama", title: "The Lamp, episode two", script: story, aspect_ratio: "16:9" };
  let task = await caller.post<Task>("/dramas/generations", order, waiting);
  for (let waits = 0; task.status === "queued" || task.status === "processing"; waits += 1) {
    if (waits === waitsMax) throw new Error(`The drama ${task.id} does not end.`);
    task = await caller.get<Task>(`/tasks/${task.id}`, waiting);
  }
  if (task.status !== "succeeded") throw new Error(`The drama ${task.id} ended as ${task.status}.`);
}

/** Something that is under way when somebody looks: its money is on hold. */
export async function beginLongFilm(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-video", duration: 10, aspect_ratio: "9:16", expires_after: 86_400 };
  await caller.post("/videos/generations", { ...order, prompt: "A very long night at sea [[stuck]]" });
}

export type Receivers = {
  /** Breaks one receiver, lets something happen that it should hear of, mends it, and sends the event again. */
  breakAndMend(happen: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** Receivers of webhooks on this machine: one takes everything, one is broken, and one breaks and is mended. */
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
      await happen();
      const delivery = await awaitFailure(caller, endpoint.id);
      orders.status = 204;
      await caller.post(`/events/${delivery.event_id}/resend`, { webhook_endpoint_id: endpoint.id });
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

/** The first delivery to the endpoint that was attempted and refused. */
async function awaitFailure(caller: DemoCaller, endpointId: string): Promise<Delivery> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    const { data } = await caller.get<{ data: Delivery[] }>(`/webhook_endpoints/${endpointId}/deliveries`);
    const failed = data.find(({ attempts }) => attempts.length > 0);
    if (failed !== undefined) return failed;
    await wait(lookEveryMs);
  }
  throw new Error("Nothing was delivered to the broken receiver.");
}

async function listen(answer: { status: number }): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(answer.status).end());
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return server;
}
