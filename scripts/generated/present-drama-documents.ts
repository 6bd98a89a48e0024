import {
  rolesDocumentSchema,
  scriptDocumentSchema,
  storyboardDocumentSchema,
} from "../../src/features/dramas/drama-documents.ts";

/** The JSON Schema of a drama's documents, for other programs that validate or write them. */
export function presentDramaDocuments(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Documents of a drama",
    oneOf: [scriptDocumentSchema, rolesDocumentSchema, storyboardDocumentSchema],
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
