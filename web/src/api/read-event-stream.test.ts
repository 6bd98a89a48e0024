import { expect, test } from "vitest";
import { readEventStream } from "./read-event-stream.ts";

const wire =
  ': beat\n\ndata: {"text":"Grüße 🌊"}\n\nevent: task.progress\nid: 7\ndata: one\ndata: two\n\ndata: [DONE]\n\n';

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

test.each([1, 2, 3, 5, 1000])("events are the same in pieces of %i bytes", async (size) => {
  const bytes = new TextEncoder().encode(wire);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
  expect(await Array.fromAsync(readEventStream(streamOf(pieces)))).toEqual([
    { event: "message", id: "", data: '{"text":"Grüße 🌊"}' },
    { event: "task.progress", id: "7", data: "one\ntwo" },
    { event: "message", id: "", data: "[DONE]" },
  ]);
});

test("an event cut off in the middle is dropped", async () => {
  const bytes = new TextEncoder().encode("data: whole\n\ndata: cut");
  expect((await Array.fromAsync(readEventStream(streamOf([bytes])))).map(({ data }) => data)).toEqual(["whole"]);
});

test("leaving the loop cancels the stream", async () => {
  let isCanceled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: more\n\n")),
    cancel: () => {
      isCanceled = true;
    },
  });
  for await (const { data } of readEventStream(endless)) {
    expect(data).toBe("more");
    break;
  }
  expect(isCanceled).toBe(true);
});
