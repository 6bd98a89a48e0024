import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import {
  type PrepareTask,
  submissionAnswers,
  submissionErrors,
  submissionText,
  type Tasks,
  taskSchema,
} from "../tasks/index.ts";
import { type DramaBody, dramaRequestSchema } from "./drama-schema.ts";
import { openDocument } from "./open-document.ts";
import { describeOrder } from "./prepare-drama.ts";

const path = "/dramas/generations";

const description = `Turns a script and its characters into an episode: a screenplay, its roles, a storyboard with an image for each shot,
and a video with voices, captions, a title card and a poster. \`stage\` selects the last stage. To resume from a stage, pass its
document, changed or not, as \`script\`, or send \`from_task_id\`. The task's \`steps\` show its progress. Requires a
webhook. ${submissionText}`;

export function addDramaRoutes(
  http: HttpServer,
  { tasks, prepare }: { tasks: Pick<Tasks, "submit">; prepare: PrepareTask<DramaBody> },
): void {
  const { config, schema, errors } = describeEndpoint("createDrama", [...submissionErrors, "webhook_required"]);
  http.post(
    path,
    {
      config,
      preValidation: async (request) => openDocument(request.body),
      schema: {
        ...schema,
        summary: "Create a drama",
        description,
        tags: ["Dramas"],
        headers: describeHeaders("idempotency-key", "prefer"),
        ...submissionAnswers,
        body: dramaRequestSchema,
        response: { 200: taskSchema, 202: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      await tasks.submit<DramaBody>(request, reply, { path, prepare, describeOrder });
    },
  );
}
