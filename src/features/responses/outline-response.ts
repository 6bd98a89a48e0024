import {
  createWordTable,
  type JsonCursor,
  type JsonLimits,
  readOutline,
  type ToolNames,
} from "../../lib/json-cursor.ts";
import { type ListStart, parseAround, readCopy, readListStart, type TextRange } from "../../lib/unread-json.ts";
import type { ChatContents } from "../../providers/chat-contents.ts";
import { reasoningMarkHead } from "./reasoning-mark.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";

/** What is known of a request whose input and tools were checked but not parsed: of the same request in the chat format. */
export type ResponseOutline = Omit<ChatContents, "readOpening" | "hasDeveloper"> & {
  /** The first items, up to the first that is neither an instruction nor the assistant's. */
  readOpening(): JsonObject[];
};

const fieldNames = ["model", "input", "tools"] as const;
const fields = createWordTable(fieldNames);
const itemFields = createWordTable([
  ...["type", "role", "content", "call_id", "name", "arguments", "input", "output", "status", "summary"],
  "encrypted_content",
]);
const itemTypes = createWordTable([
  ...["message", "function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output", "reasoning"],
]);
const [message, functionCall, customCall, functionOutput, customOutput, reasoning] = [0, 1, 2, 3, 4, 5];
const outputs: ReadonlySet<number> = new Set([functionOutput, customOutput]);
const roles = createWordTable(["system", "developer", "user", "assistant"]);
const user = 2;
const assistant = 3;
const partFields = createWordTable(["type", "text", "annotations", "logprobs"]);
const partTypes = createWordTable(["input_text", "output_text", "text"]);
const summaryTypes = createWordTable(["summary_text"]);
const toolFields = createWordTable(["type", "name", "description", "parameters", "strict", "format"]);
const toolTypes = createWordTable(["function", "custom"]);

type NamedTool = { name: string; type: "function" | "custom" };

/** The names of an item, as bits. */
const hasType = 1;
const hasRole = 2;
const hasContent = 4;
const hasCallId = 8;
const hasName = 16;
const hasArguments = 32;
const hasInput = 64;
const hasOutput = 128;
const hasStatus = 256;
const hasSummary = 512;
const hasEncrypted = 1024;
const called = hasCallId | hasName;
/** By type: the names that an item must have, and those that it may have. */
const required = [
  ...[hasRole | hasContent, called | hasArguments, called | hasInput, hasCallId | hasOutput, hasCallId | hasOutput],
  hasSummary | hasEncrypted,
];
const allowed = [hasStatus, hasStatus, hasStatus, hasStatus, hasStatus, hasStatus];
const hasParameters = 8;
const hasStrict = 16;
const hasFormat = 32;

const toolNameUnitsMax = 64;
const toolsMax = 1024;
const ownMark = Buffer.from(reasoningMarkHead);
const unstored = ['"store":false', '"store": false'];

/**
 * Checks the input and the tools of a request where they are, and parses only the rest. `null` if the response is stored, if
 * they have anything but texts, reasoning, the caller's tools and their calls, or are invalid. What passes here passes
 * `readResponseRequest` and means the same; `test/api/outlined-responses.test.ts` compares them.
 */
export function outlineResponse(
  bytes: Buffer,
  limits: JsonLimits,
  isForwarded: (model: string) => boolean,
): object | null {
  // What is stored has to be parsed.
  if (!unstored.some((text) => bytes.includes(text))) return null;
  const request = readOutline(bytes, limits, (cursor) =>
    new Outline(cursor, isForwarded).read(),
  ) as ResponseRequest | null;
  if (request === null || request.store !== false || request.background === true) return null;
  return request.previous_response_id == null && request.conversation == null ? request : null;
}

/** One per request. The readers are functions of their own, because a closure for each item would be garbage. */
class Outline {
  private readonly cursor: JsonCursor;
  private readonly isForwarded: (model: string) => boolean;
  private readonly ranges: TextRange[] = [];
  private readonly toolNames: ToolNames = { hashes: new Set(), first: [] };
  private messages = 0;
  private characters = 0;
  private itemsFrom = 0;
  private readonly opening: ListStart = { items: 0, from: 0, to: 0 };
  private isOpening = true;
  /** The assistant's message since the last item of another role, as `read-input.ts` joins them. */
  private turn: "none" | "empty" | "spoken" | "calling" = "none";
  /** Of the item that is being read. */
  private type = 0;
  private role = 0;
  private summaries = 0;
  private isReasoned = false;
  /** Of the tool that is being read. */
  private toolType = 0;

  constructor(cursor: JsonCursor, isForwarded: (model: string) => boolean) {
    this.cursor = cursor;
    this.isForwarded = isForwarded;
  }

  read(): object | null {
    const { cursor, ranges, opening } = this;
    const { hashes, first: firstTools } = this.toolNames;
    cursor.readOutermost(fields, (field) => this.takeField(field));
    this.closeTurn();
    const { messages, characters } = this;
    if (messages === 0) return null;
    return parseAround(
      cursor.bytes,
      ranges,
      (request): ResponseOutline => ({
        ...{ messages, characters, tools: hashes.size, firstTools },
        readToolTypes: () => new Map((readCopy(request, "tools") as NamedTool[]).map(({ name, type }) => [name, type])),
        readOpening: () => readListStart(request, "input", opening) as JsonObject[],
      }),
    );
  }

