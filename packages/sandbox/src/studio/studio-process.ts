// One process per studio job: drawing and decoding may be slow, large or broken, and can be killed. Started by
// run-studio-job.ts.
import { json } from "node:stream/consumers";
import { rememberMediaMachine } from "../../../../src/providers/adapter-tools.ts";
import { makeImages } from "./image/make-images.ts";
import { makeSpeech } from "./speech/make-speech.ts";
import { OrderRefusal, type StudioOrder, type StudioReport } from "./studio-order.ts";
import { makeAvatar } from "./video/make-avatar.ts";
import { makeVideo } from "./video/make-video.ts";

function report(line: StudioReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function fulfil(order: StudioOrder): Promise<void> {
  const { request } = order;
  switch (request.type) {
    case "image":
      return makeImages({ ...order, request }, report);
    case "video":
      return makeVideo({ ...order, request }, report);
    case "avatar":
      return makeAvatar({ ...order, request }, report);
    case "speech":
      return makeSpeech({ ...order, request }, report);
  }
}

try {
  const order = (await json(process.stdin)) as StudioOrder;
  if (order.machine !== null) rememberMediaMachine(order.machine);
  await fulfil(order);
} catch (error) {
  if (!(error instanceof OrderRefusal)) throw error;
  report({ kind: "refusal", message: error.message, param: error.param });
}
