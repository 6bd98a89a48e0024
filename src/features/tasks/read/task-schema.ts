import { Type } from "typebox";
import { taskStates, taskTypes } from "../task.ts";

const taskIdPattern = "^task_[0-9a-z]{1,64}$";

const outputSchema = Type.Object({
  type: Type.String({ description: "`image`, `video`, `audio`, `script`, `roles`, `storyboard` or `subtitles`." }),
  file_id: Type.String({ description: "What requests call it, and where `/files/{file_id}` tells of it." }),
  url: Type.String({ description: "Where it can be fetched for a day; read the task again for a fresh link." }),
  content_type: Type.String(),
  bytes: Type.Integer(),
  sha256: Type.String(),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
  duration: Type.Optional(Type.Number({ description: "Seconds." })),
  expires_at: Type.String({ description: "When the bytes are deleted." }),
});

const stepSchema = Type.Object({
  name: Type.String({ description: "`script`, `roles`, `storyboard`, `shots`, `speech` or `film`." }),
  status: Type.Enum([...taskStates]),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  output: Type.Array(outputSchema),
  charge: Type.String({ description: "What the step costs, once what it makes is there." }),
  task_ids: Type.Array(Type.String(), { description: "The tasks that it needed; `GET /tasks/{id}` tells of each." }),
});

export const taskSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("generation.task"),
    type: Type.Enum([...taskTypes]),
    model: Type.String(),
    prompt: Type.Optional(
      Type.String({ description: "What it was asked for in short: the prompt, the text to speak, a drama's title." }),
    ),
    prompt_erased_at: Type.Optional(
      Type.String({ description: "Since when it is no longer kept what the task was asked for." }),
    ),
    status: Type.Enum([...taskStates], { description: "The last four are final and never change." }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: "Never falls; 100 only when succeeded." }),
    output: Type.Array(outputSchema),
    data: Type.Optional(
      Type.Array(Type.Object({ url: Type.Optional(Type.String()), b64_json: Type.Optional(Type.String()) }), {
        description: "The images once more, as OpenAI's API has them.",
      }),
    ),
    usage: Type.Object({
      total_units: Type.Integer({ description: "Units charged, begun ones included." }),
      charge: Type.Optional(Type.String({ description: "What it cost, once it is over." })),
      estimated_charge: Type.String({ description: "What was put on hold for it: the most that it can cost." }),
    }),
    created: Type.Integer(),
    request_id: Type.String(),
    updated_at: Type.String(),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        param: Type.Union([Type.String(), Type.Null()]),
        retryable: Type.Boolean(),
      }),
    ),
    warnings: Type.Optional(Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    client_request_id: Type.Optional(Type.String()),
    queue_position: Type.Optional(Type.Integer({ description: "How many wait for the model, up to this one." })),
    started_at: Type.Optional(Type.String()),
    finished_at: Type.Optional(Type.String()),
    expires_at: Type.Optional(Type.String({ description: "When it is given up unless it has ended." })),
    parent_id: Type.Optional(Type.String()),
    steps: Type.Optional(Type.Array(stepSchema, { description: "What a drama is made of, in order." })),
  },
  { description: "Work that takes a while. `GET /tasks/{id}` tells how it stands." },
);

/** What an event tells of a task that is over. */
export const taskEventSchema = Type.Object({
  task_id: Type.String({ pattern: taskIdPattern }),
  status: taskSchema.properties.status,
  output: taskSchema.properties.output,
  type: taskSchema.properties.type,
  model: taskSchema.properties.model,
  usage: taskSchema.properties.usage,
  error: taskSchema.properties.error,
  metadata: taskSchema.properties.metadata,
});

export const taskRequestSchema = Type.Object({
  object: Type.Literal("generation.request"),
  task_id: Type.String(),
  endpoint: Type.String({ examples: ["/images/generations"] }),
  body: Type.Object({}, { additionalProperties: true, description: "In the fields of the endpoint." }),
});

export const taskListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(taskSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

const filterFields = {
  status: Type.Optional(Type.Enum([...taskStates])),
  type: Type.Optional(Type.Enum([...taskTypes])),
  model: Type.Optional(Type.String({ maxLength: 128, pattern: "^[!-~]+$" })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      examples: ["lighthouse dusk"],
      description:
        "Words, up to eight, that are all in the prompt, text, title or script, in the id, or in the model's id.",
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      examples: ["2026-11-01T00:00:00Z"],
      description: "Created then or later: a time with its offset.",
    }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: "As `from`: created before." })),
};

export const taskFilterSchema = Type.Object(
  {
    ...filterFields,
    parent_id: Type.Optional(Type.String({ pattern: taskIdPattern, description: "The steps of this task instead." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    after: Type.Optional(Type.String({ pattern: taskIdPattern, description: "The `next_cursor` of the page before." })),
  },
  { additionalProperties: false },
);

export const taskCountFilterSchema = Type.Object(filterFields, { additionalProperties: false });

export const taskCountsSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      status: Type.Enum([...taskStates]),
      type: Type.Enum([...taskTypes]),
      count: Type.Integer({ minimum: 1 }),
    }),
  ),
  has_more: Type.Boolean({ description: "There are older tasks than those that were counted." }),
});
