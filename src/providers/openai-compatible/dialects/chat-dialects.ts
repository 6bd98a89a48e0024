import type { ChatDialect } from "./chat-dialect.ts";
import { cohere } from "./cohere.ts";
import { deepseek } from "./deepseek.ts";
import { groq } from "./groq.ts";
import { huggingface } from "./huggingface.ts";
import { mistral } from "./mistral.ts";
import { ollama } from "./ollama.ts";
import { openrouter } from "./openrouter.ts";
import { vllm } from "./vllm.ts";
import { xai } from "./xai.ts";
import { zai } from "./zai.ts";

const dialects = { cohere, deepseek, groq, huggingface, mistral, ollama, openrouter, vllm, xai, zai } as const;

export type DialectName = keyof typeof dialects;

/** The dialects that a provider may name. */
export const chatDialects: Readonly<Record<DialectName, ChatDialect>> = dialects;

export const dialectNames = Object.keys(dialects) as DialectName[];