  private takeField(field: number): void {
    const { cursor } = this;
    const name = fieldNames[field] ?? cursor.refuse();
    if (name === "model") {
      cursor.readPlainText();
      // The upstream's adapter would parse it.
      if (!this.isForwarded(cursor.sliceText())) cursor.refuse();
      return;
    }
    cursor.peek();
    const from = cursor.at;
    if (name === "input") {
      this.itemsFrom = from;
      cursor.readList(this.readItem);
    } else {
      const tools = cursor.readList(this.readTool);
      if (tools === 0 || tools > toolsMax) cursor.refuse();
    }
    this.ranges.push({ name, from, to: cursor.at });
  }

  private readonly readItem = (): void => {
    const { cursor, opening } = this;
    cursor.peek();
    const from = cursor.at;
    // The default.
    this.type = message;
    this.role = -1;
    this.summaries = 0;
    this.isReasoned = false;
    const seen = cursor.readObject(itemFields, this.takeOfItem);
    const { type } = this;
    const others = seen & ~hasType;
    const needed = required[type] ?? 0;
    if ((others & needed) !== needed || (others & ~(needed | (allowed[type] ?? 0))) !== 0) cursor.refuse();
    this.join();
    if (!this.isOpening) return;
    if (opening.items === 0) opening.from = from - this.itemsFrom;
    opening.items += 1;
    opening.to = cursor.at - this.itemsFrom;
    // The assistant's items may become one message.
    this.isOpening = type === message ? this.role !== user : !outputs.has(type);
  };

  /** Counts the item as `read-input.ts` joins it with the ones before. */
  private join(): void {
    switch (this.type) {
      case message:
        if (this.role !== assistant) this.push();
        else {
          if (this.turn === "spoken") this.closeTurn();
          this.openTurn();
          if (this.turn === "empty") this.turn = "spoken";
        }
        break;
      case functionCall:
      case customCall:
        this.openTurn();
        this.turn = "calling";
        break;
      case reasoning:
        if (!this.isReasoned) break;
        if (this.turn === "spoken") this.closeTurn();
        this.openTurn();
        break;
      default:
        this.push();
    }
  }

  private push(): void {
    this.closeTurn();
    this.messages += 1;
  }

  private openTurn(): void {
    if (this.turn !== "none") return;
    this.messages += 1;
    this.turn = "empty";
  }

  private closeTurn(): void {
    if (this.turn === "empty") this.messages -= 1;
    this.turn = "none";
  }

  private readonly takeOfItem = (name: number): void => {
    const { cursor } = this;
    switch (1 << name) {
      case hasType:
        this.type = cursor.requireWord(itemTypes);
        break;
      case hasRole:
        this.role = cursor.requireWord(roles);
        break;
      case hasContent:
      case hasOutput:
        if (cursor.isTextNext()) {
          cursor.readText();
          this.characters += cursor.textUnits;
        } else cursor.readList(this.readPart);
        break;
      case hasSummary:
        cursor.readList(this.readSummary);
        break;
      case hasEncrypted:
        // An upstream gets only reasoning that it has encrypted.
        cursor.readPlainText();
        if (cursor.textStartsWith(ownMark)) cursor.refuse();
        break;
      default:
        cursor.readText();
    }
  };

  private readonly readPart = (): void => {
    if ((this.cursor.readObject(partFields, this.takeOfPart) & 3) !== 3) this.cursor.refuse();
  };

  private readonly takeOfPart = (name: number): void => {
    const { cursor } = this;
    if (name === 0) cursor.requireWord(partTypes);
    else if (name === 1) {
      cursor.readText();
      this.characters += cursor.textUnits;
    } else cursor.skipValue(4);
  };

  private readonly readSummary = (): void => {
    if (this.cursor.readObject(partFields, this.takeOfSummary) !== 3) this.cursor.refuse();
    this.summaries += 1;
    // Several texts are joined by empty lines.
    if (this.summaries > 1) this.isReasoned = true;
  };

  private readonly takeOfSummary = (name: number): void => {
    const { cursor } = this;
    if (name === 0) {
      cursor.requireWord(summaryTypes);
      return;
    }
    cursor.readText();
    if (cursor.textUnits > 0) this.isReasoned = true;
  };

  private readonly readTool = (): void => {
    const { cursor } = this;
    const seen = cursor.readObject(toolFields, this.takeOfTool);
    const isCustom = this.toolType === 1;
    if ((seen & 3) !== 3 || (seen & (isCustom ? hasParameters | hasStrict : hasFormat)) !== 0) cursor.refuse();
  };

  private readonly takeOfTool = (name: number): void => {
    const { cursor } = this;
    if (name === 0) this.toolType = cursor.requireWord(toolTypes);
    else if (name === 1) cursor.readToolName(toolNameUnitsMax, this.toolNames);
    else if (name === 2) cursor.readText();
    else if (name === 4) cursor.readBoolean();
    else cursor.skipObject(3);
  };
}
