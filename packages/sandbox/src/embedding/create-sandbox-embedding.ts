import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { ProviderError } from "../../../../src/providers/contract.ts";
import type { EmbeddingCall, EmbeddingProvider } from "../../../../src/providers/embedding.ts";
import { writeVector } from "../../../../src/providers/write-vector.ts";
import { countTokens } from "../chat/sandbox-tokens.ts";
import { createScriptedError, parseScript, type SandboxScript } from "../sandbox-script.ts";
import { dimensionsMax, embedText, embedTokens } from "./embed-text.ts";

/** The maximum length of a text. */
const tokensMax = 8192;

/**
 * An embedding model without network access and costs. Deterministic: texts about similar things have similar vectors.
 * Words in double brackets make it fail or wait, as with chat.
 */
export function createSandboxEmbedding(): EmbeddingProvider {
  return {
    findObstacle: ({ dimensions }) =>
      dimensions === null || dimensions <= dimensionsMax
        ? null
        : { param: "dimensions", message: `This model has at most ${dimensionsMax} dimensions.` },
    async embed(call) {
      const { input } = call.request;
      if (input.kind === "tokens") return await embedAll(call, input.lists, countListed, embedTokens);
      const read = input.texts.map(parseScript);
      const scripts = read.map(({ script }) => script);
      await play(scripts, call);
      const answer = await embedAll(
        call,
        read.map(({ text }) => text),
        countTokens,
        embedText,
      );
      return scripts.every(({ hasUsage }) => hasUsage) ? answer : { ...answer, inputTokens: null };
    },
    close: async () => {},
  };
}

function countListed({ length }: readonly number[]): number {
  return length;
}

async function embedAll<T>(
  { request: { dimensions, encoding }, signal }: EmbeddingCall,
  inputs: readonly T[],
  count: (input: T) => number,
  embed: (input: T, dimensions: number) => number[],
) {
  const vectors: string[] = [];
  let inputTokens = 0;
  for (const input of inputs) {
    // A long text takes some milliseconds: yield to the event loop after each.
    await nextTurn();
    signal.throwIfAborted();
    const tokens = count(input);
    if (tokens > tokensMax) throw createScriptedError("too-long", "The text is longer than the model reads.");
    inputTokens += tokens;
    vectors.push(writeVector(embed(input, dimensions ?? dimensionsMax), encoding));
  }
  return { vectors, inputTokens };
}

/** Applies the script words of all texts. */
async function play(scripts: readonly SandboxScript[], { timeoutMs, signal }: EmbeddingCall): Promise<void> {
  const isSilent = scripts.some((script) => script.isSilent);
  const delayMs = isSilent ? Number.POSITIVE_INFINITY : Math.max(...scripts.map((script) => script.delayMs));
  if (delayMs > 0) await wait(Math.min(delayMs, timeoutMs), null, { signal });
  if (delayMs > timeoutMs) throw createScriptedError("timeout", "The time of the call is over.");
  const failure = scripts.find((script) => script.failure !== null)?.failure;
  if (failure != null) throw failure;
  if (scripts.some(({ isEmpty }) => isEmpty)) throw new ProviderError("bad-answer", "The script wants no vectors.");
}
