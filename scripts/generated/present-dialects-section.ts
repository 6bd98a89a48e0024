import { openAiChatFields } from "../../src/providers/chat-request.ts";
import type { ChatDialect, FieldTreatment } from "../../src/providers/openai-compatible/dialects/chat-dialect.ts";
import { chatDialects } from "../../src/providers/openai-compatible/dialects/chat-dialects.ts";
import { fillSection } from "./fill-section.ts";

/** Every model's capabilities or every provider's options decide about these. */
const unlisted: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"],
  // Rarely offered, and refused unless the model's `extra_parameters` allow them.
  ...["audio", "modalities", "moderation", "prediction", "service_tier", "store", "web_search_options"],
  ...["functions", "function_call"],
]);

/** Fills the table of dialects into the operators' guide. */
export function fillDialectsSection(page: string): string {
  return fillSection(page, "dialects", presentTable());
}

function presentTable(): string {
  const rows = Object.entries(chatDialects).map(([name, dialect]) => {
    const { baseUrl, outputCapField, vendor } = dialect;
    const cells = [`\`${name}\` (${vendor})`, `\`${baseUrl}\``, `\`${outputCapField}\``];
    return `| ${[...cells, listChanges(dialect), listRefused(dialect)].join(" | ")} |`;
  });
  return [
    "| `dialect` | usual `base_url` | cap | written differently | refused |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function listChanges({ fields, constants = {}, vendorFields = [], callIdLength }: ChatDialect): string {
  const changes = Object.entries(fields).flatMap(([field, treatment]) => describeTreatment(field, treatment));
  const more = [
    ...Object.entries(constants).map(([field, value]) => `adds \`${field}: ${JSON.stringify(value)}\``),
    ...(callIdLength === undefined ? [] : [`tool call ids of ${callIdLength} characters`]),
    ...vendorFields.map((field) => `takes \`${field}\``),
  ];
  return [...changes, ...more].join("; ") || "–";
}

function describeTreatment(field: string, treatment: FieldTreatment): string[] {
  if (treatment === "sent" || "dropped" in treatment) return [];
  const { as: name, only, values = {}, instead = {}, listMax } = treatment;
  return [
    ...(name === undefined ? [] : [`\`${field}\` → \`${name}\``]),
    ...Object.entries(values).map(([ours, theirs]) => `\`${field}: ${ours}\` → \`${theirs}\``),
    ...Object.entries(instead).map(([ours, theirs]) => `\`${field}: ${ours}\` → \`${JSON.stringify(theirs)}\``),
    ...(only === undefined || unlisted.has(field) ? [] : [`\`${field}\` only ${only.join(", ")}`]),
    ...(listMax === undefined ? [] : [`at most ${listMax} \`${field}\``]),
  ];
}

function listRefused({ fields, takesNames }: ChatDialect): string {
  const refused = [...openAiChatFields].filter((field) => fields[field] === undefined && !unlisted.has(field));
  const names = takesNames ? [] : ["messages[].name"];
  return [...refused, ...names].map((field) => `\`${field}\``).join(", ");
}
