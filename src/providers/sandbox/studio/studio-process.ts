// A process of its own for each job of the studio: what it draws or decodes may be slow, large or broken, and can be
// ended at once. Started by run-studio-process.ts.
import { json } from "node:stream/consumers";
import { rememberConfinement } from "../../../platform/confinement/find-confinement.ts";
import { rememberLaunchers } from "../../../platform/confinement/find-launchers.ts";
import { rememberMediaTools } from "../../../platform/media/find-media-tools.ts";
import { makeAvatar } from "./make-avatar.ts";
import { makeFilm } from "./make-film.ts";
import { makePictures } from "./make-pictures.ts";
import { makeSpeech } from "./make-speech.ts";
import { OrderRefusal, type StudioOrder, type StudioReport } from "./studio-order.ts";

function report(line: StudioReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function fulfil(order: StudioOrder): Promise<void> {
  const { request } = order;
  switch (request.type) {
    case "image":
      return makePictures({ ...order, request }, report);
    case "video":
      return makeFilm({ ...order, request }, report);
    case "avatar":
      return makeAvatar({ ...order, request }, report);
    case "speech":
      return makeSpeech({ ...order, request }, report);
  }
}

try {
  const order = (await json(process.stdin)) as StudioOrder;
  if (order.machine !== null) {
    rememberMediaTools(order.machine.tools);
    rememberLaunchers(order.machine.launchers);
    rememberConfinement(order.machine.confinement);
  }
  await fulfil(order);
} catch (error) {
  if (!(error instanceof OrderRefusal)) throw error;
  report({ kind: "refusal", message: error.message });
}
