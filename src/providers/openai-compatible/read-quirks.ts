import type { ProviderDefinition } from "../provider-definition.ts";
import type { OpenAiCompatibleOptions } from "./create-openai-compatible.ts";
import { chatDialects } from "./dialects/chat-dialects.ts";
import { compileDialect } from "./dialects/compile-dialect.ts";

type Quirks = Pick<
  OpenAiCompatibleOptions,
  | "outputCapField"
  | "systemRole"
  | "asksStreamUsage"
  | "reportsStreamUsage"
  | "unsupportedFields"
  | "vendorFields"
  | "dialect"
>;

/** How a provider's chat differs from OpenAI's: by its dialect, and by its own options, which win. */
export function readQuirks(definition: ProviderDefinition): Quirks {
  const dialect = definition.dialect === undefined ? null : chatDialects[definition.dialect];
  const { stream_usage: streamUsage, unsupported_fields: unsupportedFields = [] } = definition;
  return {
    outputCapField: definition.output_cap_field ?? dialect?.outputCapField ?? "max_completion_tokens",
    systemRole: definition.system_role ?? dialect?.systemRole ?? "as-sent",
    asksStreamUsage: streamUsage ?? (dialect === null || dialect.streamUsage === "asked"),
    reportsStreamUsage: streamUsage ?? dialect?.streamUsage !== "unknown",
    unsupportedFields,
    vendorFields: new Set(dialect?.vendorFields ?? []),
    dialect: dialect === null ? null : compileDialect(dialect),
  };
}
