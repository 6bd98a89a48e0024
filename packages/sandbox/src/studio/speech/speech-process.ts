// A process of its own for each text that is spoken while somebody listens: the synthesizer blocks its thread, and is a
// separate program by its licence. Writes what spoken-audio.ts reads. Started by create-sandbox-speech.ts.
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { toBytes } from "./make-speech.ts";
import { type SpeechOrder, speakText } from "./speak-text.ts";
import { createPartHead } from "./spoken-audio.ts";

for await (const { samples, shareAfter } of speakText((await json(process.stdin)) as SpeechOrder)) {
  const audio = toBytes(samples);
  process.stdout.write(createPartHead(audio.length, shareAfter));
  // Nobody is far ahead of who listens: the next part is spoken when this one was taken.
  if (!process.stdout.write(audio)) await once(process.stdout, "drain");
}
