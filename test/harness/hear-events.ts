import type { WholeTask } from "./tasks/task-stage.ts";

type HeardEvent = { name: string; id: number; task: WholeTask };

/** A stream of a task's events, read one by one. */
export type HeardEvents = {
  response: Response;
  /** The next event; `null` at the end of the stream. Comments in between are counted. */
  next(): Promise<HeardEvent | null>;
  /** All remaining events. */
  rest(): Promise<HeardEvent[]>;
  commentCount(): number;
};

export function hearEvents(response: Response): HeardEvents {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  let comments = 0;

  async function nextBlock(): Promise<string | null> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
      }
      const read = await reader?.read();
      if (read === undefined || read.done) return null;
      text += decoder.decode(read.value, { stream: true });
    }
  }

  async function next(): Promise<HeardEvent | null> {
    for (;;) {
      const block = await nextBlock();
      if (block === null) return null;
      if (!block.startsWith(":")) return parseEvent(block);
      comments += 1;
    }
  }

  return {
    response,
    next,
    async rest() {
      const events: HeardEvent[] = [];
      for (let event = await next(); event !== null; event = await next()) events.push(event);
      return events;
    },
    commentCount: () => comments,
  };
}

function parseEvent(block: string): HeardEvent {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  return {
    name: fields.get("event") ?? "",
    id: Number(fields.get("id")),
    task: JSON.parse(fields.get("data") ?? "null"),
  };
}
