import { createHash } from "node:crypto";
import type { ChatRequest, ChatTool } from "../../../../src/providers/chat-request.ts";
import type { ChatObstacle } from "../../../../src/providers/contract.ts";
import { readHints } from "../json-schema/sample-hints.ts";
import { sampleSchema } from "../json-schema/schema-sample.ts";
import { listWords } from "./sandbox-languages.ts";
import type { SandboxPrompt } from "./sandbox-prompt.ts";

export type SandboxCall = { id: string; type: "function" | "custom"; name: string; input: string };

type OfferedTool = { tool: ChatTool; name: string; description: string; param: string };

const callsMax = 8;
/** Words that are too common in tools and questions to mean anything. */
const emptyWords = new Set(
  "about call current file find from given into make tell that this tool user what with your".split(" "),
);
const meaningfulCharactersMin = 4;
const sharedWordsMin = 2;
const readCharactersMax = 4000;

/** The tool calls for the request, an obstacle in one of them, or none if the answer is text. */
export function planCalls(request: ChatRequest, prompt: SandboxPrompt): SandboxCall[] | ChatObstacle {
  // After a tool result, answer with text.
  if (prompt.toolResults.length > 0) return [];
  const chosen = chooseTools(request, prompt.question.slice(0, readCharactersMax));
  const calls: SandboxCall[] = [];
  for (const [index, { tool, name, param }] of chosen.entries()) {
    const input = writeInput(tool, prompt);
    if (typeof input !== "string") return { param, message: input.obstacle };
    calls.push({
      id: createId([prompt.messageCount, prompt.question, name, input, index]),
      type: tool.type,
      name,
      input,
    });
  }
  return calls;
}

function chooseTools(request: ChatRequest, question: string): OfferedTool[] {
  const choice = request.tool_choice ?? "auto";
  if (choice === "none") return [];
  const offered = listAllowed(request);
  if (typeof choice === "object" && choice.type !== "allowed_tools") {
    const name = choice.type === "function" ? choice.function.name : choice.custom.name;
    return offered.filter((tool) => tool.name === name).slice(0, 1);
  }
  const mustCall = choice === "required" || (typeof choice === "object" && choice.allowed_tools.mode === "required");
  const meant = chooseMeant(offered, question);
  const chosen = meant.length === 0 && mustCall ? offered.slice(0, 1) : meant;
  return chosen.slice(0, request.parallel_tool_calls === false ? 1 : callsMax);
}

function listAllowed({ tools = [], tool_choice: choice }: ChatRequest): OfferedTool[] {
  const offered = tools.map((tool, index) => {
    const { name, description = "" } = tool.type === "function" ? tool.function : tool.custom;
    const param = `tools[${index}].${tool.type === "function" ? "function.parameters" : "custom.format"}`;
    return { tool, name, description, param };
  });
  if (typeof choice !== "object" || choice.type !== "allowed_tools") return offered;
  const allowed = new Set(choice.allowed_tools.tools.map(readAllowedName));
  return offered.filter(({ name }) => allowed.has(name));
}

/** `{"type": "function", "function": {"name": "…"}}`, or with the name beside the type. */
function readAllowedName(tool: Record<string, unknown>): unknown {
  const inner = tool[String(tool.type)];
  return typeof inner === "object" && inner !== null && "name" in inner ? inner.name : tool.name;
}

/** Tools that the question names; else those that share words with it. */
function chooseMeant(offered: readonly OfferedTool[], question: string): OfferedTool[] {
  const said = listWords(question);
  const saidText = ` ${said.join(" ")} `;
  const named = offered.filter(({ name }) => saidText.includes(` ${listNameWords(name).join(" ")} `));
  if (named.length > 0) return named;
  const meaningful = new Set(said.filter(isMeaningful));
  return offered.filter(({ name, description }) => {
    const shared = new Set(listWords(description.slice(0, readCharactersMax)).filter((word) => meaningful.has(word)));
    return listNameWords(name).some((word) => meaningful.has(word)) || shared.size >= sharedWordsMin;
  });
}

/** "getWeather" and "get_weather" both become "get weather". */
function listNameWords(name: string): string[] {
  return listWords(name.replace(/([a-z])([A-Z])/g, "$1 $2"));
}

function isMeaningful(word: string): boolean {
  return word.length >= meaningfulCharactersMin && !emptyWords.has(word);
}

function writeInput(tool: ChatTool, prompt: SandboxPrompt): string | { obstacle: string } {
  if (tool.type === "custom") {
    const isFree = tool.custom.format === undefined || tool.custom.format.type === "text";
    return isFree ? prompt.question : { obstacle: "This model does not support grammars." };
  }
  const sample = sampleSchema(tool.function.parameters ?? { type: "object" }, readHints(prompt.question, ""));
  return sample.kind === "value" ? JSON.stringify(sample.value) : { obstacle: sample.message };
}

function createId(source: readonly unknown[]): string {
  return `call_${createHash("sha256").update(JSON.stringify(source)).digest("hex").slice(0, 24)}`;
}
