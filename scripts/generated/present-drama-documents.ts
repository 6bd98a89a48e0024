import {
  rolesDocumentSchema,
  scriptDocumentSchema,
  storyboardDocumentSchema,
} from "../../src/features/dramas/drama-documents.ts";

/** The schemas of a drama's documents, for whoever checks or writes them elsewhere. */
export function presentDramaDocuments(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Documents of a drama",
    oneOf: [scriptDocumentSchema, rolesDocumentSchema, storyboardDocumentSchema],
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
