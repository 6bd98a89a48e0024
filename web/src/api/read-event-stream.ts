type ServerEvent = { event: string; id: string; data: string };

/** Nothing that we are sent is longer; a stream without line ends must not fill the memory. */
const pendingCharactersMax = 16 * 1024 * 1024;

/** Server-sent events as they come, whatever pieces their bytes come in. Comments, which only keep a stream alive, are left out. */
export async function* readEventStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const bytes of readPieces(stream)) {
    pending += decoder.decode(bytes, { stream: true });
    const blocks = pending.split("\n\n");
    pending = blocks.pop() ?? "";
    if (pending.length > pendingCharactersMax) throw new Error("An event of the stream is too long.");
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== null) yield event;
    }
  }
}

/** Not every browser can loop over a stream by itself. Whoever leaves the loop early ends the stream. */
async function* readPieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    // A stream that broke has nothing left to be canceled.
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerEvent | null {
  const event: ServerEvent = { event: "message", id: "", data: "" };
  const lines: string[] = [];
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    if (name === "data") lines.push(value);
    if (name === "event" || name === "id") event[name] = value;
  }
  return lines.length === 0 ? null : { ...event, data: lines.join("\n") };
}
