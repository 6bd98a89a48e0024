import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatMessage, ChatUserPart } from "../../providers/chat-request.ts";
import type { ChatObstacle } from "../../providers/contract.ts";
import type { MessagePlace } from "../chat/index.ts";
import { readCompactionMark } from "./compaction-mark.ts";
import { type Reasoning, readReasoningMark } from "./reasoning-mark.ts";
import { isObject, type JsonObject, type PlacedItem } from "./response-request.ts";
import { joinToolName } from "./tool-namespaces.ts";
import { describeFound, isClientSearch, searchFunction } from "./tool-search.ts";

export type ReadInput = {
  messages: ChatMessage[];
  /** The place of each message in the caller's request; of joined items, the first. */
  places: MessagePlace[];
  /** The first item that chat cannot express. The messages have a placeholder for it. */
  obstacle: ChatObstacle | null;
  /** The number of files that are only referenced. */
  references: number;
};

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type ToolCall = NonNullable<AssistantMessage["tool_calls"]>[number];
type TextPart = { type: "text"; text: string };
type AssistantPart = TextPart | { type: "refusal"; refusal: string };

const roles: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);
const details: ReadonlySet<unknown> = new Set(["auto", "low", "high", "original"]);

function refuseItem(param: string, message: string): never {
  throw new AppError("invalid_parameter", message, { param });
}

/**
 * Converts the items of a conversation to chat messages. Consecutive reasoning, text and tool calls of the assistant
 * are separate items here, and one message in chat.
 */
export function readInput(items: readonly PlacedItem[]): ReadInput {
  const reader = new InputReader();
  for (const { item, place } of items) reader.add(item, place);
  reader.end();
  return reader;
}

/** The outputs of parallel calls follow one another. */
const outputTypes: ReadonlySet<unknown> = new Set([
  ...["function_call_output", "custom_tool_call_output", "tool_search_output"],
]);

/** One per request. */
class InputReader implements ReadInput {
  readonly messages: ChatMessage[] = [];
  readonly places: MessagePlace[] = [];
  obstacle: ChatObstacle | null = null;
  references = 0;
  /** The assistant's message since the last item of another role. */
  private turn: AssistantMessage | null = null;
  /** Images and files of the latest tool outputs. Chat's tool messages have none, so these follow as a user message. */
  private attached: { message: { role: "user"; content: ChatUserPart[] }; place: MessagePlace } | null = null;

  add(item: JsonObject, place: string): void {
    const type = item.type ?? (item.role === undefined ? "item_reference" : "message");
    // The outputs of parallel calls stay together.
    if (!outputTypes.has(type)) this.attach();
    switch (type) {
      case "message":
        if (item.role === "assistant") this.addSaid(item, place);
        else this.addMessage(item, place);
        break;
      case "reasoning":
        this.addReasoning(item, place);
        break;
      case "function_call":
      case "custom_tool_call":
        this.addCall(item, place);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.addOutput(item, place);
        break;
      case "tool_search_call":
      case "tool_search_output":
        this.addSearch(item, place);
        break;
      case "compaction":
        this.addSummary(item, place);
        break;
      case "item_reference":
        refuseItem(`${place}.id`, `There is no stored item with the id ${String(item.id)}.`);
        break;
      default:
        if (typeof type !== "string") refuseItem(`${place}.type`, `\`${place}.type\` must be a string.`);
        this.addObstacle(place, `This model does not support items of type ${type}.`);
    }
  }

  private addSummary({ encrypted_content: mark }: JsonObject, place: string): void {
    const content = readCompactionMark(mark);
    if (content !== null) this.push({ role: "user", content }, place);
    else
      this.addObstacle(`${place}.encrypted_content`, "Only the service that compacted this conversation can read it.");
  }

  /** Records something that only an upstream with the Responses API supports. */
  private addObstacle(param: string, message: string): void {
    this.obstacle ??= { param, message };
  }

  end(): void {
    this.closeTurn();
    this.attach();
  }

  private attach(): void {
    if (this.attached === null) return;
    this.messages.push(this.attached.message);
    this.places.push(this.attached.place);
    this.attached = null;
  }

  /** Drops reasoning without text or calls: it is no message. */
  private closeTurn(): void {
    const { turn } = this;
    this.turn = null;
    if (turn === null || turn.content !== null || turn.tool_calls !== undefined) return;
    this.messages.pop();
    this.places.pop();
  }

  private push(message: ChatMessage, path: string, content = `${path}.content`): void {
    this.closeTurn();
    this.messages.push(message);
    this.places.push({ path, content, parts: [], calls: [] });
  }

  /** Records the places of the latest message's parts. */
  private placeParts(content: unknown, place: string): void {
    const places = Array.isArray(content) ? content.map((_, index) => `${place}[${index}]`) : [place];
    this.places.at(-1)?.parts.push(...places);
  }

