import { Type } from "typebox";
import type { Database } from "../../../platform/database/database.ts";
import { describeAnswers } from "../../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../../platform/http/request-headers.ts";
import type { Calls, IncomingCall, PaidRoute } from "../../calls/index.ts";
import type { Files } from "../../files/index.ts";
import { presentNow } from "../read/task-routes.ts";
import { taskSchema } from "../read/task-schema.ts";
import { checkSpeech } from "../submit/check-generation.ts";
import {
  presentSubmissionHeaders,
  type SubmissionRouteDependencies,
  submissionAnswer,
  submissionErrors,
} from "../submit/generation-routes.ts";
import { type SpeechBody, speechRequestSchema } from "../submit/generation-schema.ts";
import { parsePrefer } from "../submit/prefer.ts";
import { keptTaskType } from "../submit/write-submissions.ts";
import { findTask } from "../task-store.ts";
import { audioTypes, prepareSpeech, type SpeechDirectory } from "./prepare-speech.ts";
import type { SpeechKinds } from "./send-speech.ts";

type SpeechDependencies = SpeechDirectory & { database: Database; files: Pick<Files, "signLink">; baseUrl: string };

const path = "/audio/speech";
const description = `Says a text. The answer is the audio itself, as it is made. With \`Prefer: respond-async\` it is a task like those of
the other media. With an \`Idempotency-Key\` the call can be sent again: it is done and paid once.`;

export function addSpeechRoutes(
  http: HttpServer,
  { submit, prepareMedia, calls, ...speech }: SubmissionRouteDependencies & SpeechDependencies & { calls: Calls },
): void {
  const route = createSpeechRoute(speech);
  const prepare = prepareMedia(checkSpeech);
  const { config, schema, errors } = describeEndpoint("createSpeech", [
    ...submissionErrors,
    "already_completed",
    "content_policy_violation",
    "upstream_unavailable",
    "upstream_timeout",
  ]);
  http.post(
    path,
    {
      config,
      schema: {
        ...schema,
        summary: "Create speech",
        description,
        tags: ["Speech"],
        headers: describeHeaders("idempotency-key", "prefer"),
        ...describeAnswers({ 200: { types: Object.values(audioTypes) }, 202: submissionAnswer }),
        body: speechRequestSchema,
        response: { 200: Type.Unsafe<Buffer>(Type.String({ description: "The audio." })), 202: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      if (!parsePrefer(request.headers.prefer).isAsync) {
        calls.answer(route, request, reply);
        return reply;
      }
      if (await calls.replay(route, request, reply)) return reply;
      reply.header("preference-applied", "respond-async");
      return await submit<SpeechBody>(request, reply, { path, prepare });
    },
  );
}

/** A key that was used for a task of the same text answers with that task. */
function createSpeechRoute(dependencies: SpeechDependencies): PaidRoute<SpeechKinds> {
  const { database, clock, catalog, registry, files, baseUrl } = dependencies;
  return {
    path,
    prepare: (incoming: IncomingCall) => prepareSpeech({ catalog, registry, clock }, incoming),
    async replay({ status, contentType, body }, reply) {
      if (contentType !== keptTaskType || body === null) return false;
      const task = await findTask(database, body.toString());
      const answer = task === null ? null : await presentNow({ database, clock, files }, task);
      if (task !== null) reply.headers(presentSubmissionHeaders(baseUrl, task));
      reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(answer));
      return true;
    },
  };
}
