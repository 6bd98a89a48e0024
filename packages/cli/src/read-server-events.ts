export type ServerEvent = { name: string; id: string | null; data: string };

const eventCharactersMax = 32 * 1024 * 1024;

/** Server-sent events, as they come; comments are skipped. */
export async function* readEvents(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true }).replaceAll("\r\n", "\n");
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const event = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event !== null) yield event;
    }
    if (text.length > eventCharactersMax) throw new Error("The server sends an event without an end.");
  }
}

/** `null` for what has no data. */
function parseEvent(block: string): ServerEvent | null {
  const data: string[] = [];
  let name = "message";
  let id: string | null = null;
  for (const line of block.split("\n")) {
    const [field = "", value = ""] = line.split(/:(?: )?(.*)/s, 2);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? null : { name, id, data: data.join("\n") };
}
