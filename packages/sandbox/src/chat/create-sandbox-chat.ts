import type { Clock } from "../../../../src/providers/adapter.ts";
import type { ChatRequest } from "../../../../src/providers/chat-request.ts";
import {
  type ChatObstacle,
  type ChatProvider,
  type ChatRun,
  ProviderError,
} from "../../../../src/providers/contract.ts";
import { planAnswer } from "./sandbox-choice.ts";
import { createDelivery } from "./sandbox-delivery.ts";
import { countInput, readPrompt } from "./sandbox-prompt.ts";
import { startSandboxRun } from "./sandbox-run.ts";

/** Fields for models with more than text and images. */
const fieldsOfOthers = ["audio", "web_search_options"];
const partsOfOthers: Record<string, string> = {
  input_audio: "This model does not support audio.",
  file: "This model does not support files.",
};

/**
 * A chat model without network access and costs. Deterministic. Words in double brackets in the last user message make
 * it fail, wait or break off: `sandbox-script.ts` lists them.
 */
export function createSandboxChat({ clock }: { clock: Clock }): ChatProvider {
  const runs = new Set<ChatRun>();
  return {
    findObstacle(request) {
      const obstacle = findForeignField(request) ?? findForeignPart(request);
      if (obstacle !== null) return obstacle;
      const plan = planAnswer(request, readPrompt(request));
      return "param" in plan ? plan : null;
    },

    startChat(call, sink) {
      const prompt = readPrompt(call.request);
      const plan = planAnswer(call.request, prompt);
      const run = startSandboxRun({
        outcome:
          "param" in plan
            ? new ProviderError("rejected", plan.message, { param: plan.param })
            : (prompt.script.failure ?? createDelivery(call, plan, sink)),
        script: prompt.script,
        timeouts: call.timeouts,
        sink,
        clock,
        onOver: () => runs.delete(run),
      });
      runs.add(run);
      return run;
    },

    // Like `temperature`, they choose between tokens, and the sandbox has one for each place.
    vendorFields: new Set(["top_k", "min_p"]),
    countInput: (request) => countInput(request).inputTokens,
    reportsStreamUsage: true,

    async close() {
      for (const run of runs) run.cancel();
    },
  };
}

function findForeignField(request: ChatRequest): ChatObstacle | null {
  const param = fieldsOfOthers.find((field) => request[field] !== undefined && request[field] !== null);
  return param === undefined ? null : { param, message: "This model supports only text output, without web search." };
}

function findForeignPart({ messages }: ChatRequest): ChatObstacle | null {
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [place, { type }] of content.entries()) {
      const message = Object.hasOwn(partsOfOthers, type) ? partsOfOthers[type] : undefined;
      if (message !== undefined) return { param: `messages[${index}].content[${place}]`, message };
    }
  }
  return null;
}
