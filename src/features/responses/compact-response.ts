import type { CallEnd, CallPlan, CallPresenter, IncomingCall } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { writeCompactionMark } from "./compaction-mark.ts";
import { type Conversation, prepareResponse } from "./prepare-response.ts";
import type { ResponsePresenter } from "./present-response.ts";
import { listOwnItems } from "./read-response-request.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { readSuffix } from "./response-envelope.ts";
import { isObject, type JsonObject, type PlacedItem, type ResponseRequest } from "./response-request.ts";
import { toSavedItems } from "./saved-items.ts";

const summaryInstructions = `Summarize the conversation below for the assistant that continues it. Keep what it needs: the user's goals and constraints,
decisions and their reasons, facts, names, numbers, code and paths word for word, results of tool calls, what is done and
what is open. The assistant also sees the user's own messages. Write only the summary.`;

/**
 * Plans the call that compacts a conversation: the model summarizes it as a text, so that every model can, with or without
 * tools and images.
 */
export function prepareCompaction(
  dependencies: Pick<ResponseDependencies, "chat" | "clock">,
  incoming: IncomingCall,
  { items }: Conversation,
): CallPlan<ChatKinds> {
  const { instructions, previous_response_id: _previous, ...options } = incoming.body as ResponseRequest;
  const transcript = items.map(({ item }) => presentItem(item)).join("\n\n");
  const request: ResponseRequest = {
    ...options,
    input: transcript,
    instructions: [summaryInstructions, instructions ?? ""].join("\n\n").trimEnd(),
    store: false,
  };
  const own = listOwnItems(request);
  const bodyBytes = Buffer.byteLength(JSON.stringify(request));
  const setting = { conversation: { items: own, own, bytesBefore: 0 }, isStored: false, conversationId: null };
  const wrap = (presenter: ResponsePresenter) => new CompactionPresenter(presenter, items, transcript);
  return prepareResponse(dependencies, { ...incoming, body: request, bodyBytes }, { ...setting, wrap }).plan;
}

/** An item as text. Images and files are named, not sent. */
function presentItem(item: JsonObject): string {
  const { type = "message", role, content } = item;
  if (type === "message") return `${String(role)}: ${presentContent(content)}`;
  if (type === "reasoning") return presentContent(item.summary);
  const { id: _id, status: _status, ...told } = item;
  return JSON.stringify(told, (_key, value: unknown) => (isBinary(value) ? "[data]" : value));
}

function presentContent(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: unknown[] = Array.isArray(content) ? content : [];
  return parts
    .flatMap((part) => (isObject(part) ? [typeof part.text === "string" ? part.text : `[${String(part.type)}]`] : []))
    .join("\n");
}

function isBinary(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("data:");
}

type FinishedBody = { id: string; created_at: number; output: JsonObject[]; usage: unknown };

/** Writes the compacted conversation: all messages of the user, then the summary of everything. */
class CompactionPresenter implements CallPresenter<ChatKinds> {
  readonly form = "whole";
  readonly contentType: string;
  private readonly inner: ResponsePresenter;
  private readonly items: readonly PlacedItem[];
  private readonly transcript: string;

  constructor(inner: ResponsePresenter, items: readonly PlacedItem[], transcript: string) {
    this.inner = inner;
    this.items = items;
    this.transcript = transcript;
    this.contentType = inner.contentType;
  }

  presentWhole(end: CallEnd<ChatKinds>): string {
    const { id, created_at, output, usage } = JSON.parse(this.inner.presentWhole(end)) as FinishedBody;
    const written = output.filter(({ type }) => type === "message").map(({ content }) => presentContent(content));
    // Without a summary the conversation itself is kept, so that nothing is lost.
    const summary = written.join("\n") || this.transcript;
    const said = this.items.filter(({ item }) => item.role === "user");
    const messages = toSavedItems(said, id).map((item) => ({ ...item, status: "completed" }));
    const compaction = {
      id: `cmp_${readSuffix(id)}_0`,
      type: "compaction",
      encrypted_content: writeCompactionMark(summary),
    };
    return JSON.stringify({
      ...{ id, object: "response.compaction", created_at, output: [...messages, compaction], usage },
    });
  }

  presentPieces = (): string => "";
  presentCut = (): string => "";
  presentTail = (): string => "";
  presentFailure = (): null => null;

  summarize(end: CallEnd<ChatKinds>): string {
    return this.inner.summarize(end);
  }
}
