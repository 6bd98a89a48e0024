import type { ExchangeAnswer } from "../../platform/net/guarded-client.ts";
import { ProviderError } from "../contract.ts";
import type { SpeechCall, SpeechProvider } from "../generation.ts";
import { readRefusal } from "../media-client.ts";
import { findFieldObstacle, listValues } from "../write-media-fields.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions } from "./openai-endpoint.ts";
import { readMediaError } from "./read-media-error.ts";
import { audioBytesMax, isAudio, speechRules, writeSpeechRequest } from "./request-speech.ts";

/** Streamed speech through OpenAI's API. */
export function createOpenAiSpeech(options: OpenAiMediaOptions): SpeechProvider {
  const endpoint = createOpenAiEndpoint(options);
  return {
    findObstacle: (request, route) => findFieldObstacle(listValues(request, []), speechRules, route),
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

/** The error of a response without audio, whatever its status. */
export async function readSpeechRefusal(
  { clock }: OpenAiEndpoint,
  answer: ExchangeAnswer,
  { signal }: Pick<SpeechCall, "signal">,
): Promise<ProviderError> {
  const { status, headers } = answer;
  return readMediaError({ status, headers, body: await readRefusal(answer, signal) }, { clock });
}

export function createSilence(): ProviderError {
  return new ProviderError("bad-answer", "The response has no audio.");
}

/** A consumer that stops early also ends `rest`, even before its first piece. */
export function startWith(first: Buffer, rest: AsyncGenerator<Buffer, void, undefined>): AsyncIterable<Buffer> {
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
