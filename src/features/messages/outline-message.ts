import {
  createWordTable,
  type JsonCursor,
  type JsonLimits,
  readOutline,
  type ToolNames,
} from "../../lib/json-cursor.ts";
import { type ListStart, parseAround, readCopy, readListStart, type TextRange } from "../../lib/unread-json.ts";
import type { ChatContents, NativeContents } from "../../providers/chat-contents.ts";
import { billingMark, readTurns } from "./read-message-turns.ts";
import { unsignedThinkingMark } from "./thinking-mark.ts";

/** What is known of a Messages request whose conversation and tools were checked but not parsed. */
export type MessageOutline = NativeContents & {
  /** Of the same request in the chat format. */
  contents: ChatContents;
};

const fieldNames = ["model", "system", "messages", "tools"] as const;
const fields = createWordTable(fieldNames);
const turnFields = createWordTable(["role", "content"]);
const roles = createWordTable(["user", "assistant"]);
const assistant = 1;
const blockFields = createWordTable([
  ...["type", "text", "cache_control", "id", "name", "input", "tool_use_id", "content", "is_error"],
  ...["thinking", "signature"],
]);
const blockTypes = createWordTable(["text", "tool_use", "tool_result", "thinking"]);
const [, toolUse, toolResult, thinking] = [0, 1, 2, 3];
const partFields = createWordTable(["type", "text", "cache_control"]);
const partTypes = createWordTable(["text"]);
const markFields = createWordTable(["type", "ttl"]);
const markTypes = createWordTable(["ephemeral"]);
const markTimes = createWordTable(["5m"]);
const toolFields = createWordTable(["name", "input_schema", "description", "cache_control", "type"]);
const toolTypes = createWordTable(["custom"]);

/** The names of a block, as bits. */
const hasType = 1;
const hasText = 2;
const hasMark = 4;
const hasId = 8;
const hasName = 16;
const hasInput = 32;
const hasCallId = 64;
const hasContent = 128;
const hasError = 256;
const hasThinking = 512;
const hasSignature = 1024;
/** By type: the names that a block must have, and those that it may have. */
const required = [hasText, hasId | hasName | hasInput, hasCallId, hasThinking | hasSignature];
const allowed = [hasMark, hasMark, hasMark | hasContent | hasError, 0];

const toolNameUnitsMax = 128;
const toolsMax = 1024;
const billing = Buffer.from(billingMark);
const unsigned = Buffer.from(unsignedThinkingMark);
const backslash = 0x5c;
/** Marks the id of a call that has another upstream's reasoning. */
const tilde = 0x7e;

/**
 * Checks the conversation and the tools of a Messages request where they are, and parses only the rest. `null` if they have
 * anything but texts, thinking, tools and their results, or are invalid. What passes here passes `readMessageRequest` and
 * means the same; `outline-message.test.ts` compares them.
 */
export function outlineMessage(
  bytes: Buffer,
  limits: JsonLimits,
  isForwarded: (model: string) => boolean,
): object | null {
  return readOutline(bytes, limits, (cursor) => new Outline(cursor, isForwarded).read());
}

/** One per request. The readers are functions of their own, because a closure for each block would be garbage. */
class Outline {
  private readonly cursor: JsonCursor;
  private readonly isForwarded: (model: string) => boolean;
  private readonly ranges: TextRange[] = [];
  private readonly toolNames: ToolNames = { hashes: new Set(), first: [] };
  /** Of the request in the chat format. */
  private instructions = 0;
  private messages = 0;
  private characters = 0;
  private isMarked = false;
  private turnsFrom = 0;
  private readonly opening: ListStart = { items: 0, from: 0, to: 0 };
  private isOpening = true;
  /** Of the turn that is being read. */
  private role = 0;
  private isList = false;
  private texts = 0;
  private results = 0;
  /** Of the block that is being read. */
  private type = 0;
  private isWritten = false;

  constructor(cursor: JsonCursor, isForwarded: (model: string) => boolean) {
    this.cursor = cursor;
    this.isForwarded = isForwarded;
  }

  read(): object | null {
    const { cursor, ranges, opening } = this;
    const { hashes, first: firstTools } = this.toolNames;
    cursor.readOutermost(fields, (field) => this.takeField(field));
    const { instructions, messages, characters, isMarked } = this;
    if (messages === 0) return null;
    return parseAround(cursor.bytes, ranges, (request): MessageOutline => {
      const contents: ChatContents = {
        ...{ messages: instructions + messages, characters, hasDeveloper: false, tools: hashes.size, firstTools },
        readToolTypes: () =>
          new Map((readCopy(request, "tools") as { name: string }[]).map(({ name }) => [name, "function"])),
        readOpening() {
          return readTurns(readCopy(request, "system"), readListStart(request, "messages", opening)).messages;
        },
      };
      return { isMarked, contents };
    });
  }

  private takeField(field: number): void {
    const { cursor } = this;
    const name = fieldNames[field] ?? cursor.refuse();
    cursor.peek();
    const from = cursor.at;
    switch (name) {
      case "model":
        cursor.readPlainText();
        // The upstream's adapter would parse it.
        if (!this.isForwarded(cursor.sliceText())) cursor.refuse();
        return;
      case "system":
        this.readSystem();
        break;
      case "messages":
        this.turnsFrom = from;
        if (cursor.readList(this.readTurn) === 0) cursor.refuse();
        break;
      default: {
        const tools = cursor.readList(this.readTool);
        if (tools === 0 || tools > toolsMax) cursor.refuse();
      }
    }
    this.ranges.push({ name, from, to: cursor.at });
  }

