import { fitsSchema, SchemaObstacleError, type SchemaPart } from "../json-schema/schema-rules.ts";
import { castRoles } from "./cast-roles.ts";
import { type DramaQuestion, parseDramaQuestion } from "./drama-question.ts";
import { writeScript } from "./write-script.ts";
import { writeStoryboard } from "./write-storyboard.ts";

type AnswerFormat = { name: string; schema?: SchemaPart };

const writers: Readonly<Record<string, (question: DramaQuestion) => unknown>> = {
  drama_script: ({ script, ...rest }) => (script === null ? null : writeScript({ ...rest, script })),
  drama_roles: ({ scenes, ...rest }) => (scenes === null ? null : castRoles({ ...rest, scenes })),
  drama_storyboard: ({ scenes, ...rest }) =>
    scenes === null || scenes.length === 0 ? null : writeStoryboard({ ...rest, scenes }),
};

/** The answer of a screenwriter to a drama's question. Deterministic. `null` for any other question or schema. */
export function answerDrama({ name, schema }: AnswerFormat, question: string): unknown {
  const write = Object.hasOwn(writers, name) ? writers[name] : undefined;
  const asked = write === undefined ? null : parseDramaQuestion(parseJson(question));
  if (write === undefined || asked === null) return null;
  const written = write(asked);
  return written === null || schema === undefined || isValid(schema, written) ? written : null;
}

/** The schema is the caller's and may differ from the screenwriter's. */
function isValid(schema: SchemaPart, value: unknown): boolean {
  try {
    return fitsSchema(schema, value, { root: schema, steps: 0, matches: new Map() });
  } catch (error) {
    if (error instanceof SchemaObstacleError) return false;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A caller may use this schema name with a plain text question.
    return null;
  }
}
