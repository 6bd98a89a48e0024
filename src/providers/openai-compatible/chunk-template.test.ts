import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { learnForm } from "./choices-form.ts";
import { cutChoices, learnEnvelope } from "./chunk-envelope.ts";
import { type ChunkTemplate, createTemplate, EventTemplate, fillTemplate } from "./chunk-template.ts";
import { readChunk } from "./read-chunk.ts";

type Shape = {
  /** The vendor's chunk; `TEXT` and `NOISE` stand for JSON strings. */
  data: string;
  clean: unknown;
};

const openai = {
  data: '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"vendor-9","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":TEXT},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":NOISE}',
  clean: [{ index: 0, delta: { content: "TEXT" }, finish_reason: null }],
};
const shapes: Record<string, Shape> = {
  openai,
  "python's spaces": {
    data: '{"id": "1", "model": "vendor-9", "choices": [{"index": 1, "delta": {"role": "assistant", "content": TEXT}, "finish_reason": null}]}',
    clean: [{ index: 1, delta: { role: "assistant", content: "TEXT" }, finish_reason: null }],
  },
  reasoning: {
    data: '{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":TEXT},"finish_reason":null}],"model":"vendor-9"}',
    clean: [{ index: 0, delta: { content: null, reasoning_content: "TEXT" }, finish_reason: null }],
  },
  "reasoning by another name": {
    data: '{"provider":"Vendor","choices":[{"index":0,"delta":{"content":"","reasoning":TEXT},"native_finish_reason":null}]}',
    clean: [{ index: 0, delta: { content: "", reasoning_content: "TEXT" }, finish_reason: null }],
  },
  "a tool's arguments": {
    data: '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":TEXT}}]},"finish_reason":null}],"p":NOISE}',
    clean: [{ index: 0, delta: { tool_calls: [{ index: 2, function: { arguments: "TEXT" } }] }, finish_reason: null }],
  },
};

function write({ data }: Shape, text: string, noise = "n0ise"): string {
  return data.replace("TEXT", () => JSON.stringify(text)).replace("NOISE", () => JSON.stringify(noise));
}

function learnTemplate(data: string): ChunkTemplate | null {
  const envelope = learnEnvelope(data);
  const choices = envelope === null ? null : cutChoices(envelope, data);
  const form = choices === null ? null : learnForm(choices);
  return envelope === null || form === null ? null : createTemplate(envelope, form);
}

function learn(shape: Shape): ChunkTemplate {
  const template = learnTemplate(write(shape, "Hi"));
  if (template === null) throw new Error("Nothing was learned.");
  return template;
}

function fill(template: ChunkTemplate, data: string): unknown {
  // Text before and after, as with several events in one read.
  const piece = fillTemplate(template, `data: ${data}\n\ndata: ${data}`, 6, 6 + data.length);
  return piece === null ? null : { choices: JSON.parse(piece.choices), text: JSON.parse(`"${piece.text}"`) };
}

function readSlowly(data: string): unknown {
  const chunk = readChunk(data);
  return chunk.kind === "chunk" ? { choices: JSON.parse(JSON.stringify(chunk.choices)), text: chunk.text } : null;
}

const anyText = fc.oneof(
  unicodeText(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "\\", '","content":"', "\u001a\u001a", "\ud800", "\u2028", "</script>", ""),
);

describe.each(Object.entries(shapes))("chunks in %s's format", (_name, shape) => {
  test("are read the same on the fast path as on the slow one, whatever their text", () => {
    const template = learn(shape);
    fc.assert(
      fc.property(anyText, anyText, (text, noise) => {
        const data = write(shape, text, noise);
        expect(fill(template, data)).toEqual(readSlowly(data));
        expect(fill(template, data)).not.toBeNull();
      }),
    );
  });

  test("are taken as whole events, one after another, if their framing is the usual one", () => {
    const events = new EventTemplate(learn(shape));
    fc.assert(
      fc.property(anyText, anyText, (text, noise) => {
        const data = write(shape, text, noise);
        const read = `data: ${data}\n\n`;
        // Decoded at once, as by the reader: code that V8 has optimized sometimes misreads strings that were put together.
        const all = Buffer.from(`${read}${read}data: [DONE]`).toString();
        const piece = events.fill(all, 0);
        expect(piece).toEqual(events.fillData(data, 0, data.length));
        expect(events.end).toBe(read.length);
        expect(events.fill(all, events.end)).toEqual(piece);
        expect(events.fill(all, events.end)).toBeNull();
        for (const other of [`data:${data}\n\n`, `data: ${data}\n`, `data: ${data}\ndata: x\n\n`, `: ${data}\n\n`]) {
          expect(events.fill(other, 0)).toBeNull();
        }
      }),
    );
  });

  test("have only the contract's fields", () => {
    const data = write(shape, "Hello");
    const clean = JSON.parse(JSON.stringify(shape.clean).replace("TEXT", "Hello"));
    expect(fill(learn(shape), data)).toEqual({ choices: clean, text: "Hello" });
    expect(JSON.stringify(fill(learn(shape), data))).not.toMatch(/vendor|n0ise|chatcmpl|fp_1/i);
  });
});

