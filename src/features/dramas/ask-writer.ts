import { setTimeout as wait } from "node:timers/promises";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Chat, ChatQuestion } from "../chat/index.ts";

/** Asks a chat model for a part of a drama. */
export type AskWriter = <S extends TSchema>(
  question: {
    modelId: string;
    name: "drama_script" | "drama_roles" | "drama_storyboard";
    schema: S;
    instructions: string;
    /** Everything that the model needs, sent as JSON. */
    facts: object;
  },
  signal: AbortSignal,
) => Promise<Static<S>>;

const outputTokensMax = 32_000;

type WriterOptions = { retryDelaysMs?: readonly number[]; payer?: ChatQuestion["payer"] };

/**
 * After an unusable response, repeats the question with the problem; after a failed call, retries with a delay. Throws
 * permanent errors at once.
 */
export function createWriter(
  chat: Pick<Chat, "ask">,
  { retryDelaysMs = [1_000, 5_000], payer = null }: WriterOptions = {},
): AskWriter {
  return async ({ modelId, name, schema, instructions, facts }, signal) => {
    const system = `${instructions}\n\nAnswer with JSON only, of this schema:\n${JSON.stringify(schema)}`;
    const first = [
      { role: "system" as const, content: system },
      { role: "user" as const, content: JSON.stringify(facts) },
    ];
    const shape = { name, schema: schema as Record<string, unknown> };
    const question = { modelId, schema: shape, outputTokensMax, payer };
    let messages: Parameters<Chat["ask"]>[0]["messages"] = first;
    const useless: Awaited<ReturnType<Chat["ask"]>>["target"][] = [];
    for (let attempt = 0; ; attempt += 1) {
      const delayMs = retryDelaysMs[attempt];
      try {
        const { text, isWhole, target } = await chat.ask({ ...question, messages, avoided: useless }, signal);
        const { value, problem } = isWhole ? readAnswer(text, schema) : tooLong;
        if (problem === null) return value;
        if (delayMs === undefined) throw createUselessError(problem);
        useless.push(target);
        messages = [
          ...first,
          { role: "assistant", content: text },
          { role: "user", content: `That was not what I asked for: ${problem} Answer again, with JSON only.` },
        ];
      } catch (error) {
        if (signal.aborted || !(error instanceof AppError) || !isPassing(error) || delayMs === undefined) throw error;
        await wait(delayMs, null, { signal });
      }
    }
  };
}

const tooLong = { value: null, problem: "it was cut off because it is too long. Make it shorter." } as const;

const passingCodes = ["upstream_unavailable", "upstream_timeout", "model_unroutable", "overloaded"];

function isPassing({ code }: AppError): boolean {
  return passingCodes.includes(code);
}

function createUselessError(problem: string): AppError {
  return new AppError("upstream_unavailable", "The model's response was unusable. Try again.", {
    detail: { problem },
  });
}

/** Some models wrap their JSON in text or code fences. */
function readAnswer<S extends TSchema>(
  text: string,
  schema: S,
): { value: Static<S>; problem: null } | { value: null; problem: string } {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from === -1 || to < from) return { value: null, problem: "there is no JSON object in it." };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.slice(from, to + 1));
  } catch (error) {
    return { value: null, problem: `it is no JSON: ${(error as Error).message}.` };
  }
  const value = Value.Clean(schema, parsed);
  const [finding] = Value.Errors(schema, value);
  if (finding === undefined) return { value: value as Static<S>, problem: null };
  return { value: null, problem: `${finding.instancePath === "" ? "it" : finding.instancePath} ${finding.message}.` };
}
