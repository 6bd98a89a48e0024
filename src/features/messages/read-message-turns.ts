import type { CacheMark, ChatMessage, ChatUserPart } from "../../providers/chat-request.ts";
import type { ChatObstacle } from "../../providers/contract.ts";
import type { MessagePlace } from "../chat/index.ts";
import { type Fields, isObject, needObject, needObjects, needText } from "./message-error.ts";
import { unsignedThinkingMark } from "./thinking-mark.ts";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type ToolMessage = Extract<ChatMessage, { role: "tool" }>;
type TextPart = Extract<ChatUserPart, { type: "text" }>;

/** A conversation in the chat format. */
export type ReadTurns = {
  messages: ChatMessage[];
  places: MessagePlace[];
  /** The first block that chat cannot express. */
  obstacle: ChatObstacle | null;
  /** The number of files and URLs, whose content may be far longer than the reference. */
  references: number;
  /** Some thinking blocks have our placeholder instead of a vendor's signature. */
  hasUnsignedThinking: boolean;
  /** Deferred tools that a search has found. */
  foundTools: Set<string>;
};

type Places = Pick<MessagePlace, "parts" | "calls">;

/** Reads the turns in order. Records what chat cannot express as an obstacle: only Anthropic upstreams can serve it. */
export function readTurns(system: unknown, turns: readonly unknown[]): ReadTurns {
  const read: ReadTurns = {
    ...{ messages: [], places: [], obstacle: null, references: 0, hasUnsignedThinking: false },
    foundTools: new Set(),
  };
  if (system !== undefined && system !== null) readInstructions(read, system, "system");
  turns.forEach((turn, index) => {
    const path = `messages[${index}]`;
    // The schema has checked it.
    const { role, content } = turn as Fields;
    if (role === "user") readUserTurn(read, content, path);
    else if (role === "assistant") readAssistantTurn(read, content, path);
    else readInstructions(read, content, path);
  });
  return read;
}

/** The `cache_control` of a block. A copy, because `dropEmptyFields` changes the chat request in place. */
export function readCacheControl({ cache_control: mark }: Fields): CacheMark {
  return isObject(mark) ? { cache_control: { ...mark } } : {};
}

function note(read: ReadTurns, param: string, message: string): void {
  read.obstacle ??= { param, message };
}

function add(read: ReadTurns, message: ChatMessage, path: string, { parts, calls }: Places): void {
  read.messages.push(message);
  read.places.push({ path, content: path === "system" ? path : `${path}.content`, parts, calls });
}

/** A single unmarked text becomes a string, anything else a list of parts. */
function joinParts<T extends ChatUserPart>(parts: T[]): string | T[] {
  const [only] = parts;
  const isPlain = parts.length === 1 && only?.type === "text" && only.cache_control === undefined;
  return isPlain ? only.text : parts;
}

function readInstructions(read: ReadTurns, content: unknown, path: string): void {
  if (content === "") return;
  if (typeof content === "string") {
    add(read, { role: "system", content }, path, { parts: [], calls: [] });
    return;
  }
  const place = path === "system" ? path : `${path}.content`;
  const parts: TextPart[] = [];
  const places: string[] = [];
  for (const [index, block] of needObjects(content, place).entries()) {
    const at = `${place}[${index}]`;
    if (block.type !== "text") {
      noteForeignBlock(read, block, at);
      continue;
    }
    const text = needText(block, "text", at);
    if (text === "" || text.startsWith(billingMark)) continue;
    parts.push({ type: "text", text, ...readCacheControl(block) });
    places.push(at);
  }
  if (parts.length > 0) add(read, { role: "system", content: joinParts(parts) }, path, { parts: places, calls: [] });
}

/** Claude Code sends accounting data for its vendor as a system block. It changes often and is useless to a model. */
export const billingMark = "x-anthropic-billing-header:";

/** Tool results become messages of their own, before the rest of the user's turn. */
function readUserTurn(read: ReadTurns, content: unknown, path: string): void {
  if (typeof content === "string") {
    add(read, { role: "user", content }, path, { parts: [], calls: [] });
    return;
  }
  const parts: ChatUserPart[] = [];
  const places: string[] = [];
  const say = (part: ChatUserPart, place: string): void => {
    parts.push(part);
    places.push(place);
  };
  const place = `${path}.content`;
  for (const [index, block] of needObjects(content, place).entries()) {
    const at = `${place}[${index}]`;
    if (block.type === "tool_result") readToolResult(read, block, at, say);
    else readUserBlock(read, block, at, say);
  }
  if (parts.length > 0) add(read, { role: "user", content: joinParts(parts) }, path, { parts: places, calls: [] });
}

