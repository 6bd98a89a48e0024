import { createHash } from "node:crypto";
import type { Clock } from "../../../src/lib/clock.ts";
import type { UsageCounts } from "./behaviour.ts";
import type { FakeCall } from "./fake-call.ts";
import { isRecord } from "./vendor-refusal.ts";

/** Counts a prompt's tokens, including those that the vendor's caches already had. */
export type CountPrompt = (call: FakeCall) => Partial<UsageCounts> | null;

const charactersPerToken = 4;
const tokensMin = 1024;
const openAiStep = 128;
/** How many blocks before a mark Anthropic searches for a cached prefix. */
const blocksLookedBack = 20;
const lifetimesMs = { "5m": 5 * 60_000, "1h": 60 * 60_000 };

/**
 * Vendors' caches as documented: each API key has its own. Anthropic caches the prefix up to a mark, for the mark's
 * time since the last use. OpenAI caches every prompt automatically in steps of 128 tokens, on one of many machines,
 * chosen by the beginning of the prompt and by `prompt_cache_key`.
 */
export function createVendorCaches(clock: Clock): CountPrompt {
  const kept = new Map<string, { untilMs: number; lifetimeMs: number }>();
  const keep = (place: string, lifetimeMs: number): void => {
    kept.set(place, { untilMs: clock.now().getTime() + lifetimeMs, lifetimeMs });
  };
  /** Every read renews the expiry. */
  const read = (place: string): boolean => {
    const entry = kept.get(place);
    if (entry === undefined || entry.untilMs <= clock.now().getTime()) return false;
    keep(place, entry.lifetimeMs);
    return true;
  };
  return ({ vendor, apiKey, model, json }) => {
    if (!isRecord(json)) return null;
    const cache = { owner: `${apiKey} ${model}`, keep, read };
    if (vendor === "anthropic") return countAnthropic(json, cache);
    return vendor === "openai" ? countOpenAi(json, cache) : null;
  };
}

type Cache = { owner: string; keep(place: string, lifetimeMs: number): void; read(place: string): boolean };

type Block = { text: string; lifetime: keyof typeof lifetimesMs | null };

function countAnthropic({ tools, system, messages }: Record<string, unknown>, cache: Cache): Partial<UsageCounts> {
  const blocks = [tools, system, ...listItems(messages).map(({ content }) => content)].flatMap(listBlocks);
  const ends = listEnds(blocks, cache.owner);
  const marks = ends.flatMap(({ lifetime }, at) => (lifetime === null ? [] : [at]));
  let cached = 0;
  for (const mark of marks) {
    const known = ends.slice(Math.max(mark - blocksLookedBack, 0), mark + 1).findLast(({ place }) => cache.read(place));
    cached = Math.max(cached, known?.tokens ?? 0);
  }
  let written = cached;
  let hour = 0;
  for (const mark of marks) {
    const end = ends[mark];
    if (end === undefined || end.lifetime === null || end.tokens < tokensMin || end.tokens <= written) continue;
    cache.keep(end.place, lifetimesMs[end.lifetime]);
    if (end.lifetime === "1h") hour += end.tokens - written;
    written = end.tokens;
  }
  return {
    inputTokens: ends.at(-1)?.tokens ?? 0,
    cachedInputTokens: cached,
    cacheWriteTokens: written - cached,
    cacheWrite1hTokens: hour,
  };
}

function listItems(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function listBlocks(content: unknown): Block[] {
  if (typeof content === "string") return [{ text: content, lifetime: null }];
  return listItems(content).map(({ cache_control: mark, ...block }) => {
    const lifetime = isRecord(mark) ? (mark.ttl === "1h" ? "1h" : "5m") : null;
    return { text: JSON.stringify(block), lifetime };
  });
}

type PromptEnd = { tokens: number; place: string; lifetime: Block["lifetime"] };

/** Each end of a block: the tokens before it, and the cache key of that prefix. */
function listEnds(blocks: readonly Block[], owner: string): PromptEnd[] {
  const hash = createHash("sha256").update(owner);
  let characters = 0;
  return blocks.map(({ text, lifetime }) => {
    hash.update(`\n${text}`);
    characters += text.length;
    const tokens = Math.ceil(characters / charactersPerToken);
    return { tokens, lifetime, place: hash.copy().digest("base64") };
  });
}

function countOpenAi(body: Record<string, unknown>, cache: Cache): Partial<UsageCounts> {
  const text = [JSON.stringify(body.tools ?? []), ...listItems(body.messages).map((item) => JSON.stringify(item))].join(
    "",
  );
  const inputTokens = Math.ceil(text.length / charactersPerToken);
  const machine = `${cache.owner} ${String(body.prompt_cache_key)} ${text.slice(0, 256 * charactersPerToken)}`;
  const hash = createHash("sha256").update(machine);
  let cachedInputTokens = 0;
  for (let tokens = openAiStep; tokens <= inputTokens; tokens += openAiStep) {
    hash.update(text.slice((tokens - openAiStep) * charactersPerToken, tokens * charactersPerToken));
    const place = hash.copy().digest("base64");
    if (tokens < tokensMin) continue;
    if (cachedInputTokens === (tokens === tokensMin ? 0 : tokens - openAiStep) && cache.read(place))
      cachedInputTokens = tokens;
    cache.keep(place, lifetimesMs["5m"]);
  }
  return { inputTokens, cachedInputTokens };
}
