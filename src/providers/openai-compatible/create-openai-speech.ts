import type { ExchangeAnswer } from "../../platform/net/guarded-client.ts";
import { ProviderError } from "../contract.ts";
import type { SpeechCall, SpeechProvider } from "../generation.ts";
import { readRefusal } from "../media-client.ts";
import { audioBytesMax, isAudio, writeSpeechRequest } from "./ask-speech.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions } from "./openai-endpoint.ts";
import { readMediaError } from "./read-media-error.ts";

/** Speech as it is made, by the API that OpenAI made common. */
export function createOpenAiSpeech(options: OpenAiMediaOptions): SpeechProvider {
  const endpoint = createOpenAiEndpoint(options);
  return {
    async startSpeech(call) {
      const answer = await endpoint.client.send(writeSpeechRequest(endpoint, call));
      if (answer.status >= 300 || !isAudio(answer.headers)) throw await readSpeechRefusal(endpoint, answer, call);
      const rest = answer.read({ bytesMax: audioBytesMax });
      const first = await rest.next();
      if (first.done === true) throw createSilence();
      return { chunks: startWith(first.value, rest) };
    },
    close: () => endpoint.client.close(),
  };
}

/** What is said in place of audio, whatever its status. */
export async function readSpeechRefusal(
  { clock }: OpenAiEndpoint,
  answer: ExchangeAnswer,
  { signal }: Pick<SpeechCall, "signal">,
): Promise<ProviderError> {
  const { status, headers } = answer;
  return readMediaError({ status, headers, body: await readRefusal(answer, signal) }, { clock });
}

export function createSilence(): ProviderError {
  return new ProviderError("bad-answer", "The answer has no audio in it.");
}

/** Whoever stops early ends the rest, also before its first piece was taken. */
function startWith(first: Buffer, rest: AsyncGenerator<Buffer, void, undefined>): AsyncIterable<Buffer> {
  let next: Buffer | null = first;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (next === null) return await rest.next();
        const value = next;
        next = null;
        return { done: false, value };
      },
      return: () => rest.return(),
    }),
  };
}
