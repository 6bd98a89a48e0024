import { automaticMark, type CacheControlPolicy, isHourMark, listUserTurns } from "./cache-control.ts";
import { findNativeContents } from "./chat-contents.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Passes `cache_control` on in a Messages request: adds marks by the same rule as in chat if the caller set none, and
 * removes `ttl: 1h` if it has no price.
 */
export function forwardMessagesCacheControl(body: Fields, { isAutomatic, allowsHour }: CacheControlPolicy): Fields {
  const known = findNativeContents(body);
  const { cache_control: mark } = body;
  if (known !== null) {
    const isHour = isSet(mark) && isHourMark(mark as Fields);
    const hasAny = mark !== undefined || known.isMarked;
    if (hasAny ? allowsHour || !isHour : !isAutomatic) return body;
  }
  const { tools, system, messages } = body;
  const isMarked = mark !== undefined || hasMark(tools) || hasMark(system) || hasMark(messages);
  if (isAutomatic && !isMarked) return setMarks(body);
  return isMarked && !allowsHour ? (shorten(body) as Fields) : body;
}

function setMarks(body: Fields): Fields {
  const messages = listFields(body.messages);
  const tools = listFields(body.tools);
  const turns = new Set(listUserTurns(messages.map(({ role }) => String(role))));
  return {
    ...body,
    ...(body.system === undefined ? {} : { system: markLast(body.system) }),
    ...(tools.length === 0 ? {} : { tools: markLast(tools) }),
    messages: messages.map((message, index) =>
      turns.has(index) ? { ...message, content: markLast(message.content) } : message,
    ),
  };
}

/** Marks the last block; a string is one block. Vendors reject a mark on empty content. */
function markLast(content: unknown): unknown {
  if (typeof content === "string") {
    return content === "" ? content : [{ type: "text", text: content, cache_control: automaticMark }];
  }
  const blocks = listFields(content);
  const last = blocks.at(-1);
  if (last === undefined || last.text === "") return content;
  return [...blocks.slice(0, -1), { ...last, cache_control: automaticMark }];
}

/** Whether any block, or its content, has a mark. A plain loop: an agent's request has thousands of blocks. */
function hasMark(things: unknown): boolean {
  if (!Array.isArray(things)) return false;
  for (const thing of things) if (isSet(thing) && (isSet(thing.cache_control) || hasMark(thing.content))) return true;
  return false;
}

function listFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Replaces every `ttl: 1h` with the default; returns the same object if there is none. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(shorten);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Fields;
  const changed: Record<string, unknown> = {};
  for (const name of holdersOfMarks) {
    const held = fields[name];
    if (!isSet(held)) continue;
    const shortened = name === "cache_control" ? shortenMark(held) : shorten(held);
    if (shortened !== held) changed[name] = shortened;
  }
  return Object.keys(changed).length === 0 ? value : { ...fields, ...changed };
}

/** All other fields belong to the caller: a tool's arguments may have any names. */
const holdersOfMarks = ["cache_control", "tools", "system", "messages", "content"] as const;

function shortenMark(mark: unknown): unknown {
  if (typeof mark !== "object" || mark === null || !isHourMark(mark as Fields)) return mark;
  const { ttl: _, ...rest } = mark as Fields;
  return rest;
}
