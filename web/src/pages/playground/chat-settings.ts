import type { ModelDetail } from "../../api/fetch-catalog.ts";

/** Settings as typed; empty means the model's default. */
export type ChatSettings = {
  system: string;
  temperature: string;
  topP: string;
  tokensMax: string;
  effort: string;
  hasTools: boolean;
  toolsText: string;
};

export type ChatOptions = {
  temperature?: number;
  top_p?: number;
  max_completion_tokens?: number;
  reasoning_effort?: Effort;
  tools?: Tool[];
};

export const efforts = ["minimal", "low", "medium", "high"] as const;
type Effort = (typeof efforts)[number];
type Tool = {
  type: "function";
  function: { name: string; description?: string; parameters?: Record<string, unknown> };
};

/** Problems by the API's parameter name. */
export type SettingProblems = Partial<Record<keyof ChatOptions, string>>;

const toolsExample = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather in a city at the moment.",
      parameters: {
        type: "object",
        properties: { city: { type: "string", description: "The name of the city." } },
        required: ["city"],
      },
    },
  },
];

export const usualSettings: ChatSettings = {
  system: "",
  temperature: "",
  topP: "",
  tokensMax: "",
  effort: "",
  hasTools: false,
  toolsText: JSON.stringify(toolsExample, null, 2),
};

/** The settings as API parameters, as far as the model supports them, and problems. */
export function readSettings(
  settings: ChatSettings,
  { capabilities, limits }: Pick<ModelDetail, "capabilities" | "limits">,
): { options: ChatOptions; problems: SettingProblems } {
  const options: ChatOptions = {};
  const problems: SettingProblems = {};
  const readNumber = (
    name: "temperature" | "top_p" | "max_completion_tokens",
    text: string,
    { min, max, isWhole }: { min: number; max: number; isWhole: boolean },
  ): void => {
    if (text.trim() === "") return;
    const value = Number(text.trim().replace(",", "."));
    const isRight = value >= min && value <= max && (!isWhole || Number.isInteger(value));
    if (isRight) options[name] = value;
    else problems[name] = `Use a ${isWhole ? "whole " : ""}number from ${min} to ${max}, or leave it empty.`;
  };
  readNumber("temperature", settings.temperature, { min: 0, max: 2, isWhole: false });
  readNumber("top_p", settings.topP, { min: 0, max: 1, isWhole: false });
  const tokensMax = limits.max_output_tokens ?? 10_000_000;
  readNumber("max_completion_tokens", settings.tokensMax, { min: 1, max: tokensMax, isWhole: true });
  const effort = efforts.find((each) => each === settings.effort);
  if (effort !== undefined && capabilities.includes("reasoning")) options.reasoning_effort = effort;
  if (settings.hasTools && capabilities.includes("tools")) {
    const tools = parseTools(settings.toolsText);
    if (typeof tools === "string") problems.tools = tools;
    else options.tools = tools;
  }
  return { options, problems };
}

/** The parsed tools, or a problem. The API validates the tools themselves. */
function parseTools(text: string): Tool[] | string {
  try {
    const tools: unknown = JSON.parse(text);
    if (Array.isArray(tools) && tools.length > 0) return tools as Tool[];
    return "Enter a list with at least one tool: [ { … } ].";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : "syntax error"}.`;
  }
}
