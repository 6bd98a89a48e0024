import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { systemClock } from "../../../src/lib/clock.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import { createFalGeneration, type FalOptions } from "../../../src/providers/fal/create-fal-generation.ts";
import type {
  GenerationCall,
  GenerationInput,
  GenerationProvider,
  Handle,
  ImageRequest,
  MadeOutput,
  PollOutcome,
  SubmitOutcome,
} from "../../../src/providers/generation.ts";
import { createOpenAiGeneration } from "../../../src/providers/openai-compatible/create-openai-generation.ts";
import { createOpenAiSpeech } from "../../../src/providers/openai-compatible/create-openai-speech.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../upstreams/fake-upstreams.ts";
import type { MediaFakes } from "../upstreams/media-fakes.ts";

/** The providers of media, each with its fake vendor behind it. */
export type MediaStage = AsyncDisposable & {
  fake: FakeUpstreams;
  media: MediaFakes;
  fal: GenerationProvider;
  openAi: GenerationProvider;
  speech: ReturnType<typeof createOpenAiSpeech>;
};

export async function openMediaStage({
  idempotencyHeader = null,
  ...options
}: Partial<FalOptions> & { idempotencyHeader?: string | null } = {}): Promise<MediaStage> {
  const fake = await startFakeUpstreams();
  const common = { headers: { "x-team": "ours" }, connectionsMax: 10, clock: systemClock };
  const fal = createFalGeneration({ ...common, baseUrl: fake.falUrl, ...options });
  const openAi = createOpenAiGeneration({ ...common, baseUrl: fake.openAiUrl, idempotencyHeader });
  const speech = createOpenAiSpeech({ ...common, baseUrl: fake.openAiUrl });
  return {
    ...{ fake, media: fake.media, fal, openAi, speech },
    async [Symbol.asyncDispose]() {
      await Promise.all([fal.close(), openAi.close(), speech.close()]);
      await fake[Symbol.asyncDispose]();
    },
  };
}

export const picture: ImageRequest = { type: "image", prompt: "A red barn", width: 64, height: 96, count: 2 };

export function describeCall(changes: Partial<GenerationCall> = {}): GenerationCall {
  return {
    taskId: "task_1",
    request: picture,
    inputs: [],
    route: {},
    upstreamModel: "fal-ai/flux/dev",
    apiKey: "sk-1",
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

export function askFor(prompt: string): GenerationCall {
  return describeCall({ request: { ...picture, prompt } });
}

export function createInput(changes: Partial<GenerationInput> & { content?: string } = {}): GenerationInput {
  const content = Buffer.from(changes.content ?? "pixels");
  return {
    role: "image",
    contentType: "image/png",
    bytes: content.length,
    open: async () => Readable.from([content]),
    url: null,
    ...changes,
  };
}

/** The handle of an accepted job. */
export async function submit(provider: GenerationProvider, call: GenerationCall): Promise<Handle> {
  const outcome = await provider.submit(call);
  if (outcome.kind !== "accepted") throw new Error(`It is ${outcome.kind}.`);
  return outcome.handle;
}

/** The outputs of an outcome. */
export function getOutputs(outcome: SubmitOutcome | PollOutcome): readonly MadeOutput[] {
  if (outcome.kind !== "done") throw new Error(`It is ${outcome.kind}.`);
  return outcome.outputs;
}

export async function readOutput(
  output: MadeOutput | undefined,
  signal = new AbortController().signal,
): Promise<Buffer> {
  if (output === undefined) throw new Error("There is no such output.");
  return await buffer(await output.open(signal));
}

/** The provider error that this rejects with; throws if there is none. */
export async function catchFailure(attempt: Promise<unknown>): Promise<ProviderError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}
