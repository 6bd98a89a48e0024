import { Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { type CallDirectory, type Calls, type IncomingCall, type PaidRoute, quotePlan } from "../calls/index.ts";
import type { Quotable } from "../quotes/index.ts";
import {
  checkSpeechTask,
  parsePrefer,
  type SpeechBody,
  speechRequestSchema,
  submissionAnswer,
  submissionErrors,
  type Tasks,
  taskSchema,
} from "../tasks/index.ts";
import { audioTypes, prepareSpeech, type SpeechKinds } from "./prepare-speech.ts";

export type Speech = { addRoutes(v1: HttpServer): void; quotables: readonly Quotable[] };

type SpeechDependencies = CallDirectory & {
  calls: Calls;
  tasks: Pick<Tasks, "submit" | "prepareMedia" | "replay">;
};

const path = "/audio/speech";
const description = `Turns a text into audio and streams it while the model produces it. With \`Prefer: respond-async\` the endpoint
creates a task instead, as the other media endpoints do. \`stream_format: sse\` sends the audio as events:
\`speech.audio.delta\` with \`audio\` in base64, then \`speech.audio.done\` with the usage and its charge. With an \`Idempotency-Key\` you can safely retry: the call runs
once and you pay once.`;

export function createSpeech({ calls, tasks, ...directory }: SpeechDependencies): Speech {
  const route: PaidRoute<SpeechKinds> = {
    path,
    prepare: (incoming: IncomingCall) => prepareSpeech(directory, incoming),
    // The same key may have created a speech task before.
    replay: tasks.replay,
  };
  const prepare = tasks.prepareMedia(checkSpeechTask);
  const { config, schema, errors } = describeEndpoint("createSpeech", [
    ...submissionErrors,
    "already_completed",
    "content_policy_violation",
    "upstream_unavailable",
    "upstream_timeout",
  ]);
  const quotable: Quotable = {
    ...{ endpoint: "createSpeech", path, schema: speechRequestSchema },
    quote: (asked) => quotePlan(prepareSpeech(directory, asked)),
  };
  return {
    quotables: [quotable],
    addRoutes(v1) {
      v1.post(
        path,
        {
          config,
          schema: {
            ...schema,
            summary: "Create speech",
            description,
            tags: ["Speech"],
            headers: describeHeaders("idempotency-key", "x-quote-id", "prefer"),
            ...describeAnswers({
              200: { types: [...Object.values(audioTypes), "text/event-stream"] },
              202: submissionAnswer,
            }),
            body: speechRequestSchema,
            response: {
              200: Type.Unsafe<Buffer>(Type.String({ description: "The audio." })),
              202: taskSchema,
              ...errors,
            },
          },
        },
        async (request, reply) => {
          if (!parsePrefer(request.headers.prefer).isAsync) {
            calls.answer(route, request, reply);
            return reply;
          }
          if (await calls.replay(route, request, reply)) return reply;
          reply.header("preference-applied", "respond-async");
          return await tasks.submit<SpeechBody>(request, reply, { path, prepare });
        },
      );
    },
  };
}