test("a text with any valid JSON escapes is forwarded unchanged", () => {
  const data = write(openai, "TEXT").replace('"TEXT"', '"\\u00e9\\/\\b\\f\\n\\r\\t\\"\\\\\\uD83E\\udd8a"');
  expect(fill(learn(openai), data)).toEqual(readSlowly(data));
  expect(fill(learn(openai), data)).toMatchObject({ text: 'é/\b\f\n\r\t"\\🦊' });
});

test.each([
  ["a quote that ends the text early", 'x","role":"system'],
  ["an escape that does not exist", "x\\q"],
  ["an escape without its digits", "x\\u12"],
  ["an escape with other letters than digits", "x\\u12G4"],
  ["a control character", "x\u0001"],
  ["a line break", "x\ny"],
  ["a backslash at the end, which takes the closing quote", "x\\"],
])("%s takes the slow path", (_what, middle) => {
  const template = learn(openai);
  const good = write(openai, "TEXT");
  expect(fill(template, good)).not.toBeNull();
  expect(fill(template, good.replace("TEXT", middle))).toBeNull();
});

test.each([
  ["another end", (data: string) => data.replace('"finish_reason":null', '"finish_reason":"stop"')],
  ["another choice", (data: string) => data.replace('"index":0', '"index":1')],
  ["more after the end", (data: string) => `${data},{"model":"vendor-9"}`],
  ["more inside", (data: string) => data.replace('"obfuscation"', '"error":{"message":"no"},"obfuscation"')],
  ["noise that goes on as something else", (data: string) => data.replace('n0ise"', 'n0ise","choices":[]')],
  ["usage", (data: string) => data.replace('"usage":null', '"usage":{"prompt_tokens":1,"completion_tokens":1}')],
  ["another last character", (data: string) => data.replace(/\}$/, "]")],
  ["less", (data: string) => data.slice(0, -1)],
])("a chunk with %s takes the slow path", (_what, change) => {
  const data = write(openai, "Hi");
  expect(fill(learn(openai), data)).not.toBeNull();
  expect(fill(learn(openai), change(data))).toBeNull();
});

test("any change of a chunk outside its text takes the slow path or makes no difference", () => {
  const template = learn(openai);
  const data = write(openai, "Hello");
  fc.assert(
    fc.property(fc.nat(data.length - 1), unicodeText({ maxLength: 3 }), (at, change) => {
      const changed = data.slice(0, at) + change + data.slice(at + 1);
      const quickly = fill(template, changed);
      if (quickly !== null) expect(quickly).toEqual(readSlowly(changed));
    }),
  );
});

test.each([
  ["no text", '{"choices":[{"index":0,"delta":{"content":""}}]}'],
  ["two texts", '{"choices":[{"index":0,"delta":{"content":"a","refusal":"b"}}]}'],
  ["a finish reason", '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}'],
  [
    "another choice's finish reason",
    '{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{},"finish_reason":"stop"}]}',
  ],
  ["usage", '{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}'],
  ["an error", '{"choices":[{"index":0,"delta":{"content":"a"}}],"error":{"message":"no"}}'],
  ["a text that counts for nothing", '{"choices":[{"index":0,"content":"a","delta":{"content":"b"}}]}'],
  ["a text that is overruled", '{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}'],
  ["no JSON", '{"choices":[{"index":0,"delta":{"content":"a"}}]'],
  ["a text without end", '{"choices":[{"index":0,"delta":{"content":"a'],
])("nothing is learned from a chunk with %s", (_what, data) => {
  expect(learnTemplate(data)).toBeNull();
});