  private openTurn(place: string): AssistantMessage {
    if (this.turn !== null) return this.turn;
    const turn: AssistantMessage = { role: "assistant", content: null };
    this.push(turn, place);
    this.turn = turn;
    return turn;
  }

  private addMessage(item: JsonObject, place: string): void {
    const { role, content } = item;
    if (!roles.has(role))
      refuseItem(`${place}.role`, `\`${place}.role\` must be user, assistant, system or developer.`);
    // A request with a text for input has no items.
    const contentPlace = place === "input" ? place : `${place}.content`;
    if (role === "user") {
      const said = this.readParts(content, contentPlace, (part, at) => this.readUserPart(part, at));
      this.push({ role, content: said }, place, contentPlace);
    } else {
      const said = this.readParts(content, contentPlace, (part, at) => this.readTextPart(part, at));
      this.push({ role: role as "system" | "developer", content: said }, place, contentPlace);
    }
    this.placeParts(content, contentPlace);
  }

  private addSaid({ content }: JsonObject, place: string): void {
    // Two messages in a row stay two; text among tool calls belongs to the message with the calls.
    const hasSpoken = this.turn !== null && this.turn.content !== null && this.turn.tool_calls === undefined;
    if (hasSpoken) this.closeTurn();
    const turn = this.openTurn(place);
    const said = this.readParts(content, `${place}.content`, (part, at) => this.readAssistantPart(part, at));
    if (turn.content === null || turn.content === undefined) turn.content = said;
    else turn.content = [...listParts(turn.content), ...listParts(said)];
    this.placeParts(content, `${place}.content`);
  }

  private addReasoning(item: JsonObject, place: string): void {
    const reasoning = this.readReasoning(item, place);
    if (reasoning === null) return;
    if (this.turn !== null && this.turn.content !== null && this.turn.tool_calls === undefined) this.closeTurn();
    const turn = this.openTurn(place);
    if (reasoning.text !== "") turn.reasoning_content = (turn.reasoning_content ?? "") + reasoning.text;
    if (reasoning.details !== null) turn.reasoning_details = [...(turn.reasoning_details ?? []), ...reasoning.details];
  }

  /** `null` if only the vendor that wrote it can read it: for others it has no content. */
  private readReasoning(item: JsonObject, place: string): Reasoning | null {
    const { encrypted_content: mark, content, summary } = item;
    if (typeof mark === "string") {
      const reasoning = readReasoningMark(mark);
      if (reasoning !== null) return reasoning;
    }
    const text = [...listTexts(content, `${place}.content`), ...listTexts(summary, `${place}.summary`)].join("\n\n");
    return text === "" ? null : { text, details: null };
  }

  private addCall(item: JsonObject, place: string): void {
    const id = readText(item, "call_id", place);
    const called = readText(item, "name", place);
    const { namespace } = item;
    const name = typeof namespace === "string" ? joinToolName({ namespace, name: called }) : called;
    const call: ToolCall =
      item.type === "function_call"
        ? { id, type: "function", function: { name, arguments: readText(item, "arguments", place) } }
        : { id, type: "custom", custom: { name, input: readText(item, "input", place) } };
    const turn = this.openTurn(place);
    turn.tool_calls = [...(turn.tool_calls ?? []), call];
    this.places.at(-1)?.calls.push(place);
  }

  /** A search of the caller's own tools is a function call like any other. */
  private addSearch(item: JsonObject, place: string): void {
    if (!isClientSearch(item)) {
      this.addObstacle(place, `This model does not support items of type ${String(item.type)}.`);
    } else if (item.type === "tool_search_call") {
      const asked = { name: searchFunction, arguments: JSON.stringify(item.arguments ?? {}) };
      this.addCall({ type: "function_call", call_id: item.call_id, ...asked }, place);
    } else {
      const content = describeFound(item);
      this.push({ role: "tool", tool_call_id: readText(item, "call_id", place), content }, place, `${place}.tools`);
    }
  }

  private addOutput(item: JsonObject, place: string): void {
    const callId = readText(item, "call_id", place);
    const outputPlace = `${place}.output`;
    const output = this.readParts(item.output, outputPlace, (part, at) => this.readUserPart(part, at));
    if (typeof output === "string") {
      this.push({ role: "tool", tool_call_id: callId, content: output }, place, outputPlace);
      this.placeParts(item.output, outputPlace);
    } else this.addOutputParts(callId, output, { path: place, content: outputPlace });
  }