type Say = (part: ChatUserPart, place: string) => void;

function readUserBlock(read: ReadTurns, block: Fields, at: string, say: Say): void {
  const mark = readCacheControl(block);
  switch (block.type) {
    case "text": {
      const text = needText(block, "text", at);
      if (text !== "") say({ type: "text", text, ...mark }, at);
      break;
    }
    case "image":
      readImage(read, block, at, say);
      break;
    case "document":
      readDocument(read, block, at, say);
      break;
    case "tool_reference": {
      const name = needText(block, "tool_name", at);
      read.foundTools.add(name);
      say({ type: "text", text: `The tool ${name} can be used from now on.` }, at);
      break;
    }
    case "search_result": {
      const place = `${at}.content`;
      const texts = needObjects(block.content, place).map((inner) => needText(inner, "text", place));
      noteCitations(read, block, at);
      say({ type: "text", text: [block.title, block.source, ...texts].join("\n"), ...mark }, at);
      break;
    }
    default:
      noteForeignBlock(read, block, at);
  }
}

/** Some of these reference files or URLs. */
function noteForeignBlock(read: ReadTurns, block: Fields, at: string): void {
  const name = needText(block, "type", at);
  read.references += 1;
  note(read, at, `This model does not support content blocks of type ${name}.`);
}

function noteCitations(read: ReadTurns, { citations }: Fields, at: string): void {
  if (isObject(citations) && citations.enabled === true) {
    note(read, `${at}.citations`, "This model does not support citations.");
  }
}

function noteReference(read: ReadTurns, at: string, what: string): void {
  read.references += 1;
  note(read, `${at}.source`, `This model does not take ${what}.`);
}

function readImage(read: ReadTurns, block: Fields, at: string, say: Say): void {
  const source = needObject(block, "source", at);
  const place = `${at}.source`;
  if (source.type === "base64") {
    const url = `data:${needText(source, "media_type", place)};base64,${needText(source, "data", place)}`;
    say({ type: "image_url", image_url: { url }, ...readCacheControl(block) }, at);
  } else if (source.type === "url") {
    say({ type: "image_url", image_url: { url: needText(source, "url", place) }, ...readCacheControl(block) }, at);
  } else {
    noteReference(read, at, "images by file id");
  }
}

/** A PDF becomes a file part. A text document becomes text, after its title. */
function readDocument(read: ReadTurns, block: Fields, at: string, say: Say): void {
  const place = `${at}.source`;
  const source = needObject(block, "source", at);
  const mark = readCacheControl(block);
  noteCitations(read, block, at);
  const about = [block.title, block.context].filter((text) => typeof text === "string" && text !== "");
  switch (source.type) {
    case "base64": {
      const type = needText(source, "media_type", place);
      const file_data = `data:${type};base64,${needText(source, "data", place)}`;
      const filename = typeof block.title === "string" && block.title !== "" ? block.title : "document.pdf";
      if (typeof block.context === "string" && block.context !== "") say({ type: "text", text: block.context }, at);
      say({ type: "file", file: { file_data, filename }, ...mark }, at);
      break;
    }
    case "text":
      say({ type: "text", text: [...about, needText(source, "data", place)].join("\n"), ...mark }, at);
      break;
    case "content": {
      if (about.length > 0) say({ type: "text", text: about.join("\n") }, at);
      const blocks = typeof source.content === "string" ? [{ type: "text", text: source.content }] : source.content;
      for (const inner of needObjects(blocks, `${place}.content`)) {
        readUserBlock(read, { ...inner, ...mark }, `${place}.content`, say);
      }
      break;
    }
    default:
      noteReference(read, at, source.type === "url" ? "documents by URL" : "documents by file id");
  }
}

/** Chat's tool messages have no images or documents, so these follow as a user message. */
function readToolResult(read: ReadTurns, block: Fields, at: string, say: Say): void {
  const { content = "" } = block;
  const isText = typeof content === "string" && block.is_error !== true;
  const result = isText ? { said: content, places: content === "" ? [] : [at] } : readResultParts(read, block, at, say);
  const message: ToolMessage = {
    role: "tool",
    tool_call_id: needText(block, "tool_use_id", at),
    content: result.said,
    ...readCacheControl(block),
  };
  add(read, message, at, { parts: result.places, calls: [] });
}

