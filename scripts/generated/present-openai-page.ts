import { absentEndpoints } from "../../src/app/openai-endpoints.ts";

/** The page of the API guide for those who come with a client of OpenAI's. */
export function presentOpenAiPage(): string {
  const rows = absentEndpoints.map(({ path, instead }) => `| \`${path.replace(/\/$/, "/…")}\` | ${instead} |`);
  return [
    "# OpenAI's clients",
    "",
    "<!-- Written from src/app/openai-endpoints.ts by `npm run generate`. -->",
    "",
    "Set `base_url` to this service's address, and `api_key` to a key of yours. These work as they are: chat (with streams,",
    "tools, vision and JSON schemas), embeddings, the model list, images (`generate` and `edit`), speech, transcriptions and",
    "translations, and files (`create`, `list`, `retrieve`, `content`, `delete`). [Media](media.md) says what each field of an image does.",
    "",
    "What is not here answers 404 `not_offered` with the same words as this table:",
    "",
    "| path | what to use instead |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n");
}
