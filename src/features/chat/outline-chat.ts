import {
  createWordTable,
  type JsonCursor,
  type JsonLimits,
  readOutline,
  type ToolNames,
} from "../../lib/json-cursor.ts";
import { type ListStart, parseAround, readCopy, readListStart, type TextRange } from "../../lib/unread-json.ts";
import type { ChatContents } from "../../providers/chat-contents.ts";
import { type ChatMessage, type ChatTool, nameTool } from "../../providers/chat-request.ts";
import { itemsMax } from "./find-affinity.ts";

const fieldNames = ["model", "messages", "tools"] as const;
const fields = createWordTable(fieldNames);
const roles = createWordTable(["system", "developer", "user", "assistant", "tool"]);
const messageFields = createWordTable(["role", "content", "name", "tool_calls", "tool_call_id", "refusal"]);
const partFields = createWordTable(["type", "text"]);
const textType = createWordTable(["text"]);
const callFields = createWordTable(["id", "type", "function"]);
const calledFields = createWordTable(["name", "arguments"]);
const functionType = createWordTable(["function"]);
const toolFields = createWordTable(["type", "function"]);
const functionFields = createWordTable(["name", "description", "parameters", "strict"]);

/** The names of a message, as bits. */
const hasRole = 1;
const hasContent = 2;
const hasName = 4;
const hasCalls = 8;
const hasCallId = 16;
const hasRefusal = 32;
/** By role: the names that a message must have, and those that it may have. */
const required = [hasContent, hasContent, hasContent, 0, hasContent | hasCallId];
const allowed = [hasName, hasName, hasName, hasContent | hasName | hasCalls | hasRefusal, hasName];
const developer = 1;
const assistant = 3;
const tool = 4;

const nameUnitsMax = 64;
const toolsMax = 1024;

/**
 * Checks the messages and tools of a chat request where they are, and parses only the rest. `null` if they have anything but
 * texts and functions, or are invalid: the request is then parsed and checked by its schema. What passes here passes there
 * and means the same; `outline-chat.test.ts` compares them.
 */
export function outlineChat(bytes: Buffer, limits: JsonLimits, isForwarded: (model: string) => boolean): object | null {
  return readOutline(bytes, limits, (cursor) => new ChatOutline(cursor, isForwarded).read());
}

/** One per request. The readers are functions of their own, because a closure for each message would be garbage. */
class ChatOutline {
  private readonly cursor: JsonCursor;
  private readonly isForwarded: (model: string) => boolean;
  private readonly ranges: TextRange[] = [];
  private readonly toolNames: ToolNames = { hashes: new Set(), first: [] };
  private messages = 0;
  private characters = 0;
  private hasDeveloper = false;
  private messagesFrom = 0;
  private readonly opening: ListStart = { items: 0, from: 0, to: 0 };
  private isOpening = true;
  /** Of the message that is being read. */
  private role = 0;
  private isSaid = false;
  private nameUnits = 0;

  constructor(cursor: JsonCursor, isForwarded: (model: string) => boolean) {
    this.cursor = cursor;
    this.isForwarded = isForwarded;
  }

