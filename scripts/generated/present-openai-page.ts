import { absentEndpoints } from "../../src/app/openai-endpoints.ts";

/** Generates the API guide's page on OpenAI clients. */
export function presentOpenAiPage(): string {
  const rows = absentEndpoints.map(({ path, method, instead }) => {
    const name = [...(method === undefined ? [] : [method]), path.replace(/\/$/, "/…")].join(" ");
    return `| \`${name}\` | ${instead} |`;
  });
  return [
    "# OpenAI's clients",
    "",
    "<!-- Written from src/app/openai-endpoints.ts by `npm run generate`. -->",
    "",
    "Set `base_url` to this service's address and `api_key` to your key. These endpoints work unchanged: chat (with streaming,",
    "tools, vision and JSON schemas), embeddings, the model list, images (`generate` and `edit`), speech, transcriptions and",
    "translations, and files (`create`, `list`, `retrieve`, `content`, `delete`). [Media](media.md) describes each image field.",
    "",
    "Other endpoints return 404 `not_offered` with the text of this table:",
    "",
    "| path | what to use instead |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n");
}