  private readSystem(): void {
    const { cursor } = this;
    this.texts = 0;
    if (cursor.isTextNext()) {
      cursor.readText();
      this.addText(cursor.textUnits);
    } else cursor.readList(this.readInstruction);
    this.instructions = this.texts > 0 ? 1 : 0;
  }

  private readonly readInstruction = (): void => {
    if ((this.cursor.readObject(partFields, this.takeOfInstruction) & 3) !== 3) this.cursor.refuse();
  };

  private readonly takeOfInstruction = (name: number): void => {
    const { cursor } = this;
    if (name !== 1) {
      this.takeOfPart(name);
      return;
    }
    cursor.readText();
    // An escape could hide the mark.
    if (cursor.textHas(backslash, billing.length)) cursor.refuse();
    if (!cursor.textStartsWith(billing)) this.addText(cursor.textUnits);
  };

  /** Empty texts are left out. */
  private addText(units: number): void {
    if (units === 0) return;
    this.characters += units;
    this.texts += 1;
  }

  private readonly readTurn = (): void => {
    const { cursor, opening } = this;
    cursor.peek();
    const from = cursor.at;
    this.role = -1;
    this.isList = false;
    this.texts = 0;
    this.results = 0;
    if (cursor.readObject(turnFields, this.takeOfTurn) !== 3) cursor.refuse();
    const isOne = this.role === assistant || !this.isList || this.texts > 0;
    if (this.role === assistant ? this.results > 0 : this.isWritten) cursor.refuse();
    this.isWritten = false;
    this.messages += this.results + (isOne ? 1 : 0);
    if (!this.isOpening) return;
    if (opening.items === 0) opening.from = from - this.turnsFrom;
    opening.items += 1;
    opening.to = cursor.at - this.turnsFrom;
    this.isOpening = this.messages === 0;
  };

  private readonly takeOfTurn = (name: number): void => {
    const { cursor } = this;
    if (name === 0) this.role = cursor.requireWord(roles);
    else if (cursor.isTextNext()) {
      cursor.readText();
      this.addText(cursor.textUnits);
    } else {
      this.isList = true;
      cursor.readList(this.readBlock);
    }
  };

  private readonly readBlock = (): void => {
    const { cursor } = this;
    this.type = -1;
    const seen = cursor.readObject(blockFields, this.takeOfBlock);
    const { type } = this;
    if (type < 0) cursor.refuse();
    const others = seen & ~hasType;
    const needed = required[type] ?? 0;
    if ((others & needed) !== needed || (others & ~(needed | (allowed[type] ?? 0))) !== 0) cursor.refuse();
    if (type === toolResult) this.results += 1;
    // Only the assistant's turns have these.
    else if (type === toolUse || type === thinking) this.isWritten = true;
  };

  private readonly takeOfBlock = (name: number): void => {
    const { cursor } = this;
    switch (1 << name) {
      case hasType:
        this.type = cursor.requireWord(blockTypes);
        break;
      case hasText:
        cursor.readText();
        this.addText(cursor.textUnits);
        break;
      case hasMark:
        this.readMark();
        break;
      case hasId:
      case hasCallId:
        cursor.readPlainText();
        if (cursor.textHas(tilde)) cursor.refuse();
        break;
      case hasInput:
        cursor.skipObject(5);
        break;
      case hasContent:
        this.readResult();
        break;
      case hasError:
        if (cursor.readBoolean()) cursor.refuse();
        break;
      case hasSignature:
        cursor.readPlainText();
        if (cursor.textStartsWith(unsigned)) cursor.refuse();
        break;
      default:
        // `name` and `thinking`.
        cursor.readText();
    }
  };

  /** The texts of a tool's result are no texts of its turn. */
  private readResult(): void {
    const { cursor, texts } = this;
    if (cursor.isTextNext()) {
      cursor.readText();
      this.characters += cursor.textUnits;
    } else cursor.readList(this.readPart);
    this.texts = texts;
  }

  private readonly readPart = (): void => {
    if ((this.cursor.readObject(partFields, this.takeOfPart) & 3) !== 3) this.cursor.refuse();
  };

  private readonly takeOfPart = (name: number): void => {
    const { cursor } = this;
    if (name === 0) cursor.requireWord(partTypes);
    else if (name === 1) {
      cursor.readText();
      this.addText(cursor.textUnits);
    } else this.readMark();
  };

  private readMark(): void {
    if ((this.cursor.readObject(markFields, this.takeOfMark) & 1) !== 1) this.cursor.refuse();
    this.isMarked = true;
  }

  private readonly takeOfMark = (name: number): void => {
    this.cursor.requireWord(name === 0 ? markTypes : markTimes);
  };

  private readonly readTool = (): void => {
    if ((this.cursor.readObject(toolFields, this.takeOfTool) & 3) !== 3) this.cursor.refuse();
  };

  private readonly takeOfTool = (name: number): void => {
    const { cursor } = this;
    if (name === 0) {
      cursor.readToolName(toolNameUnitsMax, this.toolNames);
    } else if (name === 1) cursor.skipObject(3);
    else if (name === 2) cursor.readText();
    else if (name === 3) this.readMark();
    else cursor.requireWord(toolTypes);
  };
}