  read(): object | null {
    const { cursor, ranges, opening } = this;
    cursor.readOutermost(fields, (name) => this.takeField(name));
    const { messages, characters, hasDeveloper, toolNames } = this;
    if (messages === 0) return null;
    return parseAround(
      cursor.bytes,
      ranges,
      (request): ChatContents => ({
        ...{ messages, characters, hasDeveloper, tools: toolNames.hashes.size, firstTools: toolNames.first },
        readToolTypes: () =>
          new Map((readCopy(request, "tools") as ChatTool[]).map((tool) => [nameTool(tool), tool.type])),
        readOpening: () => readListStart(request, "messages", opening) as ChatMessage[],
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
    if (name === "messages") {
      this.messagesFrom = from;
      this.messages = cursor.readList(this.readMessage);
    } else {
      const tools = cursor.readList(this.readTool);
      if (tools === 0 || tools > toolsMax) cursor.refuse();
    }
    this.ranges.push({ name, from, to: cursor.at });
  }

  private readonly readMessage = (): void => {
    const { cursor, opening } = this;
    cursor.peek();
    const from = cursor.at;
    this.role = -1;
    this.isSaid = false;
    this.nameUnits = 1;
    const seen = cursor.readObject(messageFields, this.takeOfMessage);
    const { role } = this;
    if (role < 0) cursor.refuse();
    const others = seen & ~hasRole;
    const needed = required[role] ?? 0;
    if ((others & needed) !== needed || (others & ~(needed | (allowed[role] ?? 0))) !== 0) cursor.refuse();
    if (role === assistant ? !this.isSaid : (seen & hasContent) !== 0 && !this.isSaid) cursor.refuse();
    // A tool's message may have any name.
    if (role !== tool && (this.nameUnits < 1 || this.nameUnits > nameUnitsMax)) cursor.refuse();
    if (role === developer) this.hasDeveloper = true;
    if (!this.isOpening) return;
    if (opening.items === 0) opening.from = from - this.messagesFrom;
    opening.items += 1;
    opening.to = cursor.at - this.messagesFrom;
    this.isOpening = role <= developer && opening.items < itemsMax;
  };

  private readonly takeOfMessage = (name: number): void => {
    const { cursor } = this;
    switch (1 << name) {
      case hasRole:
        this.role = cursor.requireWord(roles);
        break;
      case hasContent:
        // Only an assistant's message may be without content.
        if (cursor.takeNull()) break;
        this.isSaid = true;
        if (cursor.isTextNext()) this.readContent();
        else if (cursor.readList(this.readPart) === 0) cursor.refuse();
        break;
      case hasName:
        cursor.readText();
        this.nameUnits = cursor.textUnits;
        break;
      case hasCalls:
        if (cursor.readList(this.readCall) === 0) cursor.refuse();
        this.isSaid = true;
        break;
      case hasCallId:
        cursor.readText();
        if (cursor.textUnits === 0) cursor.refuse();
        break;
      default:
        if (cursor.takeNull()) break;
        cursor.readText();
        this.isSaid = true;
    }
  };

  private readContent(): void {
    this.cursor.readText();
    this.characters += this.cursor.textUnits;
  }

  private readonly readPart = (): void => {
    if (this.cursor.readObject(partFields, this.takeOfPart) !== 3) this.cursor.refuse();
  };

  private readonly takeOfPart = (name: number): void => {
    if (name === 1) this.readContent();
    else this.cursor.requireWord(textType);
  };

  private readonly readCall = (): void => {
    if (this.cursor.readObject(callFields, this.takeOfCall) !== 7) this.cursor.refuse();
  };

  private readonly takeOfCall = (name: number): void => {
    const { cursor } = this;
    if (name === 0) cursor.readText();
    else if (name === 1) this.cursor.requireWord(functionType);
    else if (cursor.readObject(calledFields, this.takeOfCalled) !== 3) cursor.refuse();
  };

  private readonly takeOfCalled = (name: number): void => {
    const { cursor } = this;
    cursor.readText();
    if (name === 0 && cursor.textUnits === 0) cursor.refuse();
  };

  private readonly readTool = (): void => {
    if (this.cursor.readObject(toolFields, this.takeOfTool) !== 3) this.cursor.refuse();
  };

  private readonly takeOfTool = (name: number): void => {
    const { cursor } = this;
    if (name === 0) this.cursor.requireWord(functionType);
    // The first bit is the name's.
    else if ((cursor.readObject(functionFields, this.takeOfFunction) & 1) === 0) cursor.refuse();
  };

  private readonly takeOfFunction = (name: number): void => {
    const { cursor } = this;
    if (name === 0) {
      cursor.readToolName(nameUnitsMax, this.toolNames);
    } else if (name === 1) cursor.readText();
    else if (name === 2) cursor.skipObject(4);
    else cursor.readBoolean();
  };
}
