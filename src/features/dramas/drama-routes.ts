import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { countInnerStructure, innerStructureMax } from "../../platform/http/json-scanner.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { requireStorable } from "../../platform/http/storable-text.ts";
import type { Quotable } from "../quotes/index.ts";
import {
  type FindModel,
  type PrepareTask,
  submissionAnswers,
  submissionErrors,
  submissionText,
  type Tasks,
  taskSchema,
} from "../tasks/index.ts";
import { type DramaBody, dramaRequestSchema, type ReshootBody, reshootRequestSchema } from "./drama-schema.ts";
import { describeOrder } from "./prepare-drama.ts";
import type { AskedShot } from "./prepare-reshoot.ts";

const path = "/dramas/generations";

const description = `Turns a script and its characters into an episode: a screenplay, its roles, a storyboard with an image for each shot,
and a video with voices, captions, a title card and a poster. \`stage\` selects the last stage. To resume from a stage, pass its
document, changed or not, as \`script\`, or send \`from_task_id\`. The task's \`steps\` show its progress. Requires a
webhook. ${submissionText}`;

type DramaRouteDependencies = {
  tasks: Pick<Tasks, "submit" | "quote">;
  prepare: PrepareTask<DramaBody>;
  reshoot: Reshoot;
};

/** How a request for one shot becomes a task. */
type Reshoot = (asked: AskedShot) => { prepare: PrepareTask<ReshootBody>; findModel: FindModel };

export function listDramaQuotables({ tasks, prepare, reshoot }: DramaRouteDependencies): readonly Quotable[] {
  return [
    {
      ...{ endpoint: "createDrama", path, schema: dramaRequestSchema, open: openDocument },
      quote: (asked) => tasks.quote<DramaBody>(asked, { prepare }),
    },
    {
      ...{ endpoint: "createDramaShot", path: "/dramas/:task_id/shots/:shot_number", schema: reshootRequestSchema },
      quote: (asked) => tasks.quote<ReshootBody>(asked, reshoot(readShot(asked.params))),
    },
  ];
}

function readShot({ task_id: taskId = "", shot_number: shotNumber }: Readonly<Record<string, string>>): AskedShot {
  return { taskId, shotNumber: Number(shotNumber) };
}

export function addDramaRoutes(http: HttpServer, dependencies: DramaRouteDependencies): void {
  addCreateDrama(http, dependencies);
  addCreateShot(http, dependencies);
}

const shotDescription = `Makes one shot of a finished video again and cuts a new video, in which only this shot differs. The earlier video stays.
Shots are numbered as in the storyboard, from 1. The new task has its own hold and price: the video price for the length
of the shot. Requires a webhook. ${submissionText}`;

function addCreateShot(http: HttpServer, { tasks, reshoot }: DramaRouteDependencies): void {
  const codes = [...submissionErrors, "webhook_required", "task_not_found", "not_found", "shot_not_available"] as const;
  const { config, schema, errors } = describeEndpoint("createDramaShot", codes);
  http.post(
    "/dramas/:task_id/shots/:shot_number",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a shot again",
        description: shotDescription,
        tags: ["Dramas"],
        params: pathParams({ task_id: "task", shot_number: "shot" }),
        headers: describeHeaders("idempotency-key", "x-quote-id", "prefer"),
        ...submissionAnswers,
        body: reshootRequestSchema,
        response: { 200: taskSchema, 202: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      const shot = readShot(request.params);
      const way = { path: `/dramas/${shot.taskId}/shots/${shot.shotNumber}`, ...reshoot(shot) };
      await tasks.submit<ReshootBody>(request, reply, way);
    },
  );
}

function addCreateDrama(http: HttpServer, { tasks, prepare }: DramaRouteDependencies): void {
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
        headers: describeHeaders("idempotency-key", "x-quote-id", "prefer"),
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

/**
 * Parses a document that was sent as text, such as a saved and edited file, so that it is validated like any other. A
 * story that happens to start with a brace stays a text.
 */
function openDocument(body: unknown): void {
  const fields = body as { script?: unknown } | null | undefined;
  const text = fields?.script;
  if (!fields || typeof text !== "string" || !/^\s*\{/.test(text)) return;
  if (countInnerStructure(text) > innerStructureMax) {
    const message = `The document has more than ${innerStructureMax} of the characters \`{\`, \`[\`, \`:\` and \`,\`.`;
    throw new AppError("payload_too_large", message, { param: "script" });
  }
  const value = parseJson(text);
  if (!isMarked(value)) return;
  requireStorable({ script: value });
  fields.script = value;
}

/** `null` if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isMarked(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "object")) return false;
  const { object } = value as { object: unknown };
  return typeof object === "string" && object.startsWith("drama.");
}
