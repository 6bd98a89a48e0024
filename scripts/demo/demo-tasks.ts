import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DemoCaller } from "./demo-caller.ts";

const waiting = { headers: { prefer: "wait=60" } };

type Task = { id: string };

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

/** A video, a recording, and a video that somebody did not want after all. */
export async function makeFilm(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-video", duration: 5, aspect_ratio: "16:9" };
  const unwanted = await caller.post<Task>("/videos/generations", { ...order, prompt: "Rain on a roof [[stuck]]" });
  await caller.post(`/tasks/${unwanted.id}/cancel`, {});
  const video = caller.post("/videos/generations", { ...order, prompt: "Waves roll in at night" }, waiting);
  const speech = { model: "sandbox-speech", input: "Good morning. The garden shop is open.", voice: "nova" };
  await Promise.all([video, caller.post("/audio/speech", speech)]);
}

/** The beginning of a drama: its script. */
export async function writeDrama(caller: DemoCaller): Promise<void> {
  const story = "INT. LIGHTHOUSE KITCHEN - NIGHT\n\nANNA: The lamp is out.\nBEN: Then I will climb up.";
  const order = { model: "sandbox-drama", title: "The Lamp", script: story, stage: "script" };
  await caller.post("/dramas/generations", order, waiting);
}

/** Something that is under way when somebody looks: its money is on hold. */
export async function beginLongFilm(caller: DemoCaller): Promise<void> {
  const order = { model: "sandbox-video", duration: 10, aspect_ratio: "9:16", expires_after: 86_400 };
  await caller.post("/videos/generations", { ...order, prompt: "A very long night at sea [[stuck]]" });
}

/** Two receivers of webhooks on this machine: one takes everything, the other is broken. */
export async function openReceivers(caller: DemoCaller): Promise<{ close(): Promise<void> }> {
  const servers = await Promise.all([listen(204), listen(500)]);
  const [good, broken] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`);
  await caller.post("/webhook_endpoints", { url: good, description: "Garden shop" });
  await caller.post("/webhook_endpoints", { url: broken, description: "Reports", event_types: ["task.failed"] });
  return {
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      }
    },
  };
}

async function listen(status: number): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return server;
}
