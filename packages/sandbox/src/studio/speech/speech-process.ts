// One process per streamed text: the synthesizer blocks its thread, and its licence requires a separate program. Writes
// what spoken-audio.ts reads. Started by create-sandbox-speech.ts.
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { toBytes } from "./make-speech.ts";
import { type SpeechOrder, speakText } from "./speak-text.ts";
import { createPartHead } from "./spoken-audio.ts";

for await (const { samples, shareAfter } of speakText((await json(process.stdin)) as SpeechOrder)) {
  const audio = toBytes(samples);
  process.stdout.write(createPartHead(audio.length, shareAfter));
  // Back-pressure: speak the next part when this one was read.
  if (!process.stdout.write(audio)) await once(process.stdout, "drain");
}
