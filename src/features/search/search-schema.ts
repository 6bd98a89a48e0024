import { type Static, Type } from "typebox";
import { type SearchHit, searchKinds } from "./search-store.ts";

export const searchQuerySchema = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: "^[^\\0]*$",
      description: "An id, its prefix and at least eight characters, or a part of a name or prompt.",
    }),
  },
  { additionalProperties: false },
);

const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const searchResultSchema = Type.Object({
  object: Type.Enum([...searchKinds]),
  id: Type.String(),
  name: Type.String({
    description: "A name, a file's name, a model, a task's prompt, an event's type or an endpoint's URL.",
  }),
  status: maybe("The status of a task, key or endpoint; the purpose of a file."),
  task_id: maybe("The task that created the object, or that the event is about."),
  created_at: Type.String({ format: "date-time" }),
});

export const searchResultsSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(searchResultSchema),
});

export function presentHits(hits: readonly SearchHit[]): Static<typeof searchResultsSchema> {
  return {
    object: "list",
    data: hits.map(({ kind, id, name, status, taskId, createdAt }) => ({
      object: kind,
      ...{ id, name, status },
      task_id: taskId,
      created_at: createdAt.toISOString(),
    })),
  };
}