  private addOutputParts(
    callId: string,
    output: readonly ChatUserPart[],
    { path, content }: Pick<MessagePlace, "path" | "content">,
  ): void {
    const texts: TextPart[] = [];
    this.push({ role: "tool", tool_call_id: callId, content: texts }, path, content);
    for (const [index, part] of output.entries()) {
      const place = `${content}[${index}]`;
      if (part.type === "text") {
        texts.push(part);
        this.placeParts(null, place);
        continue;
      }
      this.attached ??= { message: { role: "user", content: [] }, place: { path, content, parts: [], calls: [] } };
      this.attached.message.content.push(part);
      this.attached.place.parts.push(place);
    }
    if (texts.length > 0) return;
    texts.push({ type: "text", text: "The result is attached below." });
    this.placeParts(null, content);
  }

  private readParts<P>(content: unknown, place: string, read: (part: JsonObject, place: string) => P): string | P[] {
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) refuseItem(place, `\`${place}\` must be a string or a list of parts.`);
    if (content.length === 0) return "";
    return content.map((part: unknown, index) => {
      const at = `${place}[${index}]`;
      if (!isObject(part)) refuseItem(at, `\`${at}\` must be an object.`);
      return read(part, at);
    });
  }

  private readUserPart(part: JsonObject, place: string): ChatUserPart {
    switch (part.type) {
      case "input_image":
        return this.readImage(part, place);
      case "input_file":
        return this.readFile(part, place);
      case "input_audio": {
        const { data, format } = isObject(part.input_audio) ? part.input_audio : {};
        if (typeof data === "string" && (format === "wav" || format === "mp3"))
          return { type: "input_audio", input_audio: { data, format } };
        return refuseItem(place, `\`${place}.input_audio\` needs \`data\` and \`format\`: wav or mp3.`);
      }
      default:
        return this.readTextPart(part, place);
    }
  }

  private readImage(part: JsonObject, place: string): ChatUserPart {
    const { image_url: url, detail, file_id: fileId } = part;
    if (typeof url === "string") {
      const closeness = details.has(detail) ? { detail: detail as "auto" | "low" | "high" | "original" } : {};
      return { type: "image_url", image_url: { url, ...closeness }, ...readBreakpoint(part) };
    }
    if (typeof fileId !== "string") refuseItem(`${place}.image_url`, `\`${place}\` needs \`image_url\`.`);
    return this.markAbsent(
      `${place}.file_id`,
      "This image is not an uploaded file. Send `image_url`, or the `file_id` of a file from `POST /v1/files`.",
    );
  }

  private readFile(part: JsonObject, place: string): ChatUserPart {
    const { file_data: data, file_id: id, file_url: url, filename } = part;
    if (typeof data !== "string") this.references += 1;
    if (typeof url === "string") {
      return this.markAbsent(
        `${place}.file_url`,
        "Files by `file_url` are not supported by this model. Send `file_data`.",
      );
    }
    if (typeof data !== "string" && typeof id !== "string") refuseItem(place, `\`${place}\` needs \`file_data\`.`);
    return {
      type: "file",
      file: {
        ...(typeof data === "string" ? { file_data: data } : {}),
        ...(typeof id === "string" ? { file_id: id } : {}),
        ...(typeof filename === "string" ? { filename } : {}),
      },
      ...readBreakpoint(part),
    };
  }

  private readAssistantPart(part: JsonObject, place: string): AssistantPart {
    if (part.type !== "refusal") return this.readTextPart(part, place);
    return { type: "refusal", refusal: readText(part, "refusal", place) };
  }

  private readTextPart(part: JsonObject, place: string): TextPart {
    const { type } = part;
    if (type === "input_text" || type === "output_text" || type === "text") {
      return { type: "text", text: readText(part, "text", place), ...readBreakpoint(part) };
    }
    if (typeof type !== "string") refuseItem(`${place}.type`, `\`${place}.type\` is missing.`);
    return this.markAbsent(place, `This model does not support parts of type ${type} here.`);
  }

  /** A placeholder that is never sent: only an upstream with the Responses API can take this request. */
  private markAbsent(place: string, message: string): TextPart {
    this.addObstacle(place, message);
    return { type: "text", text: "" };
  }
}

function readText(source: JsonObject, field: string, place: string): string {
  const text = source[field];
  if (typeof text === "string") return text;
  const param = `${place}.${field}`;
  if (text === undefined) throw new AppError("missing_parameter", `\`${param}\` is missing.`, { param });
  return refuseItem(param, `\`${param}\` must be a string.`);
}

function readBreakpoint({ prompt_cache_breakpoint: mark }: JsonObject): object {
  return isObject(mark) ? { prompt_cache_breakpoint: mark } : {};
}

function listParts(content: NonNullable<AssistantMessage["content"]>): AssistantPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function listTexts(parts: unknown, place: string): string[] {
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts)) return refuseItem(place, `\`${place}\` must be a list.`);
  return parts.flatMap((part: unknown) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));
}