function readResultParts(
  read: ReadTurns,
  block: Fields,
  at: string,
  say: Say,
): { said: string | TextPart[]; places: string[] } {
  const texts: TextPart[] = [];
  const places: string[] = [];
  let hasMedia = false;
  const sort: Say = (part, place) => {
    if (part.type === "text") {
      texts.push(part);
      places.push(place);
    } else {
      hasMedia = true;
      say(part, place);
    }
  };
  const { content = "" } = block;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  for (const [index, inner] of needObjects(blocks ?? [], `${at}.content`).entries()) {
    readUserBlock(read, inner, typeof content === "string" ? at : `${at}.content[${index}]`, sort);
  }
  if (texts.length === 0 && hasMedia) texts.push({ type: "text", text: "The result is attached below." });
  if (block.is_error === true) prependFailure(texts);
  return { said: texts.length === 0 ? "" : (joinParts(texts) as string | TextPart[]), places };
}

/** Chat has no `is_error`, and a model must not mistake a failure for a result. */
function prependFailure(texts: TextPart[]): void {
  const [first = { type: "text", text: "" }] = texts;
  texts[0] = { ...first, text: `The tool failed.\n${first.text}`.trimEnd() };
}

function readAssistantTurn(read: ReadTurns, content: unknown, path: string): void {
  const message: AssistantMessage = { role: "assistant", content: "" };
  const places: Places = { parts: [], calls: [] };
  if (typeof content === "string") {
    add(read, { ...message, content }, path, places);
    return;
  }
  const texts: TextPart[] = [];
  const place = `${path}.content`;
  for (const [index, block] of needObjects(content, place).entries()) {
    readAssistantBlock(read, block, { at: `${place}[${index}]`, message, texts, places });
  }
  // Unmarked texts are joined: some upstreams accept no list here.
  const isMarked = texts.some((part) => part.cache_control !== undefined);
  message.content = isMarked ? texts : texts.map(({ text }) => text).join("");
  if (message.content === "" && message.tool_calls !== undefined) message.content = null;
  add(read, message, path, places);
}

type AssistantReading = { at: string; message: AssistantMessage; texts: TextPart[]; places: Places };

function readAssistantBlock(read: ReadTurns, block: Fields, { at, message, texts, places }: AssistantReading): void {
  const mark = readCacheControl(block);
  switch (block.type) {
    case "text": {
      const text = needText(block, "text", at);
      if (text === "") break;
      texts.push({ type: "text", text, ...mark });
      places.parts.push(at);
      break;
    }
    case "tool_use": {
      const { input = {} } = block;
      const name = needText(block, "name", at);
      const written = typeof input === "string" ? input : JSON.stringify(input);
      message.tool_calls ??= [];
      message.tool_calls.push({
        ...{ id: needText(block, "id", at), type: "function" },
        function: { name, arguments: written },
      });
      places.calls.push(at);
      // A chat tool call has no `cache_control`, so the mark goes to the whole message.
      Object.assign(message, mark);
      break;
    }
    case "thinking":
      readThinking(read, block, at, message);
      break;
    case "redacted_thinking":
      message.reasoning_details ??= [];
      message.reasoning_details.push({
        ...{ type: "reasoning.encrypted", data: needText(block, "data", at), format: vendorFormat },
      });
      break;
    default:
      noteForeignBlock(read, block, at);
  }
}

/** Identifies reasoning that Anthropic signed. */
const vendorFormat = "anthropic-claude-v1";

function readThinking(read: ReadTurns, block: Fields, at: string, message: AssistantMessage): void {
  const text = needText(block, "thinking", at);
  const signature = needText(block, "signature", at);
  if (signature === unsignedThinkingMark) {
    read.hasUnsignedThinking = true;
    message.reasoning_content = (message.reasoning_content ?? "") + text;
    return;
  }
  message.reasoning_details ??= [];
  message.reasoning_details.push({ type: "reasoning.text", text, signature, format: vendorFormat });
}

/** The turns without thinking blocks that no vendor has signed. */
export function dropUnsignedThinking(turns: readonly unknown[]): unknown[] {
  return turns.flatMap((turn) => {
    if (!isObject(turn) || !Array.isArray(turn.content)) return [turn];
    const content = turn.content.filter(
      (block) => !(isObject(block) && block.type === "thinking" && block.signature === unsignedThinkingMark),
    );
    if (content.length === turn.content.length) return [turn];
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
}
