import { Type } from "typebox";
import { taskStates, taskTypes } from "../task.ts";

const taskIdPattern = "^task_[0-9a-z]{1,64}$";

const outputSchema = Type.Object({
  type: Type.String({ description: "`image`, `video`, `audio`, `script`, `roles`, `storyboard` or `subtitles`." }),
  file_id: Type.String({ description: "The file's id, for requests and `GET /files/{file_id}`." }),
  url: Type.String({ description: "A download link, valid for a day. Get the task again for a new link." }),
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
  charge: Type.String({ description: "The step's charge, once its output exists." }),
  task_ids: Type.Array(Type.String(), { description: "The step's child tasks; see `GET /tasks/{id}`." }),
});

export const taskSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("generation.task"),
    type: Type.Enum([...taskTypes]),
    model: Type.String(),
    prompt: Type.Optional(
      Type.String({ description: "An excerpt of the prompt, the text to speak, or the drama's title." }),
    ),
    prompt_erased_at: Type.Optional(Type.String({ description: "When the task's request was erased." })),
    status: Type.Enum([...taskStates], { description: "The last four are final and never change." }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: "Never falls; 100 only when succeeded." }),
    output: Type.Array(outputSchema),
    data: Type.Optional(
      Type.Array(
        Type.Object({
          url: Type.Optional(Type.String()),
          b64_json: Type.Optional(Type.String()),
          revised_prompt: Type.Optional(Type.String({ description: "The prompt as the model rewrote it." })),
        }),
        { description: "The images in the format of OpenAI's API." },
      ),
    ),
    usage: Type.Object({
      total_units: Type.Integer({ description: "Units charged, rounded up." }),
      charge: Type.Optional(Type.String({ description: "The charge, once the task has ended." })),
      estimated_charge: Type.String({ description: "The amount on hold: the most that the task can cost." }),
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
    queue_position: Type.Optional(Type.Integer({ description: "Position in the model's queue, starting at 1." })),
    started_at: Type.Optional(Type.String()),
    finished_at: Type.Optional(Type.String()),
    expires_at: Type.Optional(Type.String({ description: "The deadline: an unfinished task expires then." })),
    parent_id: Type.Optional(Type.String()),
    steps: Type.Optional(Type.Array(stepSchema, { description: "A drama's steps, in order." })),
  },
  { description: "A long-running job. Poll `GET /tasks/{id}` for its status." },
);

const noTokens = Type.Literal(0);

/** A finished image task as OpenAI's clients get it: some require token counts. */
export const imageAnswerSchema = Type.Object(
  {
    ...taskSchema.properties,
    usage: Type.Object({
      ...taskSchema.properties.usage.properties,
      input_tokens: Type.Optional(noTokens),
      input_tokens_details: Type.Optional(Type.Object({ image_tokens: noTokens, text_tokens: noTokens })),
      output_tokens: Type.Optional(noTokens),
      total_tokens: Type.Optional(
        Type.Literal(0, { description: "Images are priced by image. Clients of OpenAI's API expect the counts." }),
      ),
    }),
  },
  { description: "The finished task. Clients of OpenAI's API read `data`." },
);

/** The event data of a finished task. */
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
  body: Type.Object({}, { additionalProperties: true, description: "The request body for `endpoint`." }),
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
        "Up to eight words; all must occur in the prompt, text, title or script, in the id, or in the model's id.",
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      examples: ["2026-11-01T00:00:00Z"],
      description: "Created at or after this time: a timestamp with an offset.",
    }),
  ),
  to: Type.Optional(
    Type.String({ maxLength: 40, description: "Created before this time: a timestamp with an offset." }),
  ),
};

export const taskFilterSchema = Type.Object(
  {
    ...filterFields,
    parent_id: Type.Optional(
      Type.String({ pattern: taskIdPattern, description: "Lists the steps of this task instead." }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    after: Type.Optional(Type.String({ pattern: taskIdPattern, description: "The previous page's `next_cursor`." })),
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
  has_more: Type.Boolean({ description: "Whether older tasks match that were not counted." }),
});
